/* include/internal/arch.h - the zoo: known networks, made from nothing
 *
 *     px_arch_options options = px_arch_options_default();
 *     options.classes = 7;                            // the rest as the architecture has it
 *     options.seed = 1;
 *     px_arch_build("resnet20", &options, &model, &err);
 *
 * Names are those of `plexor list archs`; numbers in a family's name may be others ("mlp-3x50",
 * "resnet44"). Every network has one input "input", [N, channels, height, width], an inner tensor
 * "logits", and one output "probs", its softmax, [N, classes]. docs/zoo.md says where each comes
 * from.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_ARCH_H
#define PXI_INTERNAL_ARCH_H

#include <plexor/graph.h>
#include <plexor/registry.h>

PX_BEGIN_DECLS

typedef struct px_arch {
    px_entry entry;                       /* "mlp-5x30" */
    const char *family;                   /* "mlp-DxW"; NULL: it stands alone */
    int channels, height, width, classes; /* what it was made for */
} px_arch;

/* What `plexor list archs` shows. */
PX_REGISTRY(pxi_archs, px_arch, px_arch)

typedef struct px_arch_options {
    int64_t channels, height, width, classes; /* 0: what the architecture was made for */
    uint64_t seed;                            /* of the weights */
    double dropout; /* negative: the architecture's own rates; 0: none; else the rate of all */
} px_arch_options;

px_arch_options px_arch_options_default(void); /* its own size and rates, seed 0 */

/* Makes the network with fresh weights, drawn from PX_RNG_INIT with the weight's position as the
 * item, as the framework it comes from would draw them. The caller owns *out. PX_E_USAGE: no such
 * name, or an impossible option; PX_E_INPUT: an image that is too small for it (the message says
 * which is large enough); PX_E_UNSUPPORTED: more weights than an ONNX file holds. `options` may be
 * NULL. */
px_status px_arch_build(const char *name, const px_arch_options *options, px_model **out,
                        px_error *err);

/* How many parameters and running statistics (may be NULL) it would have; makes nothing. */
px_status px_arch_parameters(const char *name, const px_arch_options *options, int64_t *parameters,
                             int64_t *statistics, px_error *err);

PX_END_DECLS
#endif
