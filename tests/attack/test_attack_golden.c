/* tests/attack/test_attack_golden.c - every step of FGSM, BIM and PGD beside PyTorch's
 *
 * make_golden.py makes the values, from the same random starts. Where a gradient was large enough
 * in every step so far (`sure`), pixels are the same; elsewhere its sign is noise in float32, and
 * they may differ by a step.
 */
#include "attack_helpers.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *method;
    px_norm norm;
    double eps, step_size;
    int64_t steps;
} cases[] = {
    {"fgsm_linf", "fgsm", PX_NORM_LINF, 0.05, NAN, 1}, {"fgsm_l2", "fgsm", PX_NORM_L2, 0.5, NAN, 1},
    {"bim_linf", "bim", PX_NORM_LINF, 0.04, 0.015, 4}, {"bim_l2", "bim", PX_NORM_L2, 0.4, 0.15, 4},
    {"pgd_linf", "pgd", PX_NORM_LINF, 0.05, 0.02, 5},  {"pgd_l2", "pgd", PX_NORM_L2, 0.6, 0.2, 5},
};

static const px_tensor *array(const px_npz *npz, const char *name)
{
    const px_tensor *t = px_npz_get(npz, name);
    if (!t)
        fail_msg("golden.npz has no '%s'", name);
    return t;
}

static px_attack_options case_options(size_t i, int64_t steps, results *r)
{
    px_attack_options o = px_attack_options_default();
    o.method = cases[i].method;
    o.norm = cases[i].norm;
    o.eps = cases[i].eps;
    o.step_size = cases[i].step_size;
    o.steps = steps;
    o.keep_float = true;
    o.seed = 7;
    o.threads = 1;
    o.emit = results_keep;
    o.emit_context = r;
    return o;
}

static void test_steps(void **state)
{
    (void)state;
    px_error err = {0};
    px_npz *npz = NULL;
    scene s = net_scene();
    check(px_npz_open(MODELS "/golden.npz", &npz, &err), &err);
    const size_t all = (size_t)NET_ROWS * NET_SIZE;
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        char key[64];
        snprintf(key, sizeof key, "%s.sure", cases[i].name);
        const float *want = array(npz, cases[i].name)->data;
        const uint8_t *sure = array(npz, key)->data;
        size_t sures = 0;
        for (int64_t step = 1; step <= cases[i].steps; step++) {
            results r = results_new(NET_ROWS, NET_SIZE);
            const px_attack_options o = case_options(i, step, &r);
            px_attack *a = attack_well(&s, &o);
            const size_t at = (size_t)(step - 1) * all;
            const double slack = isnan(cases[i].step_size) ? cases[i].eps : cases[i].step_size;
            for (size_t v = 0; v < all; v++) {
                const double got = (double)r.exact[v] / 255.0;
                const double off = fabs(got - (double)want[at + v]);
                if (off > (sure[at + v] ? 2e-6 : 2 * slack + 2e-6))
                    fail_msg("%s, step %d, value %zu: %.7f instead of %.7f", cases[i].name,
                             (int)step, v, got, (double)want[at + v]);
                sures += sure[at + v];
            }
            px_attack_free(a);
            results_free(&r);
        }
        if (sures < all / 2 * (size_t)cases[i].steps)
            fail_msg("%s: only %zu of %zu values are compared in full", cases[i].name, sures,
                     all * (size_t)cases[i].steps);
    }
    px_npz_close(npz);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
