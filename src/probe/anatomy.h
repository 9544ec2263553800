/* src/probe/anatomy.h - what each node of a network is there for
 *
 * Works on a program (a graph specialised to one sample): dead nodes are gone and constants are
 * known, so a weight is a weight even where an exporter computes it. Every array is indexed by
 * value, `part` by step.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PROBE_ANATOMY_H
#define PXI_PROBE_ANATOMY_H

#include <internal/program.h>

typedef enum pxi_part {
    PXI_PART_OTHER = 0,
    PXI_PART_LINEAR,     /* Conv, ConvTranspose; Gemm and MatMul with constant weights */
    PXI_PART_RECURRENT,  /* RNN, GRU, LSTM */
    PXI_PART_ACTIVATION, /* Relu ... and Max/Min with a constant number */
    PXI_PART_POINTWISE,  /* arithmetic: part of an activation where it works on one tensor alone */
    PXI_PART_NORM,       /* BatchNormalization, InstanceNormalization, LayerNormalization ... */
    PXI_PART_AFFINE,     /* Add, Sub, Mul, Div with a constant that is not a single number */
    PXI_PART_JOIN,       /* Add or Sum of two and more tensors */
    PXI_PART_PASS,       /* Identity, Dropout, Cast */
    PXI_PART_AXES,       /* Transpose, Squeeze, Unsqueeze */
    PXI_PART_RESHAPE,    /* Reshape, Flatten */
    PXI_PART_POOL,       /* MaxPool ..., ReduceMean and ReduceMax that drop or shrink space */
    PXI_PART_SAME_AXES,  /* Pad, LRN, Concat, Slice, Resize: another extent, the same axes */
    PXI_PART_SOFTMAX,
} pxi_part;

typedef struct pxi_anatomy {
    const px_graph *graph;
    const pxi_program *program;
    pxi_part *part;
    int *use_start, *uses; /* steps that read value v: uses[use_start[v] .. use_start[v + 1]) */
    bool *is_output;       /* of the graph */
    int *depth;            /* nodes on the longest way from an input */
    int *channel;          /* axis of the channels; -1: no telling */
    int *root;    /* v is a function of this one tensor, element by element; v itself if of none */
    bool *active; /* an activation function was applied between root and v */
    bool *post;   /* the activation's final value: a layer */
    bool *reach;  /* an activation follows through normalisation, Add, Identity, Dropout alone */
    int *own;     /* the linear operator's output behind it, by the same steps; -1: none */
} pxi_anatomy;

/* Everything lives in `arena` and borrows `program`. */
px_status pxi_anatomy_init(pxi_anatomy *anatomy, const pxi_program *program, px_arena *arena,
                           px_error *err);

static inline const px_tensor *pxi_anatomy_tensor(const pxi_anatomy *a, int value)
{
    return &a->program->slots[value].tensor;
}

/* The step that makes a value; NULL for feeds and constants. */
static inline const pxi_step *pxi_anatomy_maker(const pxi_anatomy *a, int value)
{
    const int step = a->program->slots[value].producer;
    return step < 0 ? NULL : &a->program->steps[step];
}

static inline pxi_part pxi_anatomy_part(const pxi_anatomy *a, int value)
{
    const int step = a->program->slots[value].producer;
    return step < 0 ? PXI_PART_OTHER : a->part[step];
}

static inline bool pxi_anatomy_constant(const pxi_anatomy *a, int value)
{
    return a->program->slots[value].tensor.data != NULL;
}

/* The only step that reads `value`, if it has exactly one reader and is no graph output; -1. */
int pxi_anatomy_only_use(const pxi_anatomy *a, int value);

/* The i-th input that is there and not constant; -1. */
int pxi_anatomy_operand(const pxi_anatomy *a, const pxi_step *step, int i);

#endif
