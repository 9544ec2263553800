/* src/engine/prim_api.h - oneDNN's C API, where 2 and 3 differ
 *
 * oneDNN 3 made memory descriptors opaque and dropped descriptors of operations: an operation's own
 * function makes a primitive descriptor, which walks on to the next implementation by itself, where
 * oneDNN 2 had an iterator. What is not here has the same name and parameters in both.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PRIM_API_H
#define PXI_ENGINE_PRIM_API_H

#include <dnnl.h>
#include <stdbool.h>
#include <stdlib.h>

/* pxi_md: a memory descriptor, from pxi_md_new(); oneDNN's own are borrowed pxi_const_md.
 * pxi_impls: the implementations of an operation in oneDNN's order, standing at one of them. */
#if DNNL_VERSION_MAJOR < 3
typedef dnnl_memory_desc_t *pxi_md;
typedef const dnnl_memory_desc_t *pxi_const_md;
typedef struct pxi_impls {
    dnnl_primitive_desc_iterator_t at;
    union { /* the iterator reads it as long as it lives */
        dnnl_convolution_desc_t conv;
        dnnl_matmul_desc_t matmul;
        dnnl_inner_product_desc_t inner;
        dnnl_pooling_desc_t pool;
        dnnl_eltwise_desc_t eltwise;
    } op;
} pxi_impls;
#else
typedef dnnl_memory_desc_t pxi_md;
typedef const_dnnl_memory_desc_t pxi_const_md;
typedef struct pxi_impls {
    dnnl_primitive_desc_t at;
} pxi_impls;
#endif

typedef struct pxi_conv_op {
    dnnl_alg_kind_t alg;
    pxi_const_md source, weights, bias, destination; /* bias: NULL if there is none */
    dnnl_dims_t strides, dilates, pads_l, pads_r;
} pxi_conv_op;

#if DNNL_VERSION_MAJOR < 3

static inline dnnl_status_t pxi_md_new(pxi_md *out, int rank, const dnnl_dims_t dims,
                                       dnnl_format_tag_t tag)
{
    pxi_md md = malloc(sizeof *md);
    const dnnl_status_t status =
        md ? dnnl_memory_desc_init_by_tag(md, rank, dims, dnnl_f32, tag) : dnnl_out_of_memory;
    if (status == dnnl_success)
        *out = md;
    else
        free(md);
    return status;
}

static inline void pxi_md_free(pxi_md md)
{
    free(md);
}

/* For out->op; `made`: what came of describing it. */
static inline dnnl_status_t pxi_impls_open(pxi_impls *out, dnnl_status_t made, dnnl_engine_t engine,
                                           const_dnnl_primitive_attr_t attr,
                                           const_dnnl_primitive_desc_t hint)
{
    if (made != dnnl_success)
        return made;
    made = dnnl_primitive_desc_iterator_create(&out->at, &out->op, attr, engine, hint);
    return made == dnnl_iterator_ends ? dnnl_unimplemented : made;
}

static inline bool pxi_impls_next(pxi_impls *impls)
{
    return dnnl_primitive_desc_iterator_next(impls->at) == dnnl_success;
}

/* The one it stands at: the caller's own; NULL without memory. */
static inline dnnl_primitive_desc_t pxi_impls_take(pxi_impls *impls)
{
    return dnnl_primitive_desc_iterator_fetch(impls->at);
}

static inline void pxi_impls_free(pxi_impls *impls)
{
    dnnl_primitive_desc_iterator_destroy(impls->at);
}

static inline dnnl_status_t pxi_conv_forward(pxi_impls *out, dnnl_engine_t engine,
                                             const pxi_conv_op *conv, dnnl_prop_kind_t prop,
                                             const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made = dnnl_dilated_convolution_forward_desc_init(
        &out->op.conv, prop, conv->alg, conv->source, conv->weights, conv->bias, conv->destination,
        conv->strides, conv->dilates, conv->pads_l, conv->pads_r);
    return pxi_impls_open(out, made, engine, attr, NULL);
}

/* `hint`: the forward one. */
static inline dnnl_status_t pxi_conv_backward_data(pxi_impls *out, dnnl_engine_t engine,
                                                   const pxi_conv_op *conv,
                                                   const_dnnl_primitive_desc_t hint,
                                                   const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made = dnnl_dilated_convolution_backward_data_desc_init(
        &out->op.conv, conv->alg, conv->source, conv->weights, conv->destination, conv->strides,
        conv->dilates, conv->pads_l, conv->pads_r);
    return pxi_impls_open(out, made, engine, attr, hint);
}

static inline dnnl_status_t pxi_conv_backward_weights(pxi_impls *out, dnnl_engine_t engine,
                                                      const pxi_conv_op *conv,
                                                      const_dnnl_primitive_desc_t hint,
                                                      const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made = dnnl_dilated_convolution_backward_weights_desc_init(
        &out->op.conv, conv->alg, conv->source, conv->weights, conv->bias, conv->destination,
        conv->strides, conv->dilates, conv->pads_l, conv->pads_r);
    return pxi_impls_open(out, made, engine, attr, hint);
}

/* bias may be NULL */
static inline dnnl_status_t pxi_matmul(pxi_impls *out, dnnl_engine_t engine, pxi_const_md source,
                                       pxi_const_md weights, pxi_const_md bias,
                                       pxi_const_md destination, const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made =
        dnnl_matmul_desc_init(&out->op.matmul, source, weights, bias, destination);
    return pxi_impls_open(out, made, engine, attr, NULL);
}

static inline dnnl_status_t pxi_append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1.0f);
}

static inline dnnl_status_t pxi_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind,
                                               float alpha, float beta)
{
    return dnnl_post_ops_append_eltwise(ops, 1.0f, kind, alpha, beta);
}

#else

static inline dnnl_status_t pxi_md_new(pxi_md *out, int rank, const dnnl_dims_t dims,
                                       dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(out, rank, dims, dnnl_f32, tag);
}

static inline void pxi_md_free(pxi_md md)
{
    if (md)
        dnnl_memory_desc_destroy(md);
}

static inline bool pxi_impls_next(pxi_impls *impls)
{
    return dnnl_primitive_desc_next_impl(impls->at) == dnnl_success;
}

static inline dnnl_primitive_desc_t pxi_impls_take(pxi_impls *impls)
{
    dnnl_primitive_desc_t copy = NULL;
    return dnnl_primitive_desc_clone(&copy, impls->at) == dnnl_success ? copy : NULL;
}

static inline void pxi_impls_free(pxi_impls *impls)
{
    dnnl_primitive_desc_destroy(impls->at);
}

static inline dnnl_status_t pxi_conv_forward(pxi_impls *out, dnnl_engine_t engine,
                                             const pxi_conv_op *conv, dnnl_prop_kind_t prop,
                                             const_dnnl_primitive_attr_t attr)
{
    return dnnl_convolution_forward_primitive_desc_create(
        &out->at, engine, prop, conv->alg, conv->source, conv->weights, conv->bias,
        conv->destination, conv->strides, conv->dilates, conv->pads_l, conv->pads_r, attr);
}

static inline dnnl_status_t pxi_conv_backward_data(pxi_impls *out, dnnl_engine_t engine,
                                                   const pxi_conv_op *conv,
                                                   const_dnnl_primitive_desc_t hint,
                                                   const_dnnl_primitive_attr_t attr)
{
    return dnnl_convolution_backward_data_primitive_desc_create(
        &out->at, engine, conv->alg, conv->source, conv->weights, conv->destination, conv->strides,
        conv->dilates, conv->pads_l, conv->pads_r, hint, attr);
}

static inline dnnl_status_t pxi_conv_backward_weights(pxi_impls *out, dnnl_engine_t engine,
                                                      const pxi_conv_op *conv,
                                                      const_dnnl_primitive_desc_t hint,
                                                      const_dnnl_primitive_attr_t attr)
{
    return dnnl_convolution_backward_weights_primitive_desc_create(
        &out->at, engine, conv->alg, conv->source, conv->weights, conv->bias, conv->destination,
        conv->strides, conv->dilates, conv->pads_l, conv->pads_r, hint, attr);
}

static inline dnnl_status_t pxi_matmul(pxi_impls *out, dnnl_engine_t engine, pxi_const_md source,
                                       pxi_const_md weights, pxi_const_md bias,
                                       pxi_const_md destination, const_dnnl_primitive_attr_t attr)
{
    return dnnl_matmul_primitive_desc_create(&out->at, engine, source, weights, bias, destination,
                                             attr);
}

static inline dnnl_status_t pxi_append_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1.0f, 0, dnnl_data_type_undef);
}

static inline dnnl_status_t pxi_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind,
                                               float alpha, float beta)
{
    if (kind == dnnl_eltwise_hardswish) { /* oneDNN 2 knew x * clip(x / 6 + 1 / 2, 0, 1) only */
        alpha = 1.0f / 6.0f;
        beta = 0.5f;
    }
    return dnnl_post_ops_append_eltwise(ops, kind, alpha, beta);
}

#endif
#endif
