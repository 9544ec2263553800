/* src/engine/prim_product.c - matrix products as oneDNN kernels */
#include "engine/prim_inside.h"

static px_status product_make(pxi_prim *prim, const pxi_prim_request *request,
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
    PX_TRY(pxi_prim_check(status, "a product", err));
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(pxi_prim_choose(&op, attr, NULL, NULL, &desc, "a product", err));
    const dnnl_memory_desc_t wanted = *dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0, &src);
    pxi_prim_add_slot(prim, DNNL_ARG_DST, 1, &dst);
    if (bias)
        PX_TRY(pxi_prim_add_constant(prim, DNNL_ARG_BIAS, bias, &bias_desc, &bias_desc, err));
    return pxi_prim_add_constant(prim, DNNL_ARG_WEIGHTS, request->weights, &plain, &wanted, err);
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
    PX_TRY(pxi_prim_check(status, "a batched product", err));
    dnnl_primitive_desc_t desc = NULL;
    PX_TRY(pxi_prim_choose(&op, attr, NULL, NULL, &desc, "a batched product", err));
    PX_TRY(pxi_prim_finish(prim, desc, err));
    pxi_prim_add_slot(prim, DNNL_ARG_SRC, 0, &a);
    pxi_prim_add_slot(prim, DNNL_ARG_WEIGHTS, 1, &b);
    pxi_prim_add_slot(prim, DNNL_ARG_DST, 2, &c);
    return PX_OK;
}

px_status pxi_prim_matmul(int64_t batch, int64_t m, int64_t k, int64_t n, bool trans_a,
                          bool trans_b, pxi_prim **out, px_error *err)
{
    const pxi_prim_request request = {
        .batch = batch, .m = m, .k = k, .n = n, .trans_a = trans_a, .trans_b = trans_b};
    return pxi_prim_build(matmul_make, &request, NULL, false, out, err);
}
