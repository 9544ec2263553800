/* src/train/optimizer_kind.h - what one optimiser is made of
 *
 * To add one: write its file with the descriptor at the end, add its id to the list below, its rows
 * to tests/train/golden/make_optimizers.py, and its formula to docs/train.md.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TRAIN_OPTIMIZER_KIND_H
#define PXI_TRAIN_OPTIMIZER_KIND_H

#include "base/wide.h"

#include <internal/optimizer.h>

/* Kernels are PXI_WIDE: element-wise with correctly rounded operations only (no contraction, no
 * approximations), so that neither the split nor the vector width changes a bit. */

enum { PXI_OPTIMIZER_SLOTS = 3 };

/* Every optimiser's first two settings; its own come after. */
enum { PXI_SET_DECAY, PXI_SET_DECAY_ALL, PXI_SET_OWN };
#define PXI_SETTINGS_DECAY(standard_decay)                                                \
    {.name = "decay", .standard = (standard_decay), .most = 1e6, .help = "weight decay"}, \
    {                                                                                     \
        .name = "decay-all", .standard = 1, .most = 1, .whole = true,                     \
        .help = "0: tensors of rank 0 and 1 (biases, normalisation) do not decay",        \
    }

typedef struct pxi_motion { /* one step, as one tensor goes through it */
    double lr, scale, decay;
    double momentum;   /* NaN: the setting's */
    int64_t step;      /* from 1 */
    const double *own; /* the optimiser's own settings */
} pxi_motion;

typedef struct pxi_optimizer_kind {
    px_choice choice;
    const char *slots[PXI_OPTIMIZER_SLOTS]; /* names of the state that elements may have */
    double (*initial)(const double *own);   /* of every slot; NULL: 0 */
    bool (*has_slot)(const double *own, int slot);
    int momentum; /* the slot that px_pace.momentum is about; -1: none */
    /* Moves `count` elements; a slot that is not there is NULL. */
    void (*move)(const pxi_motion *motion, size_t count, float *weights, const float *gradient,
                 float *const slots[PXI_OPTIMIZER_SLOTS]);
} pxi_optimizer_kind;

#define PXI_OPTIMIZERS(X) X(sgd) X(adam) X(adamw) X(rmsprop) X(adagrad)

#define PXI_OPTIMIZER_DECLARE(id) extern const pxi_optimizer_kind pxi_optimizer_##id;
PXI_OPTIMIZERS(PXI_OPTIMIZER_DECLARE)
#undef PXI_OPTIMIZER_DECLARE

#endif
