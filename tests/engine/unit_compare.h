/* tests/engine/unit_compare.h - fast kernels against the plain C operators, case by case
 *
 * Each case is a small network, compiled twice: `reference` and not. Results, the gradient of the
 * input and the gradients of all weights have to agree, and one sample's row must be the same to
 * the bit whatever the micro-batch. Shapes are drawn at random, so that strips, tails and borders
 * of every kernel are met.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_COMPARE_H
#define TESTS_UNIT_COMPARE_H

#include "cmocka_all.h"
#include "net.h"

#include <plexor/graph.h>

/* Fails, naming `what`, where the two differ. Frees the model. */
void compare(px_model *model, const char *what);

extern uint64_t draw_state;  /* a test sets it, so that its cases are always the same */
int draw(int low, int high); /* inclusive */

extern const char *const activations[8][2]; /* type and attributes; the first is none */
int add_activation(net *n, int value, int which);
int add_norm(net *n, int value, int channels);

#endif
