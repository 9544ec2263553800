/* src/train/arch_net.c - layers of a network that is being put together */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/arch_net.h"

#include "base/memory.h"

#include <internal/rng.h>

#include <internal/system.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const pxi_style pxi_style_keras = {.conv = PXI_INIT_GLOROT,
                                   .conv_bias = PXI_INIT_ZERO,
                                   .dense = PXI_INIT_GLOROT,
                                   .dense_bias = PXI_INIT_ZERO,
                                   .epsilon = 1e-3f,
                                   .momentum = 0.99f};

const pxi_style pxi_style_keras_he = {.conv = PXI_INIT_HE,
                                      .conv_bias = PXI_INIT_ZERO,
                                      .dense = PXI_INIT_HE,
                                      .dense_bias = PXI_INIT_ZERO,
                                      .epsilon = 1e-3f,
                                      .momentum = 0.99f};

const pxi_style pxi_style_torchvision = {.conv = PXI_INIT_KAIMING_OUT,
                                         .conv_bias = PXI_INIT_ZERO,
                                         .dense = PXI_INIT_SMALL_NORMAL,
                                         .dense_bias = PXI_INIT_ZERO,
                                         .epsilon = 1e-5f,
                                         .momentum = 0.9f};

enum { NAME_BYTES = 128, PART_BYTES = 48 };

/* --- weights --------------------------------------------------------------------------------- */

/* A normal draw within two deviations, as Keras's truncated normal. */
static double truncated_normal(px_random *random)
{
    double draw;
    do {
        draw = px_rng_normal(random);
    } while (fabs(draw) > 2.0);
    return draw;
}

static void init_fill(float *data, int64_t count, pxi_init init, double fan_in, double fan_out,
                      px_random *random)
{
    const double keras_cut = 0.87962566103423978; /* deviation of a normal cut at two of its own */
    double scale = 0.0;
    switch (init) {
    case PXI_INIT_GLOROT:
        scale = sqrt(6.0 / (fan_in + fan_out));
        break;
    case PXI_INIT_UNIFORM_FAN_IN:
        scale = 1.0 / sqrt(fan_in);
        break;
    case PXI_INIT_HE:
        scale = sqrt(2.0 / fan_in) / keras_cut;
        break;
    case PXI_INIT_KAIMING_IN:
        scale = sqrt(2.0 / fan_in);
        break;
    case PXI_INIT_KAIMING_OUT:
        scale = sqrt(2.0 / fan_out);
        break;
    case PXI_INIT_SMALL_NORMAL:
        scale = 0.01;
        break;
    case PXI_INIT_ZERO:
    case PXI_INIT_ONE:
        for (int64_t i = 0; i < count; i++)
            data[i] = init == PXI_INIT_ONE ? 1.0f : 0.0f;
        return;
    }
    if (init == PXI_INIT_GLOROT || init == PXI_INIT_UNIFORM_FAN_IN)
        for (int64_t i = 0; i < count; i++)
            data[i] = (float)(scale * (2.0 * px_rng_u01(random) - 1.0));
    else if (init == PXI_INIT_HE)
        for (int64_t i = 0; i < count; i++)
            data[i] = (float)(scale * truncated_normal(random));
    else
        for (int64_t i = 0; i < count; i++)
            data[i] = (float)(scale * px_rng_normal(random));
}

/* The weight NAME.PART, drawn by its position among the weights; -1 while counting. */
static int net_weight(pxi_net *net, const char *name, const char *part, const px_shape *shape,
                      pxi_init init, int64_t fan_in, int64_t fan_out)
{
    char full[NAME_BYTES];
    px_random random = px_rng(net->seed, PX_RNG_INIT, net->weight_count++, 0);
    const bool runs = strncmp(part, "running", 7) == 0;
    *(runs ? &net->statistics : &net->parameters) += px_shape_count(shape);
    if (!net->builder)
        return -1;
    snprintf(full, sizeof full, "%s%s.%s", net->prefix, name, part);
    const int value = px_builder_constant(net->builder, full, PX_FLOAT32, shape, NULL);
    float *data = px_builder_data(net->builder, value);
    const int64_t count = data ? px_shape_count(shape) : 0, piece = 1 << 16;
    for (int64_t i = 0; i < count && !px_cancelled(); i += piece)
        init_fill(data + i, PX_MIN(piece, count - i), init, (double)fan_in, (double)fan_out,
                  &random);
    return value;
}

/* --- nodes ----------------------------------------------------------------------------------- */

void pxi_net_prefix(pxi_net *net, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(net->prefix, sizeof net->prefix, format, args);
    va_end(args);
}

bool pxi_net_is_small(const pxi_net *net)
{
    enum { SMALL_IMAGE = 64 };
    return net->at.height < SMALL_IMAGE || net->at.width < SMALL_IMAGE;
}

static int net_node(pxi_net *net, const char *type, const char *name, const int *inputs,
                    int input_count, const px_attr *attrs, int attr_count)
{
    char full[NAME_BYTES];
    if (!net->builder)
        return -1;
    snprintf(full, sizeof full, "%s%s", net->prefix, name);
    return px_builder_node(net->builder, type, full, inputs, input_count, attrs, attr_count);
}

/* A node without attributes that keeps the shape. */
static void net_apply(pxi_net *net, const char *type, const char *name)
{
    net->at.value = net_node(net, type, name, &net->at.value, 1, NULL, 0);
}

/* A scalar of its own: not an initialiser, so that nobody takes it for a weight. */
static int net_scalar(pxi_net *net, const char *name, float number)
{
    const px_attr attr = {
        .name = "value", .kind = PX_ATTR_TENSOR, .tensor = {.dtype = PX_FLOAT32, .data = &number}};
    return net_node(net, "Constant", name, NULL, 0, &attr, 1);
}

static px_attr attr_int(const char *name, int64_t number)
{
    return (px_attr){.name = name, .kind = PX_ATTR_INT, .i = number};
}

static px_attr attr_float(const char *name, float number)
{
    return (px_attr){.name = name, .kind = PX_ATTR_FLOAT, .f = number};
}

static px_attr attr_ints(const char *name, const int64_t *numbers, size_t count)
{
    return (px_attr){.name = name, .kind = PX_ATTR_INTS, .ints = numbers, .count = count};
}

/* --- windows --------------------------------------------------------------------------------- */

/* The extent after a window has gone over `in`; what Keras's "same" adds before and behind. */
static int64_t window_extent(pxi_net *net, int64_t in, int kernel, int stride, int pad,
                             int64_t *before, int64_t *behind)
{
    *before = *behind = pad;
    if (pad == PXI_SAME) {
        const int64_t out = (in + stride - 1) / stride;
        const int64_t total = PX_MAX((out - 1) * stride + kernel - in, 0);
        *before = total / 2;
        *behind = total - total / 2;
    }
    const int64_t room = in + *before + *behind - kernel;
    if (room >= 0)
        return room / stride + 1;
    net->too_small = true;
    return 1; /* so that the rest can be counted */
}

void pxi_net_conv(pxi_net *net, const char *name, pxi_conv conv)
{
    const int64_t groups = conv.groups ? conv.groups : 1, k = conv.kernel;
    const int64_t in = net->at.channels / groups;
    const int stride = conv.stride ? conv.stride : 1;
    int64_t pads[4];
    net->at.height =
        window_extent(net, net->at.height, conv.kernel, stride, conv.pad, &pads[0], &pads[2]);
    net->at.width =
        window_extent(net, net->at.width, conv.kernel, stride, conv.pad, &pads[1], &pads[3]);
    net->at.channels = conv.out;
    const px_shape of_weight = {.rank = 4, .dim = {conv.out, in, k, k}};
    const px_shape of_bias = {.rank = 1, .dim = {conv.out}};
    int inputs[3] = {net->at.value};
    inputs[1] =
        net_weight(net, name, "weight", &of_weight, net->style->conv, in * k * k, conv.out * k * k);
    if (conv.bias)
        inputs[2] =
            net_weight(net, name, "bias", &of_bias, net->style->conv_bias, in * k * k, conv.out);
    const int64_t kernel[] = {k, k}, strides[] = {stride, stride};
    const px_attr attrs[] = {attr_ints("kernel_shape", kernel, 2), attr_ints("strides", strides, 2),
                             attr_ints("pads", pads, 4), attr_int("group", groups)};
    net->at.value =
        net_node(net, "Conv", name, inputs, conv.bias ? 3 : 2, attrs, (int)PX_LEN(attrs));
}

void pxi_net_max_pool(pxi_net *net, const char *name, int kernel, int stride, int pad)
{
    int64_t pads[4];
    net->at.height = window_extent(net, net->at.height, kernel, stride, pad, &pads[0], &pads[2]);
    net->at.width = window_extent(net, net->at.width, kernel, stride, pad, &pads[1], &pads[3]);
    const int64_t window[] = {kernel, kernel}, strides[] = {stride, stride};
    const px_attr attrs[] = {attr_ints("kernel_shape", window, 2), attr_ints("strides", strides, 2),
                             attr_ints("pads", pads, 4)};
    net->at.value = net_node(net, "MaxPool", name, &net->at.value, 1, attrs, (int)PX_LEN(attrs));
}

void pxi_net_average_pool(pxi_net *net, const char *name, int64_t height, int64_t width)
{
    const int64_t window[] = {height, width};
    const px_attr attrs[] = {attr_ints("kernel_shape", window, 2), attr_ints("strides", window, 2)};
    net->at.height /= height;
    net->at.width /= width;
    net->at.value =
        net_node(net, "AveragePool", name, &net->at.value, 1, attrs, (int)PX_LEN(attrs));
}

void pxi_net_global_pool(pxi_net *net, const char *name)
{
    net->at.height = net->at.width = 1;
    net_apply(net, "GlobalAveragePool", name);
}

/* --- what keeps the shape -------------------------------------------------------------------- */

void pxi_net_batch_norm(pxi_net *net, const char *name)
{
    const px_shape shape = {.rank = 1, .dim = {net->at.channels}};
    int inputs[5] = {net->at.value};
    inputs[1] = net_weight(net, name, "weight", &shape, PXI_INIT_ONE, 1, 1);
    inputs[2] = net_weight(net, name, "bias", &shape, PXI_INIT_ZERO, 1, 1);
    inputs[3] = net_weight(net, name, "running_mean", &shape, PXI_INIT_ZERO, 1, 1);
    inputs[4] = net_weight(net, name, "running_var", &shape, PXI_INIT_ONE, 1, 1);
    const px_attr attrs[] = {attr_float("epsilon", net->style->epsilon),
                             attr_float("momentum", net->style->momentum)};
    net->at.value = net_node(net, "BatchNormalization", name, inputs, 5, attrs, (int)PX_LEN(attrs));
}

void pxi_net_relu(pxi_net *net, const char *name)
{
    net_apply(net, "Relu", name);
}

void pxi_net_leaky_relu(pxi_net *net, const char *name)
{
    const px_attr alpha = attr_float("alpha", 0.01f);
    net->at.value = net_node(net, "LeakyRelu", name, &net->at.value, 1, &alpha, 1);
}

void pxi_net_clipped_relu(pxi_net *net, const char *name, float ceiling)
{
    if (net->builder && net->zero < 0) {
        char prefix[sizeof net->prefix];
        memcpy(prefix, net->prefix, sizeof prefix);
        pxi_net_prefix(net, "%s", "");
        net->zero = net_scalar(net, "clip_low", 0.0f);
        net->ceiling = net_scalar(net, "clip_high", ceiling);
        memcpy(net->prefix, prefix, sizeof prefix);
    }
    const int inputs[] = {net->at.value, net->zero, net->ceiling};
    net->at.value = net_node(net, "Clip", name, inputs, 3, NULL, 0);
}

void pxi_net_dropout(pxi_net *net, const char *name, double rate)
{
    if (net->dropout >= 0.0)
        rate = net->dropout;
    if (rate == 0.0)
        return;
    char ratio[PART_BYTES];
    snprintf(ratio, sizeof ratio, "%s.ratio", name);
    const int inputs[] = {net->at.value, net_scalar(net, ratio, (float)rate)};
    net->at.value = net_node(net, "Dropout", name, inputs, 2, NULL, 0);
}

void pxi_net_add(pxi_net *net, const char *name, pxi_spot other)
{
    const int inputs[] = {net->at.value, other.value};
    net->at.value = net_node(net, "Add", name, inputs, 2, NULL, 0);
}

/* --- other shapes ---------------------------------------------------------------------------- */

void pxi_net_flatten(pxi_net *net, const char *name)
{
    net->at.channels *= net->at.height * net->at.width;
    net->at.height = net->at.width = 1;
    net_apply(net, "Flatten", name);
}

void pxi_net_dense(pxi_net *net, const char *name, int64_t out)
{
    const int64_t in = net->at.channels;
    const px_shape of_weight = {.rank = 2, .dim = {out, in}}, of_bias = {.rank = 1, .dim = {out}};
    int inputs[3] = {net->at.value};
    inputs[1] = net_weight(net, name, "weight", &of_weight, net->style->dense, in, out);
    inputs[2] = net_weight(net, name, "bias", &of_bias, net->style->dense_bias, in, out);
    const px_attr attr = attr_int("transB", 1);
    net->at.channels = out;
    net->at.value = net_node(net, "Gemm", name, inputs, 3, &attr, 1);
}

void pxi_net_dense_plain(pxi_net *net, const char *name, int64_t out)
{
    const int64_t in = net->at.channels;
    const px_shape shape = {.rank = 2, .dim = {in, out}};
    int inputs[2] = {net->at.value};
    inputs[1] = net_weight(net, name, "weight", &shape, net->style->dense, in, out);
    net->at.channels = out;
    net->at.value = net_node(net, "MatMul", name, inputs, 2, NULL, 0);
}

static int net_integers(pxi_net *net, const char *name, const char *part, const int64_t *numbers,
                        int64_t count)
{
    char full[NAME_BYTES];
    if (!net->builder)
        return -1;
    snprintf(full, sizeof full, "%s%s.%s", net->prefix, name, part);
    const px_shape shape = {.rank = 1, .dim = {count}};
    return px_builder_constant(net->builder, full, PX_INT64, &shape, numbers);
}

void pxi_net_skip_and_pad(pxi_net *net, const char *name, int step, int64_t channels)
{
    const int64_t starts[] = {0, 0}, ends[] = {INT32_MAX, INT32_MAX}, axes[] = {2, 3};
    const int64_t steps[] = {step, step};
    const int64_t before = channels / 2;
    const int64_t pads[] = {0, before, 0, 0, 0, channels - before, 0, 0};
    const int of_slice[] = {net->at.value, net_integers(net, name, "starts", starts, 2),
                            net_integers(net, name, "ends", ends, 2),
                            net_integers(net, name, "axes", axes, 2),
                            net_integers(net, name, "steps", steps, 2)};
    char slice[PART_BYTES];
    snprintf(slice, sizeof slice, "%s.skip", name);
    net->at.height = (net->at.height + step - 1) / step;
    net->at.width = (net->at.width + step - 1) / step;
    net->at.channels += channels;
    const int of_pad[] = {net_node(net, "Slice", slice, of_slice, 5, NULL, 0),
                          net_integers(net, name, "pads", pads, 8)};
    net->at.value = net_node(net, "Pad", name, of_pad, 2, NULL, 0);
}

void pxi_net_finish(pxi_net *net)
{
    pxi_net_prefix(net, "%s", "");
    const int logits = net->at.value;
    const px_attr axis = attr_int("axis", -1);
    net->at.value = net_node(net, "Softmax", "softmax", &logits, 1, &axis, 1);
    if (!net->builder)
        return;
    const px_shape shape = {.rank = 2, .dim = {-1, net->classes}};
    px_builder_rename(net->builder, logits, "logits");
    px_builder_rename(net->builder, net->at.value, "probs");
    px_builder_output(net->builder, net->at.value, PX_FLOAT32, &shape);
}
