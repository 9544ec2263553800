/* src/attack/bim.c - BIM: FGSM in small steps, each cut back to the ball around the input
 *
 * Kurakin, Goodfellow, Bengio, Adversarial Examples in the Physical World, ICLR workshop 2017. The
 * defaults are Foolbox's: 10 steps of eps/5 (LGR E.2).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/methods.h"

const pxi_attack_method pxi_attack_bim = {
    .shown = {.entry = {.id = "bim",
                        .title = "small steps up the loss, from the input, within eps",
                        .source = "Kurakin et al., ICLR workshop 2017"},
              .norms = {PX_NORM_LINF, PX_NORM_L2},
              .bounded = true,
              .iterates = true},
    .steps = 10,
    .share = 0.2,
    .seed = pxi_descent_seed,
    .gradient = pxi_descent_step,
};
