/* src/engine/prim_conv.c - convolutions and their gradients as oneDNN kernels */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prim_internal.h"

#include "base/memory.h"

#include <string.h>

static px_status conv_describe(pxi_prim *prim, const pxi_conv_shape *s, bool bias, pxi_conv_op *op,
                               pxi_const_md *weights_plain, px_error *err)
{
    const dnnl_dims_t source = {s->batch, s->in_channels, s->in[0], s->in[1]};
    const dnnl_dims_t destination = {s->batch, s->out_channels, s->out[0], s->out[1]};
    const int64_t oc = s->out_channels / s->group, ic = s->in_channels / s->group;
    const dnnl_dims_t grouped = {s->group, oc, ic, s->kernel[0], s->kernel[1]};
    const dnnl_dims_t single = {oc, ic, s->kernel[0], s->kernel[1]};
    const dnnl_dims_t biases = {s->out_channels};
    const bool g = s->group > 1;
    const int rank = g ? 5 : 4;
    *op = (pxi_conv_op){.alg = dnnl_convolution_direct};
    PX_TRY(pxi_prim_md(prim, 4, source, dnnl_nhwc, &op->source, err));
    PX_TRY(pxi_prim_md(prim, 4, destination, dnnl_nhwc, &op->destination, err));
    PX_TRY(pxi_prim_md(prim, rank, g ? grouped : single, dnnl_format_tag_any, &op->weights, err));
    PX_TRY(pxi_prim_md(prim, rank, g ? grouped : single, g ? dnnl_goihw : dnnl_oihw, weights_plain,
                       err));
    if (bias)
        PX_TRY(pxi_prim_md(prim, 1, biases, dnnl_x, &op->bias, err));
    for (int i = 0; i < 2; i++) {
        op->strides[i] = s->stride[i];
        op->dilates[i] = s->dilation[i] - 1;
        op->pads_l[i] = s->pad_begin[i];
        /* What oneDNN calls the right pad has to account exactly for the output's extent. */
        op->pads_r[i] = (s->out[i] - 1) * s->stride[i] + (s->kernel[i] - 1) * s->dilation[i] + 1 -
                        s->in[i] - s->pad_begin[i];
    }
    return PX_OK;
}

static px_status conv_make(pxi_prim *prim, const pxi_prim_request *request,
                           const_dnnl_primitive_attr_t attr, px_error *err)
{
    const pxi_conv_shape *shape = request->shape;
    const float *bias = request->bias;
    pxi_conv_op op;
    pxi_const_md plain;
    PX_TRY(conv_describe(prim, shape, bias != NULL, &op, &plain, err));
    pxi_impls impls;
    dnnl_primitive_desc_t desc = NULL;
    /* oneDNN lists brdgmm_dw first; measured, jit_dw is a fifth faster on one sample */
    const bool depthwise = shape->group > 1 && shape->group == shape->in_channels;
    PX_TRY(pxi_prim_choose(
        pxi_conv_forward(&impls, pxi_prim_engine(), &op, dnnl_forward_inference, attr), &impls,
        depthwise ? "jit_dw" : NULL, &desc, "a convolution", err));
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0);
    pxi_prim_add_slot(prim, DNNL_ARG_DST, 1);
    if (bias)
        PX_TRY(pxi_prim_add_constant(prim, DNNL_ARG_BIAS, bias, op.bias, err));
    return pxi_prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, plain, err);
}

px_status pxi_prim_conv(const pxi_conv_shape *shape, const float *weights, const float *bias,
                        const pxi_act *act, bool adds, pxi_prim **out, px_error *err)
{
    const pxi_prim_request request = {.shape = shape, .weights = weights, .bias = bias};
    return pxi_prim_build(conv_make, &request, act, adds, out, err);
}

/* Backward kernels want the forward one as a hint. */
static px_status conv_hint(pxi_prim *prim, const pxi_conv_op *op, px_error *err)
{
    pxi_conv_op forward = *op;
    forward.bias = NULL;
    pxi_impls impls;
    PX_TRY(pxi_prim_check(
        pxi_conv_forward(&impls, pxi_prim_engine(), &forward, dnnl_forward_training, NULL),
        "a convolution", err));
    prim->hint = pxi_impls_take(&impls);
    pxi_impls_free(&impls);
    return prim->hint ? PX_OK : pxi_no_memory_for(err, "oneDNN (a convolution)");
}

static px_status conv_data_make(pxi_prim *prim, const pxi_prim_request *request,
                                const_dnnl_primitive_attr_t attr, px_error *err)
{
    pxi_conv_op op;
    pxi_const_md plain;
    PX_TRY(conv_describe(prim, request->shape, /* bias= */ false, &op, &plain, err));
    PX_TRY(conv_hint(prim, &op, err));
    pxi_impls impls;
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(pxi_prim_choose(pxi_conv_backward_data(&impls, pxi_prim_engine(), &op, prim->hint, attr),
                           &impls, NULL, &desc, "a convolution's data gradient", err));
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_DIFF_DST, 0);
    pxi_prim_add_slot(prim, DNNL_ARG_DIFF_SRC, 1);
    return pxi_prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, plain, err);
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
    pxi_conv_op op;
    pxi_const_md plain;
    PX_TRY(conv_describe(prim, shape, request->with_bias, &op, &plain, err));
    PX_TRY(conv_hint(prim, &op, err));
    /* oneDNN 2.6.3's jit_1x1 gathers strided data in scratch memory that it asked too little of,
     * where the channels do not fill its vectors: wrong gradients and a broken heap. */
    const bool gathers =
        shape->kernel[0] * shape->kernel[1] == 1 && shape->stride[0] * shape->stride[1] > 1;
    pxi_impls impls;
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(pxi_prim_choose(
        pxi_conv_backward_weights(&impls, pxi_prim_engine(), &op, prim->hint, attr), &impls,
        gathers ? "jit:" : NULL, &desc, "a convolution's weight gradient", err));
    const char *name = NULL;
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name);
    if (gathers && name && strstr(name, "jit_1x1")) {
        dnnl_primitive_desc_destroy(desc);
        return px_fail(err, PX_E_UNSUPPORTED,
                       "oneDNN has no sound kernel for a strided 1x1 "
                       "convolution's weight gradient");
    }
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0);
    pxi_prim_add_slot(prim, DNNL_ARG_DIFF_DST, 1);
    if (request->with_bias)
        pxi_prim_add_slot(prim, DNNL_ARG_DIFF_BIAS, 3);
    return pxi_prim_add_result(prim, DNNL_ARG_DIFF_WEIGHTS, 2, plain, err);
}

px_status pxi_prim_conv_weights(const pxi_conv_shape *shape, bool bias, pxi_prim **out,
                                px_error *err)
{
    const pxi_prim_request request = {.shape = shape, .with_bias = bias};
    return pxi_prim_build(conv_weights_make, &request, NULL, false, out, err);
}
