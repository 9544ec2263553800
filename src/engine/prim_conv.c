/* src/engine/prim_conv.c - convolutions and their gradients as oneDNN kernels */
#include "engine/prim_inside.h"

#include <string.h>

typedef struct conv_descs {
    dnnl_memory_desc_t source, destination, weights_any, weights_plain, bias;
    dnnl_dims_t strides, dilates, pads_l, pads_r;
} conv_descs;

static px_status conv_describe(const pxi_conv_shape *s, conv_descs *d, px_error *err)
{
    const dnnl_dims_t source = {s->batch, s->in_channels, s->in[0], s->in[1]};
    const dnnl_dims_t destination = {s->batch, s->out_channels, s->out[0], s->out[1]};
    const int64_t oc = s->out_channels / s->group, ic = s->in_channels / s->group;
    const dnnl_dims_t grouped = {s->group, oc, ic, s->kernel[0], s->kernel[1]};
    const dnnl_dims_t single = {oc, ic, s->kernel[0], s->kernel[1]};
    const dnnl_dims_t bias = {s->out_channels};
    const bool g = s->group > 1;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&d->source, 4, source, dnnl_f32, dnnl_nhwc);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&d->destination, 4, destination, dnnl_f32, dnnl_nhwc);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&d->weights_any, g ? 5 : 4, g ? grouped : single,
                                              dnnl_f32, dnnl_format_tag_any);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&d->weights_plain, g ? 5 : 4, g ? grouped : single,
                                              dnnl_f32, g ? dnnl_goihw : dnnl_oihw);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&d->bias, 1, bias, dnnl_f32, dnnl_x);
    for (int i = 0; i < 2; i++) {
        d->strides[i] = s->stride[i];
        d->dilates[i] = s->dilation[i] - 1;
        d->pads_l[i] = s->pad_begin[i];
        /* What oneDNN calls the right pad has to account exactly for the output's extent. */
        d->pads_r[i] = (s->out[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dilation[i] + 1 -
                       s->in[i] - s->pad_begin[i];
    }
    return pxi_prim_check(status, "a convolution's shapes", err);
}

static px_status conv_make(pxi_prim *prim, const pxi_prim_request *request,
                           const_dnnl_primitive_attr_t attr, px_error *err)
{
    const pxi_conv_shape *shape = request->shape;
    const float *bias = request->bias;
    conv_descs d;
    PX_TRY(conv_describe(shape, &d, err));
    dnnl_convolution_desc_t op;
    PX_TRY(pxi_prim_check(dnnl_dilated_convolution_forward_desc_init(
                              &op, dnnl_forward_inference, dnnl_convolution_direct, &d.source,
                              &d.weights_any, bias ? &d.bias : NULL, &d.destination, d.strides,
                              d.dilates, d.pads_l, d.pads_r),
                          "a convolution", err));
    dnnl_primitive_desc_t desc = NULL;
    /* oneDNN lists brdgmm_dw first; measured, jit_dw is a fifth faster on one sample */
    const bool depthwise = shape->group > 1 && shape->group == shape->in_channels;
    PX_TRY(
        pxi_prim_choose(&op, attr, NULL, depthwise ? "jit_dw" : NULL, &desc, "a convolution", err));
    const dnnl_memory_desc_t wanted = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0, &d.source);
    pxi_prim_add_slot(prim, DNNL_ARG_DST, 1, &d.destination);
    if (bias)
        PX_TRY(pxi_prim_add_constant(prim, DNNL_ARG_BIAS, bias, &d.bias, &d.bias, err));
    return pxi_prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, &d.weights_plain,
                                 &wanted, err);
}

px_status pxi_prim_conv(const pxi_conv_shape *shape, const float *weights, const float *bias,
                        const pxi_act *act, bool adds, pxi_prim **out, px_error *err)
{
    const pxi_prim_request request = {.shape = shape, .weights = weights, .bias = bias};
    return pxi_prim_build(conv_make, &request, act, adds, out, err);
}

/* Backward kernels want the forward one as a hint. */
static px_status conv_hint(const conv_descs *d, dnnl_primitive_desc_t *out, px_error *err)
{
    dnnl_convolution_desc_t op;
    PX_TRY(pxi_prim_check(dnnl_dilated_convolution_forward_desc_init(
                              &op, dnnl_forward_training, dnnl_convolution_direct, &d->source,
                              &d->weights_any, NULL, &d->destination, d->strides, d->dilates,
                              d->pads_l, d->pads_r),
                          "a convolution", err));
    return pxi_prim_check(dnnl_primitive_desc_create(out, &op, NULL, pxi_prim_engine(), NULL),
                          "a convolution", err);
}

static px_status conv_data_make(pxi_prim *prim, const pxi_prim_request *request,
                                const_dnnl_primitive_attr_t attr, px_error *err)
{
    conv_descs d;
    PX_TRY(conv_describe(request->shape, &d, err));
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    PX_TRY(conv_hint(&d, &hint, err));
    dnnl_convolution_desc_t op;
    px_status status = pxi_prim_check(dnnl_dilated_convolution_backward_data_desc_init(
                                          &op, dnnl_convolution_direct, &d.source, &d.weights_any,
                                          &d.destination, d.strides, d.dilates, d.pads_l, d.pads_r),
                                      "a convolution's data gradient", err);
    if (status == PX_OK)
        status =
            pxi_prim_choose(&op, attr, hint, NULL, &desc, "a convolution's data gradient", err);
    dnnl_primitive_desc_destroy(hint);
    PX_TRY(status);
    const dnnl_memory_desc_t wanted = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_DIFF_DST, 0, &d.destination);
    pxi_prim_add_slot(prim, DNNL_ARG_DIFF_SRC, 1, &d.source);
    return pxi_prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, &d.weights_plain,
                                 &wanted, err);
}

px_status pxi_prim_conv_data(const pxi_conv_shape *shape, const float *weights, pxi_prim **out,
                             px_error *err)
{
    const pxi_prim_request request = {.shape = shape, .weights = weights};
    return pxi_prim_build(conv_data_make, &request, NULL, false, out, err);
}

static px_status conv_weights_make(pxi_prim *prim, const pxi_prim_request *request,
                                   const_dnnl_primitive_attr_t attr, px_error *err)
{
    const pxi_conv_shape *shape = request->shape;
    const bool bias = request->with_bias;
    conv_descs d;
    PX_TRY(conv_describe(shape, &d, err));
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    PX_TRY(conv_hint(&d, &hint, err));
    dnnl_convolution_desc_t op;
    px_status status = pxi_prim_check(dnnl_dilated_convolution_backward_weights_desc_init(
                                          &op, dnnl_convolution_direct, &d.source, &d.weights_any,
                                          bias ? &d.bias : NULL, &d.destination, d.strides,
                                          d.dilates, d.pads_l, d.pads_r),
                                      "a convolution's weight gradient", err);
    /* oneDNN 2.6.3's jit_1x1 gathers strided data in scratch memory that it asked too little of,
     * where the channels do not fill its vectors: wrong gradients and a broken heap. */
    const bool gathers =
        shape->kernel[0] * shape->kernel[1] == 1 && shape->stride[0] * shape->stride[1] > 1;
    if (status == PX_OK)
        status = pxi_prim_choose(&op, attr, hint, gathers ? "jit:" : NULL, &desc,
                                 "a convolution's weight gradient", err);
    dnnl_primitive_desc_destroy(hint);
    PX_TRY(status);
    const char *name = NULL;
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name);
    if (gathers && name && strstr(name, "jit_1x1")) {
        dnnl_primitive_desc_destroy(desc);
        return px_fail(err, PX_E_UNSUPPORTED,
                       "oneDNN has no sound kernel for a strided 1x1 "
                       "convolution's weight gradient");
    }
    const dnnl_memory_desc_t made =
        *dnnl_primitive_desc_query_md(desc, dnnl_query_diff_weights_md, 0);
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0, &d.source);
    pxi_prim_add_slot(prim, DNNL_ARG_DIFF_DST, 1, &d.destination);
    if (bias)
        pxi_prim_add_slot(prim, DNNL_ARG_DIFF_BIAS, 3, &d.bias);
    return pxi_prim_add_result(prim, DNNL_ARG_DIFF_WEIGHTS, 2, &made, &d.weights_plain, err);
}

px_status pxi_prim_conv_weights(const pxi_conv_shape *shape, bool bias, pxi_prim **out,
                                px_error *err)
{
    const pxi_prim_request request = {.shape = shape, .with_bias = bias};
    return pxi_prim_build(conv_weights_make, &request, NULL, false, out, err);
}
