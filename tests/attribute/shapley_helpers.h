/* tests/attribute/shapley_helpers.h - small networks whose coalitions can all be tried */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_LOCALIZE_SHAPLEY_HELPERS_H
#define TESTS_LOCALIZE_SHAPLEY_HELPERS_H

#include <internal/shapley.h>

#include "engine/net.h"

/* The example of LGR B.11: three hidden neurons, two classes. */
typedef struct worked_example {
    px_model *model;
    px_shapley *s;
    px_shapley_pair pair;
} worked_example;
worked_example worked_open(int threads);
void worked_close(worked_example *example);

/* Random networks of several forms, of one to three hidden layers with at most 6 channels each. */
enum { SMALL_FORMS = 7, SMALL_INPUT = 64 };
px_model *small_model(int form, uint64_t seed);
const char *small_form(int form);
px_shapley *small_shapley(const px_model *model, int threads);

/* Two inputs and a label by a number. */
typedef struct small_pair {
    float x[SMALL_INPUT], moved[SMALL_INPUT];
    px_shapley_pair pair;
} small_pair;
void small_pair_init(small_pair *made, const px_shapley *s, uint64_t seed);

/* u of the coalition `bits` of a layer, by running the whole network with a gate at the layer. */
double gated_utility(const px_model *model, const px_shapley *s, size_t layer,
                     const px_shapley_pair *pair, uint32_t bits);

#endif
