/* src/engine/prim_internal.h - the inside of a prim, for the files that make one with oneDNN
 *
 * Only prim*.c include this, and with it dnnl.h.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ENGINE_PRIM_INTERNAL_H
#define PXI_ENGINE_PRIM_INTERNAL_H

#include "engine/prim.h"
#include "engine/prim_api.h"

enum { PRIM_MAX_ARGS = 6, PRIM_MAX_MDS = 6 };

/* Memory descriptors are asked of the primitive when they are wanted: they live as long as it. */
typedef struct pxi_prim_arg {
    int arg;  /* DNNL_ARG_... */
    int slot; /* >= 0: given when bound; -1: `constant` */
    dnnl_memory_t constant;
    dnnl_primitive_t pack; /* puts what is given in the kernel's order */
} pxi_prim_arg;

struct pxi_prim {
    dnnl_primitive_t primitive;
    int arg_count;
    pxi_prim_arg args[PRIM_MAX_ARGS];
    size_t scratch_bytes;
    /* A result that the kernel writes in an order of its own goes to scratch memory and from there,
     * put in order, to its slot, unless nobody wants it. */
    int packed_arg, packed_slot; /* arg 0: there is none */
    dnnl_primitive_t unpack;     /* NULL: the kernel's order is the plain one */
    size_t packed_offset, packed_bytes;
    char name[64];
    /* While it is made: what pxi_prim_build() frees at its end. */
    pxi_md mds[PRIM_MAX_MDS];
    int md_count;
    dnnl_primitive_desc_t hint;
};

/* What a maker needs to know; each reads its own part. */
typedef struct pxi_prim_request {
    const pxi_conv_shape *shape;
    int64_t batch, m, k, n;
    const float *weights, *bias;
    bool with_bias, trans_a, trans_b;
} pxi_prim_request;

typedef px_status (*pxi_prim_maker)(pxi_prim *prim, const pxi_prim_request *request,
                                    const_dnnl_primitive_attr_t attr, px_error *err);

/* A prim from its maker, with post-ops and the caller's scratch memory. */
px_status pxi_prim_build(pxi_prim_maker make, const pxi_prim_request *request, const pxi_act *act,
                         bool adds, pxi_prim **out, px_error *err);

dnnl_engine_t pxi_prim_engine(void); /* started by pxi_prim_build() */

/* A oneDNN status as ours; `what` it was about. */
px_status pxi_prim_check(dnnl_status_t status, const char *what, px_error *err);

/* A memory descriptor in float32 that lives until the maker returns. */
px_status pxi_prim_md(pxi_prim *prim, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag,
                      pxi_const_md *out, px_error *err);

/* The first of `impls` whose name contains `preferred` (may be NULL), else the first that is not
 * oneDNN's reference loop. `made`: what came of making the list, which is freed. */
px_status pxi_prim_choose(dnnl_status_t made, pxi_impls *impls, const char *preferred,
                          dnnl_primitive_desc_t *out, const char *what, px_error *err);

/* Finishes a prim from a chosen descriptor, which it consumes. */
px_status pxi_prim_finish(pxi_prim *prim, dnnl_primitive_desc_t desc, px_error *err);

/* These come after pxi_prim_finish(). */
void pxi_prim_add_slot(pxi_prim *prim, int arg, int slot);
/* Packs `data` from `plain` order into what the kernel wants. */
px_status pxi_prim_add_constant(pxi_prim *prim, int arg, const float *data, pxi_const_md plain,
                                px_error *err);
/* A result slot in `plain` order that the kernel writes in an order of its own. Its address may be
 * NULL: the kernel writes it all the same. */
px_status pxi_prim_add_result(pxi_prim *prim, int arg, int slot, pxi_const_md plain, px_error *err);

#endif
