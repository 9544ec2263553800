/* tests/ops/op_case.h - one operator, run by itself
 *
 *     static const op_case relu = {
 *         .type = "Relu", .opset = 14, .in = {{.shape = "2,3", .gap = 0.1}}};
 *     op_run run;
 *     if (op_run_init(&run, &relu, 7, &err) == PX_OK && op_run_forward(&run, &err) == PX_OK)
 *         ... run.ctx.out[0] ...
 *     op_run_done(&run);
 *
 * A case is a table row: the operator, its attributes as text, and its inputs as shapes with a
 * range of random values or given ones. No graph, program or plan is involved. The memory an
 * operator may use is allocated to the byte and full of NaN, so that sanitizers and comparisons
 * notice whatever it should not read or forgot to write.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_OPS_OP_CASE_H
#define TESTS_OPS_OP_CASE_H

#include <internal/op.h>

#define OP_CASE_INPUTS 8
#define OP_CASE_OUTPUTS 8

typedef struct op_input {
    const char *shape;  /* "2,3"; "": a scalar; "-": left out; NULL: no more inputs */
    px_dtype dtype;     /* PX_NONE: float32 */
    double low, high;   /* range of random values; both 0: -1 to 1 */
    double gap;         /* random values stay this far from 0, where the kinks are */
    bool distinct;      /* random values differ by (high - low) / count at least, in random order */
    bool constant;      /* setup() sees its values; no gradient is taken */
    const char *values; /* "1 -2.5 nan inf": given ones; a single one fills the tensor */
} op_input;

typedef struct op_case {
    const char *name; /* what a failure says; NULL: the operator's own name */
    const char *type;
    const char *domain; /* NULL: ai.onnx */
    int opset;
    const char
        *attrs; /* "alpha=0.5 axes=[0,1] mode=linear": with '.' a float, a letter: a string */
    op_input in[OP_CASE_INPUTS];
    int outputs;       /* 0: one */
    unsigned left_out; /* bit i: output i is optional and not there */
} op_case;

typedef struct op_run {
    const op_case *test;
    const px_op *op;
    px_node node;
    px_attr attrs[16];
    px_op_ctx ctx;
    px_tensor in[OP_CASE_INPUTS], out[OP_CASE_OUTPUTS];
    px_tensor in_grad[OP_CASE_INPUTS], out_grad[OP_CASE_OUTPUTS];
} op_run;

/* Makes the node and its inputs and calls setup(). op_run_done() is to be called in any case. */
px_status op_run_init(op_run *run, const op_case *test, unsigned seed, px_error *err);
px_status op_run_forward(op_run *run, px_error *err);
/* Fills the outputs' gradients with numbers between -1 and 1, and adds to in_grad, whose data the
 * caller has put there for the inputs that are wanted. */
void op_run_backward(op_run *run, unsigned seed);
void op_run_done(op_run *run);

const char *op_case_name(const op_case *test);

/* Element access for any type but the 16-bit floats. */
double op_get(const px_tensor *tensor, int64_t i);
void op_set(px_tensor *tensor, int64_t i, double value);

/* The numbers in a text, at most `max`; returns how many. */
size_t op_numbers(const char *text, double *numbers, size_t max);

#endif
