/* src/attack/pgd.c - PGD: small steps up the loss from a random point of the ball
 *
 * Madry et al., Towards Deep Learning Models Resistant to Adversarial Attacks, ICLR 2018. Of
 * several starts the first that reaches the goal is kept, else the one with the largest final loss
 * (spec E.3). The defaults are Foolbox's: 40 steps of eps/30, for L2 50 of eps/40.
 */
#include "attack/methods.h"

const pxi_attack_method pxi_attack_pgd = {
    .shown = {.id = "pgd",
              .title = "small steps up the loss, from random starts, within eps",
              .source = "Madry et al., ICLR 2018",
              .norms = {PX_NORM_LINF, PX_NORM_L2},
              .bounded = true,
              .iterates = true,
              .restarts = true},
    .steps = 40,
    .steps_l2 = 50,
    .share = 1.0 / 30,
    .share_l2 = 0.025,
    .seed = pxi_descent_seed,
    .gradient = pxi_descent_step,
};
