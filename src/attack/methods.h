/* src/attack/methods.h - X(id) per attack pxi_attack_<id>, in the order of `list attacks`
 *
 * To add one: end its file with `const pxi_attack_method pxi_attack_ID = {...};` and add X(ID).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ATTACK_METHODS_H
#define PXI_ATTACK_METHODS_H

#include "attack/attack_internal.h"

#define PXI_ATTACKS(X) \
    X(fgsm)            \
    X(bim)             \
    X(pgd)             \
    X(deepfool)        \
    X(jsma)

#define PXI_ATTACK_DECLARE(id) extern const pxi_attack_method pxi_attack_##id;
PXI_ATTACKS(PXI_ATTACK_DECLARE)
#undef PXI_ATTACK_DECLARE

#endif
