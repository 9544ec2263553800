/* src/engine/prim.c - oneDNN kernels with their constants, and running them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prim_internal.h"

#include "base/memory.h"
#include "base/one_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

px_status pxi_prim_check(dnnl_status_t status, const char *what, px_error *err)
{
    switch (status) {
    case dnnl_success:
        return PX_OK;
    case dnnl_out_of_memory:
        return pxi_no_memory_for(err, "oneDNN (%s)", what);
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
    return pxi_prim_check(prim_engine_status, "starting", err);
}

dnnl_engine_t pxi_prim_engine(void)
{
    return prim_engine;
}

static bool prim_has(unsigned wanted)
{
    return ((unsigned)dnnl_get_effective_cpu_isa() & wanted) == wanted;
}

bool pxi_prim_has_avx512(void)
{
    return prim_has(dnnl_cpu_isa_avx512_core);
}

bool pxi_prim_has_avx2(void)
{
    return prim_has(dnnl_cpu_isa_avx2);
}

px_status pxi_stream_new(void **out, px_error *err)
{
    PX_TRY(prim_start(err));
    dnnl_stream_t stream = NULL;
    PX_TRY(pxi_prim_check(dnnl_stream_create(&stream, prim_engine, dnnl_stream_default_flags),
                          "a stream", err));
    *out = stream;
    return PX_OK;
}

void pxi_stream_free(void *stream)
{
    if (stream)
        dnnl_stream_destroy(stream);
}

px_status pxi_prim_md(pxi_prim *prim, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag,
                      pxi_const_md *out, px_error *err)
{
    pxi_md *made = &prim->mds[prim->md_count];
    PX_TRY(pxi_prim_check(pxi_md_new(made, rank, dims, tag), "such shapes", err));
    prim->md_count++;
    *out = *made;
    return PX_OK;
}

px_status pxi_prim_choose(dnnl_status_t made, pxi_impls *impls, const char *preferred,
                          dnnl_primitive_desc_t *out, const char *what, px_error *err)
{
    PX_TRY(pxi_prim_check(made, what, err));
    dnnl_primitive_desc_t chosen = NULL;
    do {
        dnnl_primitive_desc_t candidate = pxi_impls_take(impls);
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
    } while (pxi_impls_next(impls));
    pxi_impls_free(impls);
    if (!chosen)
        return px_fail(err, PX_E_UNSUPPORTED, "oneDNN has only a reference loop for %s", what);
    *out = chosen;
    return PX_OK;
}

/* Borrowed from the primitive. */
static pxi_const_md prim_md(const_dnnl_primitive_t primitive, int arg)
{
    const_dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_get_primitive_desc(primitive, &desc);
    return dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arg);
}

px_status pxi_prim_finish(pxi_prim *prim, dnnl_primitive_desc_t desc, px_error *err)
{
    const char *name = NULL;
    dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name);
    snprintf(prim->name, sizeof prim->name, "%s", name ? name : "?");
    const dnnl_status_t status = dnnl_primitive_create(&prim->primitive, desc);
    dnnl_primitive_desc_destroy(desc);
    PX_TRY(pxi_prim_check(status, prim->name, err));
    prim->scratch_bytes = dnnl_memory_desc_get_size(prim_md(prim->primitive, DNNL_ARG_SCRATCHPAD));
    return PX_OK;
}

void pxi_prim_add_slot(pxi_prim *prim, int arg, int slot)
{
    prim->args[prim->arg_count++] = (pxi_prim_arg){.arg = arg, .slot = slot};
}

static dnnl_status_t prim_reorder(pxi_const_md from, pxi_const_md to, dnnl_primitive_t *out)
{
    dnnl_primitive_desc_t desc = NULL;
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&desc, from, prim_engine, to, prim_engine, NULL);
    if (status != dnnl_success)
        return status;
    status = dnnl_primitive_create(out, desc);
    dnnl_primitive_desc_destroy(desc);
    return status;
}

static size_t prim_align(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

px_status pxi_prim_add_result(pxi_prim *prim, int arg, int slot, pxi_const_md plain, px_error *err)
{
    const pxi_const_md made = prim_md(prim->primitive, arg);
    prim->packed_arg = arg;
    prim->packed_slot = slot;
    prim->packed_offset = prim_align(prim->scratch_bytes);
    prim->packed_bytes = dnnl_memory_desc_get_size(made);
    if (dnnl_memory_desc_equal(made, plain))
        return PX_OK;
    return pxi_prim_check(prim_reorder(made, plain, &prim->unpack), "unpacking a gradient", err);
}

/* Puts plain `data` into the constant's memory, in the order that the kernel wants. */
static px_status prim_pack(const pxi_prim_arg *arg, const float *data, px_error *err)
{
    dnnl_memory_t from = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_status_t status = dnnl_memory_create(&from, prim_md(arg->pack, DNNL_ARG_FROM), prim_engine,
                                              (void *)(uintptr_t)data);
    if (status == dnnl_success)
        status = dnnl_stream_create(&stream, prim_engine, dnnl_stream_default_flags);
    if (status == dnnl_success) {
        const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, arg->constant}};
        status = dnnl_primitive_execute(arg->pack, stream, 2, args);
    }
    if (status == dnnl_success)
        status = dnnl_stream_wait(stream);
    if (stream)
        dnnl_stream_destroy(stream);
    if (from)
        dnnl_memory_destroy(from);
    return pxi_prim_check(status, "packing weights", err);
}

px_status pxi_prim_add_constant(pxi_prim *prim, int arg, const float *data, pxi_const_md plain,
                                px_error *err)
{
    pxi_prim_arg *made = &prim->args[prim->arg_count++];
    *made = (pxi_prim_arg){.arg = arg, .slot = -1};
    const pxi_const_md wanted = prim_md(prim->primitive, arg);
    dnnl_status_t status =
        dnnl_memory_create(&made->constant, wanted, prim_engine, DNNL_MEMORY_ALLOCATE);
    if (status == dnnl_success)
        status = prim_reorder(plain, wanted, &made->pack);
    PX_TRY(pxi_prim_check(status, "packing weights", err));
    return prim_pack(made, data, err);
}

px_status pxi_prim_repack(pxi_prim *prim, const float *weights, const float *bias, px_error *err)
{
    for (int i = 0; prim && i < prim->arg_count; i++) {
        const pxi_prim_arg *arg = &prim->args[i];
        if (arg->slot < 0)
            PX_TRY(prim_pack(arg, arg->arg == DNNL_ARG_BIAS ? bias : weights, err));
    }
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
        status = pxi_append_sum(ops);
    if (status == dnnl_success && act && act->kind != PXI_ACT_NONE) {
        static const dnnl_alg_kind_t kinds[] = {
            [PXI_ACT_RELU] = dnnl_eltwise_relu,        [PXI_ACT_CLIP] = dnnl_eltwise_clip,
            [PXI_ACT_SIGMOID] = dnnl_eltwise_logistic, [PXI_ACT_TANH] = dnnl_eltwise_tanh,
            [PXI_ACT_ELU] = dnnl_eltwise_elu,          [PXI_ACT_HARDSWISH] = dnnl_eltwise_hardswish,
            [PXI_ACT_SILU] = dnnl_eltwise_swish,       [PXI_ACT_GELU] = dnnl_eltwise_gelu_erf,
        };
        const float alpha = act->kind == PXI_ACT_SILU ? 1.0f : act->alpha; /* x sigmoid(alpha x) */
        status = pxi_append_eltwise(ops, kinds[act->kind], alpha, act->beta);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attr, ops);
    if (ops)
        dnnl_post_ops_destroy(ops);
    if (status == dnnl_success)
        *out = attr;
    else if (attr)
        dnnl_primitive_attr_destroy(attr);
    return pxi_prim_check(status, "attributes", err);
}

px_status pxi_prim_build(pxi_prim_maker make, const pxi_prim_request *request, const pxi_act *act,
                         bool adds, pxi_prim **out, px_error *err)
{
    PX_TRY(prim_start(err));
    dnnl_primitive_attr_t attr = NULL;
    pxi_prim *prim = pxi_calloc(1, sizeof *prim);
    px_status status = prim ? prim_attr(act, adds, &attr, err) : pxi_no_memory(err);
    PX_THEN(status, make(prim, request, attr, err));
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    for (int i = 0; prim && i < prim->md_count; i++)
        pxi_md_free(prim->mds[i]);
    if (prim && prim->hint)
        dnnl_primitive_desc_destroy(prim->hint);
    return PX_GIVE(status, prim, out, pxi_prim_free);
}

void pxi_prim_free(pxi_prim *prim)
{
    if (!prim)
        return;
    for (int i = 0; i < prim->arg_count; i++) {
        if (prim->args[i].constant)
            dnnl_memory_destroy(prim->args[i].constant);
        if (prim->args[i].pack)
            dnnl_primitive_destroy(prim->args[i].pack);
    }
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
    return prim->packed_arg ? prim->packed_offset + prim->packed_bytes : prim->scratch_bytes;
}

const char *pxi_prim_name(const pxi_prim *prim)
{
    return prim->name;
}

px_status pxi_bound_new(const pxi_prim *prim, void *stream, void *const *slots, void *scratch,
                        pxi_bound **out, px_error *err)
{
    pxi_bound *bound = NULL;
    PX_TRY(PX_NEW(bound, 1, err));
    bound->prim = prim;
    bound->stream = stream;
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i <= prim->arg_count && status == dnnl_success; i++) {
        const bool last = i == prim->arg_count;
        if (last && !prim->scratch_bytes)
            break;
        const pxi_prim_arg *arg = last ? NULL : &prim->args[i];
        dnnl_exec_arg_t *made = &bound->args[bound->count];
        made->arg = last ? DNNL_ARG_SCRATCHPAD : arg->arg;
        if (arg && arg->slot < 0) {
            made->memory = arg->constant;
        } else {
            status = dnnl_memory_create(&made->memory, prim_md(prim->primitive, made->arg),
                                        prim_engine, last ? scratch : slots[arg->slot]);
            bound->owned[bound->count] = status == dnnl_success;
        }
        bound->count += status == dnnl_success;
    }
    if (prim->packed_arg && status == dnnl_success) {
        dnnl_exec_arg_t *packed = &bound->args[bound->count];
        void *result = slots[prim->packed_slot];
        packed->arg = prim->packed_arg;
        status = dnnl_memory_create(
            &packed->memory, prim_md(prim->primitive, packed->arg), prim_engine,
            result && !prim->unpack ? result : (char *)scratch + prim->packed_offset);
        bound->owned[bound->count] = status == dnnl_success;
        bound->count += status == dnnl_success;
        if (status == dnnl_success && result && prim->unpack)
            status = dnnl_memory_create(&bound->unpacked, prim_md(prim->unpack, DNNL_ARG_TO),
                                        prim_engine, result);
    }
    if (status != dnnl_success) {
        pxi_bound_free(bound);
        return pxi_prim_check(status, "binding memory", err);
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
    return pxi_prim_check(status, bound->prim->name, err);
}

px_status pxi_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c,
                    px_error *err)
{
    return pxi_prim_check(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n), "sgemm",
                          err);
}

px_status pxi_sgemm_nt(int64_t m, int64_t n, int64_t k, float alpha, const float *a, const float *b,
                       float beta, float *c, px_error *err)
{
    const int before = pxi_one_thread_begin();
    const dnnl_status_t done = dnnl_sgemm('N', 'T', m, n, k, alpha, a, k, b, k, beta, c, n);
    pxi_one_thread_end(before);
    return pxi_prim_check(done, "sgemm", err);
}

px_status pxi_sgemm_rows(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                         const float *a, int64_t a_row, const float *b, int64_t b_row, float beta,
                         float *c, int64_t c_row, px_error *err)
{
    const int before = pxi_one_thread_begin();
    const dnnl_status_t done = dnnl_sgemm(trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', m, n, k, 1.0f,
                                          a, a_row, b, b_row, beta, c, c_row);
    pxi_one_thread_end(before);
    return pxi_prim_check(done, "sgemm", err);
}
