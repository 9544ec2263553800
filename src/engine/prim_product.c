/* src/engine/prim_product.c - matrix products as oneDNN kernels */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prim_internal.h"

static px_status product_make(pxi_prim *prim, const pxi_prim_request *request,
                              const_dnnl_primitive_attr_t attr, px_error *err)
{
    const int64_t rows = request->m, k = request->k, n = request->n;
    const float *bias = request->bias;
    const dnnl_dims_t source = {rows, k}, weights = {k, n}, destination = {rows, n}, wide = {1, n};
    pxi_const_md src, any, plain, dst, bias_md = NULL;
    PX_TRY(pxi_prim_md(prim, 2, source, dnnl_ab, &src, err));
    PX_TRY(pxi_prim_md(prim, 2, weights, dnnl_format_tag_any, &any, err));
    PX_TRY(pxi_prim_md(prim, 2, weights, request->trans_b ? dnnl_ba : dnnl_ab, &plain, err));
    PX_TRY(pxi_prim_md(prim, 2, destination, dnnl_ab, &dst, err));
    if (bias)
        PX_TRY(pxi_prim_md(prim, 2, wide, dnnl_ab, &bias_md, err));
    pxi_impls impls;
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(pxi_prim_choose(pxi_matmul(&impls, pxi_prim_engine(), src, any, bias_md, dst, attr),
                           &impls, NULL, &desc, "a product", err));
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0);
    pxi_prim_add_slot(prim, DNNL_ARG_DST, 1);
    if (bias)
        PX_TRY(pxi_prim_add_constant(prim, DNNL_ARG_BIAS, bias, bias_md, err));
    return pxi_prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, plain, err);
}

px_status pxi_prim_product(int64_t rows, int64_t k, int64_t n, const float *b, bool transposed,
                           const float *bias, const pxi_act *act, bool adds, pxi_prim **out,
                           px_error *err)
{
    const pxi_prim_request request = {
        .m = rows, .k = k, .n = n, .weights = b, .trans_b = transposed, .bias = bias};
    return pxi_prim_build(product_make, &request, act, adds, out, err);
}

static px_status matmul_make(pxi_prim *prim, const pxi_prim_request *request,
                             const_dnnl_primitive_attr_t attr, px_error *err)
{
    const int64_t batch = request->batch, m = request->m, k = request->k, n = request->n;
    const dnnl_dims_t a_dims = {batch, m, k}, b_dims = {batch, k, n}, c_dims = {batch, m, n};
    pxi_const_md a, b, c;
    PX_TRY(pxi_prim_md(prim, 3, a_dims, request->trans_a ? dnnl_acb : dnnl_abc, &a, err));
    PX_TRY(pxi_prim_md(prim, 3, b_dims, request->trans_b ? dnnl_acb : dnnl_abc, &b, err));
    PX_TRY(pxi_prim_md(prim, 3, c_dims, dnnl_abc, &c, err));
    pxi_impls impls;
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(pxi_prim_choose(pxi_matmul(&impls, pxi_prim_engine(), a, b, NULL, c, attr), &impls, NULL,
                           &desc, "a batched product", err));
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0);
    pxi_prim_add_slot(prim, DNNL_ARG_WEIGHTS, 1);
    pxi_prim_add_slot(prim, DNNL_ARG_DST, 2);
    return PX_OK;
}

px_status pxi_prim_matmul(int64_t batch, int64_t m, int64_t k, int64_t n, bool trans_a,
                          bool trans_b, pxi_prim **out, px_error *err)
{
    const pxi_prim_request request = {
        .batch = batch, .m = m, .k = k, .n = n, .trans_a = trans_a, .trans_b = trans_b};
    return pxi_prim_build(matmul_make, &request, NULL, false, out, err);
}
