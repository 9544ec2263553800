/* src/base/wide.h - a loop compiled for several vector widths
 *
 *     PXI_WIDE static void sums(const float *a, float *b, size_t count)
 *
 * The version for this machine is chosen when the program is loaded. With PXI_WIDE all of them give
 * the same bits, as long as nothing is summed across lanes: products and sums are not fused (gcc in
 * C17 mode; clang is told so where it matters). PXI_WIDE_FUSED is for loops that have them fused
 * (fp-contract=fast), and so have other last digits on machines that cannot.
 *
 * Other processors and compilers have the one version that they make by themselves.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_WIDE_H
#define PXI_BASE_WIDE_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PXI_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#define PXI_WIDE_FUSED __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define PXI_WIDE
#define PXI_WIDE_FUSED
#endif

#endif
