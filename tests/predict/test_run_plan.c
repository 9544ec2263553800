/* tests/predict/test_run_plan.c - what follows from two short runs, worked by hand */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <internal/run_plan.h>
#include <math.h>

static const px_run_sample few = {.inputs = 1000,
                                  .divided_s = 1.0,
                                  .own_s = 0.6,
                                  .processor_s = 1.6,
                                  .memory = 20e6,
                                  .traffic = 40e3},
                           more = {.inputs = 3000,
                                   .divided_s = 3.0,
                                   .own_s = 0.8,
                                   .processor_s = 3.8,
                                   .memory = 22e6,
                                   .traffic = 120e3};

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected) + 1e-12))
        fail_msg("%g instead of %g", value, expected);
}

static void test_lines(void **state)
{
    (void)state;
    const px_run_cost cost = px_run_cost_fit(&few, &more);
    near(cost.divided_s.slope, 1e-3);
    near(cost.divided_s.base, 0.0);
    near(cost.own_s.slope, 1e-4);
    near(cost.own_s.base, 0.5);
    near(cost.memory.slope, 1e3);
    near(cost.memory.base, 19e6);
    near(cost.traffic.slope, 40.0);
    /* A longer run that took less: constant, and not faster with more inputs. */
    px_run_sample less = more;
    less.own_s = 0.2;
    const px_run_cost flat = px_run_cost_fit(&few, &less);
    near(flat.own_s.slope, 0.0);
    near(flat.own_s.base, 0.2);
}

static void test_predictions(void **state)
{
    (void)state;
    px_run_cost cost = px_run_cost_fit(&few, &more);
    px_run_aim aim = {.images = 1024000, .ranks = 1, .network = 1e6};
    px_run_prediction p = px_run_predict(&cost, &aim);
    near(p.divided_s, 1024.0);
    near(p.own_s, 102.9);
    near(p.network_s, 0.0);
    near(p.seconds, 1126.9);
    near(p.speedup, 1.0);
    near(p.memory, 19e6 + 1024e6);
    aim.ranks = 4;
    p = px_run_predict(&cost, &aim);
    near(p.divided_s, 256.0);
    near(p.traffic, 1024000 * 40.0 * 3 / 4);
    near(p.network_s, 30.72);
    near(p.speedup, 1126.9 / (256.0 + 102.9 + 30.72));
    near(p.memory, 19e6 + 1024e6 + 40.96e6 / 4 + 2 * 40.96e6);
    near(p.processor_s, (1024000 * 1.1e-3 + 0.5) * (1 + 3 * 102.9 / 1126.9));
    /* Blocks of 256 are not cut: 3 of them take two ranks as long as two. */
    aim = (px_run_aim){.images = 768, .ranks = 2};
    p = px_run_predict(&cost, &aim);
    near(p.divided_s, 0.768 * 2 / 3);
    /* Data of which the folder has a tenth take ten times as long to list. */
    cost.open_s = 0.3;
    cost.open_inputs = 102400;
    aim = (px_run_aim){.images = 1024000, .ranks = 1};
    near(px_run_predict(&cost, &aim).own_s, 102.9 + 2.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_predictions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
