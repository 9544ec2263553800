/* include/internal/mutation.h - what the files of this room share */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_MUTATION_H
#define PXI_INTERNAL_MUTATION_H

#include "base/wide.h"

#include <plexor/mutate.h>

/* X(id in C), in the order in which they are listed: mutation px_mutation_<id>, in a file mut_*.c
 */
#define PX_MUTATIONS(X) \
    X(shift)            \
    X(rotation)         \
    X(scale)            \
    X(shear)            \
    X(contrast)         \
    X(brightness)       \
    X(blur)             \
    X(cv_translation)   \
    X(cv_scale)         \
    X(cv_shear)         \
    X(cv_rotation)      \
    X(cv_contrast)      \
    X(cv_brightness)    \
    X(cv_blur)          \
    X(pixel_change)     \
    X(noise)            \
    X(white_noise)      \
    X(style)            \
    X(audio_noise)      \
    X(audio_gain)       \
    X(audio_shift)      \
    X(audio_mask)

/* Values of a drawn mutation lie in an array, in the order of the table. */
#define PXI_DRAWN_REAL(id, min_, max_, help_)                       \
    {                                                               \
        .name = (id), .min = (min_), .max = (max_), .help = (help_) \
    }
#define PXI_DRAWN_INT(id, min_, max_, help_)                                             \
    {                                                                                    \
        .name = (id), .min = (min_), .max = (max_), .type = PX_TYPE_INT, .help = (help_) \
    }
#define PXI_DRAWN_CHOICE(id, choices_, help_)                                        \
    {                                                                                \
        .name = (id), .type = PX_TYPE_CHOICE, .choices = (choices_), .help = (help_) \
    }

#define PX_MUTATION_DECLARE(id) extern const px_mutation px_mutation_##id;
PX_MUTATIONS(PX_MUTATION_DECLARE)
#undef PX_MUTATION_DECLARE

/* X(id in C): set pxi_mutation_set_<id>, in a file set_*.c */
#define PX_MUTATION_SETS(X) \
    X(nss)                  \
    X(deephunter)           \
    X(nsgen)                \
    X(nsgen_style)          \
    X(tensorfuzz)           \
    X(tensorfuzz_free)      \
    X(audio)

#define PX_MUTATION_SET_DECLARE(id) extern const px_mutation_set pxi_mutation_set_##id;
PX_MUTATION_SETS(PX_MUTATION_SET_DECLARE)
#undef PX_MUTATION_SET_DECLARE

/* The set of a mutation that a program has added: it alone, over the ranges of its settings. */
px_status pxi_mutation_set_add(const px_mutation *mutation, px_error *err);

/* Products and sums are not fused, whatever the machine: -std=c17 sees to that with gcc. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* To whole levels: halves up. What should be a half but came out a few last digits below it is one
 * too: so no order of operations decides a pixel, and any other implementation in double agrees. */
#define PXI_HALF_UP (0.5 + 0x1p-30)

/* With clipping. `v` is a number. */
static inline uint8_t pxi_level(double v)
{
    const double up = v + PXI_HALF_UP;
    return up < 1.0 ? 0 : up >= 255.0 ? 255 : (uint8_t)up;
}

/* Halves to even, for |v| < 2^51: OpenCV's cvRound(). */
static inline double pxi_round_even(double v)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: leaves no bits below one */
    return (v + magic) - magic;
}

/* Index i of a line of n values mirrored at its first and last value, which are not repeated:
 * OpenCV's BORDER_REFLECT_101. Lines shorter than the reach are mirrored again and again. */
static inline int pxi_reflect(int i, int n)
{
    if (n == 1)
        return 0;
    while (i < 0 || i >= n)
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
}

#endif
