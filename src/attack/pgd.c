/* src/attack/pgd.c - PGD: small steps up the loss from a random point of the ball
 *
 * Madry et al., Towards Deep Learning Models Resistant to Adversarial Attacks, ICLR 2018. Of
 * several starts the first that reaches the goal is kept, else the one with the largest final loss
 * (LGR E.3). The defaults are those of their evaluation on CIFAR-10: 20 steps of a quarter of eps.
 * Foolbox's 40 steps of eps/30 do not lead from one side of the ball to the other, and from a
 * random start find less.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attack/methods.h"

const pxi_attack_method pxi_attack_pgd = {
    .shown = {.entry = {.id = "pgd",
                        .title = "small steps up the loss, from random starts, within eps",
                        .source = "Madry et al., ICLR 2018"},
              .norms = {PX_NORM_LINF, PX_NORM_L2},
              .bounded = true,
              .iterates = true,
              .restarts = true},
    .steps = 20,
    .share = 0.25,
    .seed = pxi_descent_seed,
    .gradient = pxi_descent_step,
};
