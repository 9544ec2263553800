/* tests/localize/localize_helpers.h - spectra made by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_LOCALIZE_HELPERS_H
#define TESTS_LOCALIZE_HELPERS_H

#include "cover/cover_helpers.h"

#include "localize/suspicious.h"

/* The example of LGR A.11: eight inputs of class 0, of which the last three fail,
 * through layers of two neurons. `classes` classes, of which the others have no inputs. */
px_spectrum *example_spectrum(int classes);

/* A spectrum of layers of these sizes (0 ends the list), and counts for one class: of each neuron
 * how often it was active on the passing and on the failing inputs. */
px_spectrum *empty_spectrum(const int64_t *sizes, int classes);
void set_class(px_spectrum *spectrum, int c, int64_t passed, int64_t failed, const uint32_t *as,
               const uint32_t *af);

px_suspicious *rank(const px_spectrum *spectrum, const char *measure, int64_t k, bool pooled);
/* "L1:2 L0:0": the neurons of one class, in order. Lasts until the next call. */
const char *neurons_text(const px_suspicious *list, int c);

#endif
