/* bench/bench_ops.h - more of oneDNN's operations than plexor uses, in oneDNN 2 and 3
 *
 * As engine/prim_api.h: `hint` is the forward descriptor of a backward operation, NULL otherwise.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_BENCH_OPS_H
#define PLEXOR_BENCH_OPS_H

#include "engine/prim_api.h"

typedef struct pool_op {
    dnnl_alg_kind_t alg;
    pxi_const_md source, destination;
    dnnl_dims_t strides, window, pad;
} pool_op;

#if DNNL_VERSION_MAJOR < 3

static inline dnnl_status_t list_inner(pxi_impls *out, dnnl_engine_t engine, dnnl_prop_kind_t prop,
                                       pxi_const_md source, pxi_const_md weights, pxi_const_md bias,
                                       pxi_const_md destination, const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made = dnnl_inner_product_forward_desc_init(&out->op.inner, prop, source,
                                                                    weights, bias, destination);
    return pxi_impls_open(out, made, engine, attr, NULL);
}

static inline dnnl_status_t list_inner_back(pxi_impls *out, dnnl_engine_t engine,
                                            pxi_const_md source, pxi_const_md weights,
                                            pxi_const_md destination,
                                            const_dnnl_primitive_desc_t hint,
                                            const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made =
        dnnl_inner_product_backward_data_desc_init(&out->op.inner, source, weights, destination);
    return pxi_impls_open(out, made, engine, attr, hint);
}

static inline dnnl_status_t list_pool(pxi_impls *out, dnnl_engine_t engine, const pool_op *pool,
                                      dnnl_prop_kind_t prop, const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made = dnnl_pooling_forward_desc_init(
        &out->op.pool, prop, pool->alg, pool->source, pool->destination, pool->strides,
        pool->window, pool->pad, pool->pad);
    return pxi_impls_open(out, made, engine, attr, NULL);
}

static inline dnnl_status_t list_pool_back(pxi_impls *out, dnnl_engine_t engine,
                                           const pool_op *pool, const_dnnl_primitive_desc_t hint,
                                           const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made =
        dnnl_pooling_backward_desc_init(&out->op.pool, pool->alg, pool->source, pool->destination,
                                        pool->strides, pool->window, pool->pad, pool->pad);
    return pxi_impls_open(out, made, engine, attr, hint);
}

static inline dnnl_status_t list_relu(pxi_impls *out, dnnl_engine_t engine, dnnl_prop_kind_t prop,
                                      pxi_const_md map, const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made =
        dnnl_eltwise_forward_desc_init(&out->op.eltwise, prop, dnnl_eltwise_relu, map, 0.0f, 0.0f);
    return pxi_impls_open(out, made, engine, attr, NULL);
}

static inline dnnl_status_t list_relu_back(pxi_impls *out, dnnl_engine_t engine, pxi_const_md map,
                                           const_dnnl_primitive_desc_t hint,
                                           const_dnnl_primitive_attr_t attr)
{
    const dnnl_status_t made =
        dnnl_eltwise_backward_desc_init(&out->op.eltwise, dnnl_eltwise_relu, map, map, 0.0f, 0.0f);
    return pxi_impls_open(out, made, engine, attr, hint);
}

#else

static inline dnnl_status_t list_inner(pxi_impls *out, dnnl_engine_t engine, dnnl_prop_kind_t prop,
                                       pxi_const_md source, pxi_const_md weights, pxi_const_md bias,
                                       pxi_const_md destination, const_dnnl_primitive_attr_t attr)
{
    return dnnl_inner_product_forward_primitive_desc_create(&out->at, engine, prop, source, weights,
                                                            bias, destination, attr);
}

static inline dnnl_status_t list_inner_back(pxi_impls *out, dnnl_engine_t engine,
                                            pxi_const_md source, pxi_const_md weights,
                                            pxi_const_md destination,
                                            const_dnnl_primitive_desc_t hint,
                                            const_dnnl_primitive_attr_t attr)
{
    return dnnl_inner_product_backward_data_primitive_desc_create(&out->at, engine, source, weights,
                                                                  destination, hint, attr);
}

static inline dnnl_status_t list_pool(pxi_impls *out, dnnl_engine_t engine, const pool_op *pool,
                                      dnnl_prop_kind_t prop, const_dnnl_primitive_attr_t attr)
{
    const dnnl_dims_t dilation = {0, 0};
    return dnnl_pooling_forward_primitive_desc_create(
        &out->at, engine, prop, pool->alg, pool->source, pool->destination, pool->strides,
        pool->window, dilation, pool->pad, pool->pad, attr);
}

static inline dnnl_status_t list_pool_back(pxi_impls *out, dnnl_engine_t engine,
                                           const pool_op *pool, const_dnnl_primitive_desc_t hint,
                                           const_dnnl_primitive_attr_t attr)
{
    const dnnl_dims_t dilation = {0, 0};
    return dnnl_pooling_backward_primitive_desc_create(
        &out->at, engine, pool->alg, pool->source, pool->destination, pool->strides, pool->window,
        dilation, pool->pad, pool->pad, hint, attr);
}

static inline dnnl_status_t list_relu(pxi_impls *out, dnnl_engine_t engine, dnnl_prop_kind_t prop,
                                      pxi_const_md map, const_dnnl_primitive_attr_t attr)
{
    return dnnl_eltwise_forward_primitive_desc_create(&out->at, engine, prop, dnnl_eltwise_relu,
                                                      map, map, 0.0f, 0.0f, attr);
}

static inline dnnl_status_t list_relu_back(pxi_impls *out, dnnl_engine_t engine, pxi_const_md map,
                                           const_dnnl_primitive_desc_t hint,
                                           const_dnnl_primitive_attr_t attr)
{
    return dnnl_eltwise_backward_primitive_desc_create(&out->at, engine, dnnl_eltwise_relu, map,
                                                       map, map, 0.0f, 0.0f, hint, attr);
}

#endif
#endif
