/* src/cli/fuzz_figures.h - figures of a campaign in few columns */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_FUZZ_FIGURES_H
#define PLEXOR_FUZZ_FIGURES_H

#include <plexor/cover.h>
#include <stdint.h>

/* Each writes into `buffer` and returns it. */
#define FUZZ_FIGURE 48

/* In at most five columns: "99999", "123k", "1.23M", "-12.3G". */
const char *fuzz_short(int64_t value, char buffer[FUZZ_FIGURE]);
/* "0.52", "12.3", "2,310"; "-" for what is no number. */
const char *fuzz_rate(double per_s, char buffer[FUZZ_FIGURE]);
/* "33.3%"; "-" of nothing. */
const char *fuzz_share(int64_t part, int64_t whole, char buffer[FUZZ_FIGURE]);
/* "34.21%" where it is a share, else a number. */
const char *fuzz_coverage(const px_coverage *coverage, char buffer[FUZZ_FIGURE]);
/* "3 hrs, 4 min, 43 sec", and "3:04:43"; from a day on "2 days, 3 hrs, 4 min", "2d 03:04:43". */
const char *fuzz_time(double seconds, char buffer[FUZZ_FIGURE]);
const char *fuzz_time_short(double seconds, char buffer[FUZZ_FIGURE]);

#endif
