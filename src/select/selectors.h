/* src/select/selectors.h - X(id) per selector px_selector_<id>, in the order of `list selectors` */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_SELECT_SELECTORS_H
#define PXI_SELECT_SELECTORS_H

#include <plexor/select.h>

/* About how neurons react, chance to compare with, and plexor's own. */
#define PXI_SELECTORS_OWN(X) \
    X(nss)                   \
    X(random)                \
    X(wobble)

/* What inputs cover that none before them did. */
#define PXI_SELECTORS_GUIDED(X) \
    X(nac)                      \
    X(kmnc)                     \
    X(npc)

/* How far traces are from those of training data. */
#define PXI_SELECTORS_SURPRISE(X) \
    X(dsa)                        \
    X(lsa)                        \
    X(mdsa)                       \
    X(mlsa)                       \
    X(mmdsa)

/* How unsure the network is. */
#define PXI_SELECTORS_UNSURE(X) \
    X(softmax)                  \
    X(entropy)                  \
    X(pcs)                      \
    X(gini)                     \
    X(internal_gini)            \
    X(mc_dropout)               \
    X(ats)

/* How predictions react to changed networks and inputs. */
#define PXI_SELECTORS_MUTANTS(X) X(prima)

#define PXI_SELECTORS(X)      \
    PXI_SELECTORS_OWN(X)      \
    PXI_SELECTORS_GUIDED(X)   \
    PXI_SELECTORS_SURPRISE(X) \
    PXI_SELECTORS_UNSURE(X)   \
    PXI_SELECTORS_MUTANTS(X)

#define PXI_SELECTOR_DECLARE(id) extern const px_selector px_selector_##id;
PXI_SELECTORS(PXI_SELECTOR_DECLARE)
#undef PXI_SELECTOR_DECLARE

#endif
