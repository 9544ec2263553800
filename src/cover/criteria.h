/* src/cover/criteria.h - X(id) per criterion px_criterion_<id>, in the order of `list criteria` */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_CRITERIA_H
#define PXI_COVER_CRITERIA_H

#include <plexor/cover.h>

/* About single neurons and layers. */
#define PXI_CRITERIA_NEURONS(X) \
    X(nc)                       \
    X(kmnc)                     \
    X(nbc)                      \
    X(snac)                     \
    X(tknc)                     \
    X(tknp)                     \
    X(cc)                       \
    X(nlc)                      \
    X(nlc_guided)

/* About surprise: how far an input's trace is from those of training data. */
#define PXI_CRITERIA_SURPRISE(X) \
    X(lsc)                       \
    X(dsc)                       \
    X(mdsc)

/* About what passes from layer to layer. */
#define PXI_CRITERIA_PATHS(X) \
    X(snpc)                   \
    X(anpc)                   \
    X(cac)

#define PXI_CRITERIA(X)      \
    PXI_CRITERIA_NEURONS(X)  \
    PXI_CRITERIA_SURPRISE(X) \
    PXI_CRITERIA_PATHS(X)

#define PXI_CRITERION_DECLARE(id) extern const px_criterion px_criterion_##id;
PXI_CRITERIA(PXI_CRITERION_DECLARE)
#undef PXI_CRITERION_DECLARE

/* Bytes of one state where it is much more than a row, 0 elsewhere: threads then take turns on one,
 * which is the same where sums are exact. */
size_t pxi_criterion_state_bytes(const px_criterion *criterion, const void *prepared);

#endif
