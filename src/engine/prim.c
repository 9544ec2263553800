/* src/engine/prim.c - the one place that talks to oneDNN (C API of 2.6) */
#include "engine/prim.h"

#include "base/memory.h"

#include <dnnl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIM_MAX_ARGS = 6 };

typedef struct prim_arg {
    int arg;  /* DNNL_ARG_... */
    int slot; /* >= 0: given when bound; -1: `constant` */
    dnnl_memory_desc_t desc;
    dnnl_memory_t constant;
} prim_arg;

struct pxi_prim {
    dnnl_primitive_t primitive;
    int arg_count;
    prim_arg args[PRIM_MAX_ARGS];
    dnnl_memory_desc_t scratch_desc;
    size_t scratch_bytes;
    /* A result that the kernel writes in an order of its own goes to scratch memory and from there,
     * put in order, to its slot, unless nobody wants it. */
    prim_arg packed;         /* arg 0: there is none; desc: the kernel's order */
    dnnl_primitive_t unpack; /* NULL: the kernel's order is the plain one */
    dnnl_memory_desc_t unpacked_desc;
    size_t packed_offset;
    char name[64];
};

struct pxi_bound {
    const pxi_prim *prim;
    dnnl_stream_t stream;
    int count;
    dnnl_exec_arg_t args[PRIM_MAX_ARGS + 2];
    bool owned[PRIM_MAX_ARGS + 2];
    dnnl_memory_t unpacked; /* NULL: nothing to put in order */
};

static dnnl_engine_t prim_engine;
static dnnl_status_t prim_engine_status;
static pthread_once_t prim_engine_once = PTHREAD_ONCE_INIT;

static void prim_make_engine(void)
{
    prim_engine_status = dnnl_engine_create(&prim_engine, dnnl_cpu, 0);
}

static px_status prim_check(dnnl_status_t status, const char *what, px_error *err)
{
    switch (status) {
    case dnnl_success:
        return PX_OK;
    case dnnl_out_of_memory:
        return px_fail(err, PX_E_NOMEM, "out of memory in oneDNN (%s)", what);
    case dnnl_unimplemented:
    case dnnl_invalid_arguments:
        return px_fail(err, PX_E_UNSUPPORTED, "oneDNN has no kernel for %s", what);
    default:
        return px_fail(err, PX_E_INTERNAL, "oneDNN failed with status %d (%s)", (int)status, what);
    }
}

static px_status prim_start(px_error *err)
{
    pthread_once(&prim_engine_once, prim_make_engine);
    return prim_check(prim_engine_status, "starting", err);
}

bool pxi_prim_has_avx512(void)
{
    const unsigned wanted = dnnl_cpu_isa_avx512_core;
    return ((unsigned)dnnl_get_effective_cpu_isa() & wanted) == wanted;
}

px_status pxi_stream_new(void **out, px_error *err)
{
    PX_TRY(prim_start(err));
    dnnl_stream_t stream = NULL;
    PX_TRY(prim_check(dnnl_stream_create(&stream, prim_engine, dnnl_stream_default_flags),
                      "a stream", err));
    *out = stream;
    return PX_OK;
}

void pxi_stream_free(void *stream)
{
    if (stream)
        dnnl_stream_destroy(stream);
}

/* The first implementation whose name contains `preferred` (may be NULL), else the first that is
 * not oneDNN's reference loop. */
static px_status prim_choose(const_dnnl_op_desc_t desc, const_dnnl_primitive_attr_t attr,
                             const_dnnl_primitive_desc_t hint, const char *preferred,
                             dnnl_primitive_desc_t *out, const char *what, px_error *err)
{
    dnnl_primitive_desc_iterator_t iterator = NULL;
    dnnl_status_t status =
        dnnl_primitive_desc_iterator_create(&iterator, desc, attr, prim_engine, hint);
    if (status != dnnl_success)
        return prim_check(status == dnnl_iterator_ends ? dnnl_unimplemented : status, what, err);
    dnnl_primitive_desc_t chosen = NULL;
    do {
        dnnl_primitive_desc_t candidate = dnnl_primitive_desc_iterator_fetch(iterator);
        const char *name = NULL;
        dnnl_primitive_desc_query(candidate, dnnl_query_impl_info_str, 0, (void *)&name);
        const bool wins = preferred && name && strstr(name, preferred);
        if (!name || strstr(name, "ref") || (chosen && !wins)) {
            dnnl_primitive_desc_destroy(candidate);
            continue;
        }
        if (chosen)
            dnnl_primitive_desc_destroy(chosen);
        chosen = candidate;
        if (wins || !preferred)
            break;
    } while (dnnl_primitive_desc_iterator_next(iterator) == dnnl_success);
    dnnl_primitive_desc_iterator_destroy(iterator);
    if (!chosen)
        return px_fail(err, PX_E_UNSUPPORTED, "oneDNN has only a reference loop for %s", what);
    *out = chosen;
    return PX_OK;
}

/* A packed copy of plain `data` in the order that the kernel wants. */
static px_status prim_pack(const float *data, const dnnl_memory_desc_t *plain,
                           const dnnl_memory_desc_t *wanted, dnnl_memory_t *out, px_error *err)
{
    dnnl_memory_t from = NULL, to = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t reorder = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_status_t status = dnnl_memory_create(&from, plain, prim_engine, (void *)(uintptr_t)data);
    if (status == dnnl_success)
        status = dnnl_memory_create(&to, wanted, prim_engine, DNNL_MEMORY_ALLOCATE);
    if (status == dnnl_success)
        status = dnnl_reorder_primitive_desc_create(&desc, plain, prim_engine, wanted, prim_engine,
                                                    NULL);
    if (status == dnnl_success)
        status = dnnl_primitive_create(&reorder, desc);
    if (status == dnnl_success)
        status = dnnl_stream_create(&stream, prim_engine, dnnl_stream_default_flags);
    if (status == dnnl_success) {
        const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
        status = dnnl_primitive_execute(reorder, stream, 2, args);
    }
    if (status == dnnl_success)
        status = dnnl_stream_wait(stream);
    if (stream)
        dnnl_stream_destroy(stream);
    if (reorder)
        dnnl_primitive_destroy(reorder);
    if (desc)
        dnnl_primitive_desc_destroy(desc);
    if (from)
        dnnl_memory_destroy(from);
    if (status == dnnl_success)
        *out = to;
    else if (to)
        dnnl_memory_destroy(to);
    return prim_check(status, "packing weights", err);
}

/* Finishes a prim from a chosen descriptor, which it consumes. */
static px_status prim_finish(pxi_prim *prim, dnnl_primitive_desc_t desc, px_error *err)
{
    const char *name = NULL;
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name);
    snprintf(prim->name, sizeof prim->name, "%s", name ? name : "?");
    prim->scratch_desc = *dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    prim->scratch_bytes = dnnl_memory_desc_get_size(&prim->scratch_desc);
    const dnnl_status_t status = dnnl_primitive_create(&prim->primitive, desc);
    dnnl_primitive_desc_destroy(desc);
    return prim_check(status, prim->name, err);
}

static void prim_add_slot(pxi_prim *prim, int arg, int slot, const dnnl_memory_desc_t *desc)
{
    prim->args[prim->arg_count++] = (prim_arg){.arg = arg, .slot = slot, .desc = *desc};
}

static size_t prim_align(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* A result slot in `plain` order that the kernel writes in `made` order. Its address may be NULL:
 * the kernel writes it all the same. */
static px_status prim_add_result(pxi_prim *prim, int arg, int slot, const dnnl_memory_desc_t *made,
                                 const dnnl_memory_desc_t *plain, px_error *err)
{
    prim->packed = (prim_arg){.arg = arg, .slot = slot, .desc = *made};
    prim->unpacked_desc = *plain;
    prim->packed_offset = prim_align(prim->scratch_bytes);
    if (dnnl_memory_desc_equal(made, plain))
        return PX_OK;
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(prim_check(
        dnnl_reorder_primitive_desc_create(&desc, made, prim_engine, plain, prim_engine, NULL),
        "unpacking a gradient", err));
    const dnnl_status_t status = dnnl_primitive_create(&prim->unpack, desc);
    dnnl_primitive_desc_destroy(desc);
    return prim_check(status, "unpacking a gradient", err);
}

static px_status prim_add_constant(pxi_prim *prim, int arg, const float *data,
                                   const dnnl_memory_desc_t *plain,
                                   const dnnl_memory_desc_t *wanted, px_error *err)
{
    prim_arg *made = &prim->args[prim->arg_count];
    *made = (prim_arg){.arg = arg, .slot = -1, .desc = *wanted};
    PX_TRY(prim_pack(data, plain, wanted, &made->constant, err));
    prim->arg_count++;
    return PX_OK;
}

/* Scratch memory is the caller's, so that a shared primitive can run on many threads. */
static px_status prim_attr(const pxi_act *act, bool adds, dnnl_primitive_attr_t *out, px_error *err)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attr);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    if (status == dnnl_success)
        status = dnnl_post_ops_create(&ops);
    if (status == dnnl_success && adds)
        status = dnnl_post_ops_append_sum(ops, 1.0f);
    if (status == dnnl_success && act && act->kind != PXI_ACT_NONE) {
        static const dnnl_alg_kind_t kinds[] = {
            [PXI_ACT_RELU] = dnnl_eltwise_relu,        [PXI_ACT_CLIP] = dnnl_eltwise_clip,
            [PXI_ACT_SIGMOID] = dnnl_eltwise_logistic, [PXI_ACT_TANH] = dnnl_eltwise_tanh,
            [PXI_ACT_ELU] = dnnl_eltwise_elu,          [PXI_ACT_HARDSWISH] = dnnl_eltwise_hardswish,
        };
        status = dnnl_post_ops_append_eltwise(ops, 1.0f, kinds[act->kind], act->alpha, act->beta);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attr, ops);
    if (ops)
        dnnl_post_ops_destroy(ops);
    if (status == dnnl_success)
        *out = attr;
    else if (attr)
        dnnl_primitive_attr_destroy(attr);
    return prim_check(status, "attributes", err);
}

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
    return prim_check(status, "a convolution's shapes", err);
}

/* What a maker needs to know; each reads its own part. */
typedef struct prim_request {
    const pxi_conv_shape *shape;
    int64_t batch, m, k, n;
    const float *weights, *bias;
    bool with_bias, trans_a, trans_b;
} prim_request;

typedef px_status (*prim_maker)(pxi_prim *prim, const prim_request *request,
                                const_dnnl_primitive_attr_t attr, px_error *err);

static px_status prim_build(prim_maker make, const prim_request *request, const pxi_act *act,
                            bool adds, pxi_prim **out, px_error *err)
{
    PX_TRY(prim_start(err));
    dnnl_primitive_attr_t attr = NULL;
    pxi_prim *prim = pxi_calloc(1, sizeof *prim);
    px_status status =
        prim ? prim_attr(act, adds, &attr, err) : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK)
        status = make(prim, request, attr, err);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    if (status == PX_OK)
        *out = prim;
    else
        pxi_prim_free(prim);
    return status;
}

static px_status conv_make(pxi_prim *prim, const prim_request *request,
                           const_dnnl_primitive_attr_t attr, px_error *err)
{
    const pxi_conv_shape *shape = request->shape;
    const float *bias = request->bias;
    conv_descs d;
    PX_TRY(conv_describe(shape, &d, err));
    dnnl_convolution_desc_t op;
    PX_TRY(prim_check(dnnl_dilated_convolution_forward_desc_init(
                          &op, dnnl_forward_inference, dnnl_convolution_direct, &d.source,
                          &d.weights_any, bias ? &d.bias : NULL, &d.destination, d.strides,
                          d.dilates, d.pads_l, d.pads_r),
                      "a convolution", err));
    dnnl_primitive_desc_t desc = NULL;
    /* oneDNN lists brdgmm_dw first; measured, jit_dw is a fifth faster on one sample */
    const bool depthwise = shape->group > 1 && shape->group == shape->in_channels;
    PX_TRY(prim_choose(&op, attr, NULL, depthwise ? "jit_dw" : NULL, &desc, "a convolution", err));
    const dnnl_memory_desc_t wanted = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    PX_TRY(prim_finish(prim, desc, err));
    prim_add_slot(prim, DNNL_ARG_SRC, 0, &d.source);
    prim_add_slot(prim, DNNL_ARG_DST, 1, &d.destination);
    if (bias)
        PX_TRY(prim_add_constant(prim, DNNL_ARG_BIAS, bias, &d.bias, &d.bias, err));
    return prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, &d.weights_plain, &wanted,
                             err);
}

px_status pxi_prim_conv(const pxi_conv_shape *shape, const float *weights, const float *bias,
                        const pxi_act *act, bool adds, pxi_prim **out, px_error *err)
{
    const prim_request request = {.shape = shape, .weights = weights, .bias = bias};
    return prim_build(conv_make, &request, act, adds, out, err);
}

/* Backward kernels want the forward one as a hint. */
static px_status conv_hint(const conv_descs *d, dnnl_primitive_desc_t *out, px_error *err)
{
    dnnl_convolution_desc_t op;
    PX_TRY(prim_check(dnnl_dilated_convolution_forward_desc_init(
                          &op, dnnl_forward_training, dnnl_convolution_direct, &d->source,
                          &d->weights_any, NULL, &d->destination, d->strides, d->dilates, d->pads_l,
                          d->pads_r),
                      "a convolution", err));
    return prim_check(dnnl_primitive_desc_create(out, &op, NULL, prim_engine, NULL),
                      "a convolution", err);
}

static px_status conv_data_make(pxi_prim *prim, const prim_request *request,
                                const_dnnl_primitive_attr_t attr, px_error *err)
{
    conv_descs d;
    PX_TRY(conv_describe(request->shape, &d, err));
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    PX_TRY(conv_hint(&d, &hint, err));
    dnnl_convolution_desc_t op;
    px_status status = prim_check(dnnl_dilated_convolution_backward_data_desc_init(
                                      &op, dnnl_convolution_direct, &d.source, &d.weights_any,
                                      &d.destination, d.strides, d.dilates, d.pads_l, d.pads_r),
                                  "a convolution's data gradient", err);
    if (status == PX_OK)
        status = prim_choose(&op, attr, hint, NULL, &desc, "a convolution's data gradient", err);
    dnnl_primitive_desc_destroy(hint);
    PX_TRY(status);
    const dnnl_memory_desc_t wanted = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    PX_TRY(prim_finish(prim, desc, err));
    prim_add_slot(prim, DNNL_ARG_DIFF_DST, 0, &d.destination);
    prim_add_slot(prim, DNNL_ARG_DIFF_SRC, 1, &d.source);
    return prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, &d.weights_plain, &wanted,
                             err);
}

px_status pxi_prim_conv_data(const pxi_conv_shape *shape, const float *weights, pxi_prim **out,
                             px_error *err)
{
    const prim_request request = {.shape = shape, .weights = weights};
    return prim_build(conv_data_make, &request, NULL, false, out, err);
}

static px_status conv_weights_make(pxi_prim *prim, const prim_request *request,
                                   const_dnnl_primitive_attr_t attr, px_error *err)
{
    const pxi_conv_shape *shape = request->shape;
    const bool bias = request->with_bias;
    conv_descs d;
    PX_TRY(conv_describe(shape, &d, err));
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    PX_TRY(conv_hint(&d, &hint, err));
    dnnl_convolution_desc_t op;
    px_status status = prim_check(dnnl_dilated_convolution_backward_weights_desc_init(
                                      &op, dnnl_convolution_direct, &d.source, &d.weights_any,
                                      bias ? &d.bias : NULL, &d.destination, d.strides, d.dilates,
                                      d.pads_l, d.pads_r),
                                  "a convolution's weight gradient", err);
    /* oneDNN 2.6.3's jit_1x1 gathers strided data in scratch memory that it asked too little of,
     * where the channels do not fill its vectors: wrong gradients and a broken heap. */
    const bool gathers =
        shape->kernel[0] * shape->kernel[1] == 1 && shape->stride[0] * shape->stride[1] > 1;
    if (status == PX_OK)
        status = prim_choose(&op, attr, hint, gathers ? "jit:" : NULL, &desc,
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
    PX_TRY(prim_finish(prim, desc, err));
    prim_add_slot(prim, DNNL_ARG_SRC, 0, &d.source);
    prim_add_slot(prim, DNNL_ARG_DIFF_DST, 1, &d.destination);
    if (bias)
        prim_add_slot(prim, DNNL_ARG_DIFF_BIAS, 3, &d.bias);
    return prim_add_result(prim, DNNL_ARG_DIFF_WEIGHTS, 2, &made, &d.weights_plain, err);
}

px_status pxi_prim_conv_weights(const pxi_conv_shape *shape, bool bias, pxi_prim **out,
                                px_error *err)
{
    const prim_request request = {.shape = shape, .with_bias = bias};
    return prim_build(conv_weights_make, &request, NULL, false, out, err);
}

static px_status product_make(pxi_prim *prim, const prim_request *request,
                              const_dnnl_primitive_attr_t attr, px_error *err)
{
    const int64_t rows = request->m, k = request->k, n = request->n;
    const float *bias = request->bias;
    const dnnl_dims_t source = {rows, k}, weights = {k, n}, destination = {rows, n}, wide = {1, n};
    dnnl_memory_desc_t src, any, plain, dst, bias_desc;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&src, 2, source, dnnl_f32, dnnl_ab);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&any, 2, weights, dnnl_f32, dnnl_format_tag_any);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&plain, 2, weights, dnnl_f32,
                                              request->trans_b ? dnnl_ba : dnnl_ab);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&dst, 2, destination, dnnl_f32, dnnl_ab);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&bias_desc, 2, wide, dnnl_f32, dnnl_ab);
    dnnl_matmul_desc_t op;
    if (status == dnnl_success)
        status = dnnl_matmul_desc_init(&op, &src, &any, bias ? &bias_desc : NULL, &dst);
    PX_TRY(prim_check(status, "a product", err));
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(prim_choose(&op, attr, NULL, NULL, &desc, "a product", err));
    const dnnl_memory_desc_t wanted = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    PX_TRY(prim_finish(prim, desc, err));
    prim_add_slot(prim, DNNL_ARG_SRC, 0, &src);
    prim_add_slot(prim, DNNL_ARG_DST, 1, &dst);
    if (bias)
        PX_TRY(prim_add_constant(prim, DNNL_ARG_BIAS, bias, &bias_desc, &bias_desc, err));
    return prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, &plain, &wanted, err);
}

px_status pxi_prim_product(int64_t rows, int64_t k, int64_t n, const float *b, bool transposed,
                           const float *bias, const pxi_act *act, bool adds, pxi_prim **out,
                           px_error *err)
{
    const prim_request request = {
        .m = rows, .k = k, .n = n, .weights = b, .trans_b = transposed, .bias = bias};
    return prim_build(product_make, &request, act, adds, out, err);
}

static px_status matmul_make(pxi_prim *prim, const prim_request *request,
                             const_dnnl_primitive_attr_t attr, px_error *err)
{
    const int64_t batch = request->batch, m = request->m, k = request->k, n = request->n;
    const dnnl_dims_t a_dims = {batch, m, k}, b_dims = {batch, k, n}, c_dims = {batch, m, n};
    dnnl_memory_desc_t a, b, c;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&a, 3, a_dims, dnnl_f32,
                                                        request->trans_a ? dnnl_acb : dnnl_abc);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&b, 3, b_dims, dnnl_f32,
                                              request->trans_b ? dnnl_acb : dnnl_abc);
    if (status == dnnl_success)
        status = dnnl_memory_desc_init_by_tag(&c, 3, c_dims, dnnl_f32, dnnl_abc);
    dnnl_matmul_desc_t op;
    if (status == dnnl_success)
        status = dnnl_matmul_desc_init(&op, &a, &b, NULL, &c);
    PX_TRY(prim_check(status, "a batched product", err));
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(prim_choose(&op, attr, NULL, NULL, &desc, "a batched product", err));
    PX_TRY(prim_finish(prim, desc, err));
    prim_add_slot(prim, DNNL_ARG_SRC, 0, &a);
    prim_add_slot(prim, DNNL_ARG_WEIGHTS, 1, &b);
    prim_add_slot(prim, DNNL_ARG_DST, 2, &c);
    return PX_OK;
}

px_status pxi_prim_matmul(int64_t batch, int64_t m, int64_t k, int64_t n, bool trans_a,
                          bool trans_b, pxi_prim **out, px_error *err)
{
    const prim_request request = {
        .batch = batch, .m = m, .k = k, .n = n, .trans_a = trans_a, .trans_b = trans_b};
    return prim_build(matmul_make, &request, NULL, false, out, err);
}

void pxi_prim_free(pxi_prim *prim)
{
    if (!prim)
        return;
    for (int i = 0; i < prim->arg_count; i++)
        if (prim->args[i].constant)
            dnnl_memory_destroy(prim->args[i].constant);
    if (prim->unpack)
        dnnl_primitive_destroy(prim->unpack);
    if (prim->primitive)
        dnnl_primitive_destroy(prim->primitive);
    free(prim);
}

size_t pxi_prim_scratch(const pxi_prim *prim)
{
    if (!prim)
        return 0;
    return prim->packed.arg ? prim->packed_offset + dnnl_memory_desc_get_size(&prim->packed.desc)
                            : prim->scratch_bytes;
}

const char *pxi_prim_name(const pxi_prim *prim)
{
    return prim->name;
}

px_status pxi_bound_new(const pxi_prim *prim, void *stream, void *const *slots, void *scratch,
                        pxi_bound **out, px_error *err)
{
    pxi_bound *bound = pxi_calloc(1, sizeof *bound);
    if (!bound)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    bound->prim = prim;
    bound->stream = stream;
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i <= prim->arg_count && status == dnnl_success; i++) {
        const bool last = i == prim->arg_count;
        if (last && !prim->scratch_bytes)
            break;
        const prim_arg *arg = last ? NULL : &prim->args[i];
        dnnl_exec_arg_t *made = &bound->args[bound->count];
        made->arg = last ? DNNL_ARG_SCRATCHPAD : arg->arg;
        if (arg && arg->slot < 0) {
            made->memory = arg->constant;
        } else {
            status = dnnl_memory_create(&made->memory, last ? &prim->scratch_desc : &arg->desc,
                                        prim_engine, last ? scratch : slots[arg->slot]);
            bound->owned[bound->count] = status == dnnl_success;
        }
        bound->count += status == dnnl_success;
    }
    if (prim->packed.arg && status == dnnl_success) {
        dnnl_exec_arg_t *packed = &bound->args[bound->count];
        void *result = slots[prim->packed.slot];
        packed->arg = prim->packed.arg;
        status = dnnl_memory_create(
            &packed->memory, &prim->packed.desc, prim_engine,
            result && !prim->unpack ? result : (char *)scratch + prim->packed_offset);
        bound->owned[bound->count] = status == dnnl_success;
        bound->count += status == dnnl_success;
        if (status == dnnl_success && result && prim->unpack)
            status =
                dnnl_memory_create(&bound->unpacked, &prim->unpacked_desc, prim_engine, result);
    }
    if (status != dnnl_success) {
        pxi_bound_free(bound);
        return prim_check(status, "binding memory", err);
    }
    *out = bound;
    return PX_OK;
}

void pxi_bound_free(pxi_bound *bound)
{
    if (!bound)
        return;
    for (int i = 0; i < bound->count; i++)
        if (bound->owned[i])
            dnnl_memory_destroy(bound->args[i].memory);
    if (bound->unpacked)
        dnnl_memory_destroy(bound->unpacked);
    free(bound);
}

px_status pxi_bound_run(const pxi_bound *bound, px_error *err)
{
    dnnl_status_t status =
        dnnl_primitive_execute(bound->prim->primitive, bound->stream, bound->count, bound->args);
    if (status == dnnl_success && bound->unpacked) {
        const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, bound->args[bound->count - 1].memory},
                                        {DNNL_ARG_TO, bound->unpacked}};
        status = dnnl_primitive_execute(bound->prim->unpack, bound->stream, 2, args);
    }
    return prim_check(status, bound->prim->name, err);
}

px_status pxi_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c,
                    px_error *err)
{
    return prim_check(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n), "sgemm", err);
}
