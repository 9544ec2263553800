/* src/mutate/plain_math.h - elementary functions with the same bits everywhere
 *
 * Additions, multiplications, divisions and square roots only, each rounded as IEEE 754 says, so a
 * C library's last digit never decides a pixel. Errors are a few units in the last place.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_MUTATE_PLAIN_MATH_H
#define PXI_MUTATE_PLAIN_MATH_H

#include <internal/rng.h>

/* |degrees| <= 1e6; exact at multiples of 90. */
void pxi_sin_cos_degrees(double degrees, double *sine, double *cosine);
double pxi_exp(double x); /* x <= 0; 0 below -700 */
double pxi_log(double x); /* x positive and normal */

/* The next normal numbers of a stream: as px_rng_normal() draws them, with these. */
enum { PXI_NORMALS = 256 }; /* as many as are worth asking for at once, and the most */
void pxi_normals(px_random *random, double *out, size_t count);

#endif
