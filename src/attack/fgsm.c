/* src/attack/fgsm.c - FGSM: x' = clip(x + eps sign(g)), g the gradient of the loss
 *
 * Goodfellow, Shlens, Szegedy, Explaining and Harnessing Adversarial Examples, ICLR 2015. With L2
 * it is eps g/|g|; where there is no gradient the input stays as it is (LGR E.1).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/methods.h"

const pxi_attack_method pxi_attack_fgsm = {
    .shown = {.entry = {.id = "fgsm",
                        .title = "one step of length eps up the loss",
                        .source = "Goodfellow et al., ICLR 2015"},
              .norms = {PX_NORM_LINF, PX_NORM_L2},
              .bounded = true},
    .steps = 1,
    .share = 1.0,
    .seed = pxi_descent_seed,
    .gradient = pxi_descent_step,
};
