/* tests/train/test_optimizer.c - optimisers against PyTorch, by pieces, through checkpoints */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/optimizer.h>
#include <internal/rng.h>
#include <math.h>
#include <string.h>

#include "golden/golden_optimizers.h"

static const px_shape golden_shapes[] = {{.rank = 2, .dim = {3, 5}}, {.rank = 1, .dim = {5}}};
enum { TENSORS = 2, ELEMENTS = 20, STEPS = PX_LEN(golden_rates) };
static const size_t golden_first[] = {0, 15}; /* of each tensor among the elements */

static px_optimizer *make(const char *spec, const px_shape *shapes, size_t count)
{
    px_optimizer *opt = NULL;
    px_error err = {0};
    if (px_optimizer_new(spec, shapes, count, &opt, &err) != PX_OK)
        fail_msg("'%s': %s", spec, err.message);
    return opt;
}

static px_pace rate(double lr)
{
    return (px_pace){.lr = lr, .momentum = NAN};
}

static void move_all(px_optimizer *opt, float *weights, const float *gradients)
{
    for (size_t i = 0; i < px_optimizer_piece_count(opt); i++) {
        const px_piece piece = px_optimizer_piece(opt, i);
        px_optimizer_move(opt, piece, weights + golden_first[piece.tensor],
                          gradients + golden_first[piece.tensor]);
    }
}

/* One step of the golden runs, with gradients that are too large by 1 / scale. */
static void golden_step(px_optimizer *opt, size_t step, float *weights, float scale)
{
    float gradients[ELEMENTS];
    for (size_t i = 0; i < ELEMENTS; i++)
        gradients[i] = (float)golden_gradients[step * ELEMENTS + i] / scale;
    px_optimizer_begin(opt, rate(golden_rates[step]), (double)scale);
    move_all(opt, weights, gradients);
}

static void golden_begin(float *weights)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        weights[i] = (float)golden_start[i];
}

static void test_torch(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(golden_optimizers); k++)
        for (int halved = 0; halved < 2; halved++) { /* a scale, powers of two being exact */
            px_optimizer *opt = make(golden_optimizers[k].spec, golden_shapes, TENSORS);
            float weights[ELEMENTS];
            golden_begin(weights);
            for (size_t step = 0; step < STEPS; step++) {
                golden_step(opt, step, weights, halved ? 0.5f : 1.0f);
                for (size_t i = 0; i < ELEMENTS; i++) {
                    const double want = golden_optimizers[k].weights[step * ELEMENTS + i];
                    const double size = fmax(fabs(want), fabs(golden_start[i]));
                    if (!(fabs((double)weights[i] - want) <= 1e-6 * size))
                        fail_msg("'%s', step %zu, element %zu: %.9g, PyTorch has %.9g",
                                 golden_optimizers[k].spec, step, i, (double)weights[i], want);
                }
            }
            px_optimizer_free(opt);
        }
}

/* The numbers of LGR F.2: f = p^2 / 2 from p = 1. */
static void test_by_hand(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double lr, p[3];
    } cases[] = {
        {"sgd:momentum=0.9,nesterov=1", 0.1, {0.81, 0.5751, 0.327321}},
        {"adamw:decay=0.01", 1e-3, {0.99899000, 0.99798004, NAN}},
        /* a = 0.1, p = 1 - 0.01 / (sqrt(0.1) + 1e-7), and so on */
        {"rmsprop", 0.01, {0.968377233398, 0.945788039885, NAN}},
        {"adagrad", 0.5, {0.50000000005, 0.276393202302, NAN}},
    };
    const px_shape one = {.rank = 1, .dim = {1}};
    for (size_t k = 0; k < PX_LEN(cases); k++) {
        px_optimizer *opt = make(cases[k].spec, &one, 1);
        float p = 1.0f;
        for (int step = 0; step < 3 && !isnan(cases[k].p[step]); step++) {
            const float gradient = p;
            px_optimizer_begin(opt, rate(cases[k].lr), 1.0);
            px_optimizer_move(opt, (px_piece){0, 0, 1}, &p, &gradient);
            if (!(fabs((double)p - cases[k].p[step]) < 1e-7))
                fail_msg("'%s', step %d: %.9g", cases[k].spec, step, (double)p);
        }
        px_optimizer_free(opt);
    }
}

/* Every optimiser with every kind of state, on tensors of awkward sizes. */
static const char *const thorough[] = {
    "sgd:decay=0.01",
    "sgd:momentum=0.9,decay=0.01",
    "sgd:momentum=0.9,nesterov=1",
    "adam:decay=0.01",
    "adam:amsgrad=1",
    "adamw",
    "adamw:amsgrad=1,decay-all=0",
    "rmsprop:decay=0.01",
    "rmsprop:centered=1,momentum=0.9",
    "rmsprop:inside=1",
    "adagrad:initial=0.1",
};
static const px_shape odd_shapes[] = {
    {.rank = 2, .dim = {331, 113}}, /* 37,403: several pieces */
    {.rank = 0},
    {.rank = 1, .dim = {0}},
    {.rank = 3, .dim = {7, 3, 1}},
};
enum { ODD_TENSORS = 4, ODD_ELEMENTS = 37403 + 1 + 0 + 21 };
static const size_t odd_first[] = {0, 37403, 37404, 37404};
static const size_t odd_count[] = {37403, 1, 0, 21};

static void odd_numbers(float *numbers, uint32_t item)
{
    px_random r = px_rng(1, PX_RNG_TEST, item, 0);
    for (size_t i = 0; i < ODD_ELEMENTS; i++)
        numbers[i] = (float)px_rng_normal(&r);
}

/* Ends a piece after `cut` elements, the next one after 2 `cut` + 1, and so on; back to front. */
static void move_cut(px_optimizer *opt, size_t cut, float *weights, const float *gradients)
{
    for (size_t t = 0; t < ODD_TENSORS; t++)
        for (size_t end = odd_count[t], size = cut; end > 0; size = 2 * size + 1) {
            const size_t count = size < end ? size : end;
            end -= count;
            px_optimizer_move(opt, (px_piece){t, end, count}, weights + odd_first[t],
                              gradients + odd_first[t]);
        }
}

static void test_any_split_gives_the_same_bits(void **state)
{
    (void)state;
    static float start[ODD_ELEMENTS], whole[ODD_ELEMENTS], cut[ODD_ELEMENTS], g[ODD_ELEMENTS];
    odd_numbers(start, 0);
    for (size_t k = 0; k < PX_LEN(thorough); k++)
        for (size_t size = 1; size <= 4096; size *= 16) {
            px_optimizer *a = make(thorough[k], odd_shapes, ODD_TENSORS);
            px_optimizer *b = make(thorough[k], odd_shapes, ODD_TENSORS);
            memcpy(whole, start, sizeof whole);
            memcpy(cut, start, sizeof cut);
            for (uint32_t step = 1; step < 4; step++) {
                odd_numbers(g, step);
                px_optimizer_begin(a, rate(0.01), 1.0);
                px_optimizer_begin(b, rate(0.01), 1.0);
                for (size_t i = 0; i < px_optimizer_piece_count(a); i++) {
                    const px_piece piece = px_optimizer_piece(a, i);
                    px_optimizer_move(a, piece, whole + odd_first[piece.tensor],
                                      g + odd_first[piece.tensor]);
                }
                move_cut(b, size, cut, g);
            }
            if (memcmp(whole, cut, sizeof whole) != 0)
                fail_msg("'%s' cut at %zu", thorough[k], size);
            if (memcmp(whole, start, sizeof whole) == 0)
                fail_msg("'%s' moves nothing", thorough[k]);
            px_optimizer_free(a);
            px_optimizer_free(b);
        }
}

static void test_pieces_cover_everything_once(void **state)
{
    (void)state;
    px_optimizer *opt = make("sgd", odd_shapes, ODD_TENSORS);
    static unsigned char seen[ODD_ELEMENTS];
    for (size_t i = 0; i < px_optimizer_piece_count(opt); i++) {
        const px_piece piece = px_optimizer_piece(opt, i);
        assert_true(piece.count > 0);
        for (size_t j = 0; j < piece.count; j++)
            seen[odd_first[piece.tensor] + piece.first + j]++;
    }
    for (size_t i = 0; i < ODD_ELEMENTS; i++)
        assert_int_equal(seen[i], 1);
    px_optimizer_free(opt);
}

typedef struct saved_state { /* copies, as a checkpoint would have them */
    px_state entries[1 + 3 * TENSORS];
    size_t count;
} saved_state;

static const px_tensor *find_saved(const void *context, const char *name)
{
    const saved_state *saved = context;
    for (size_t i = 0; i < saved->count; i++)
        if (strcmp(saved->entries[i].name, name) == 0)
            return &saved->entries[i].tensor;
    return NULL;
}

static saved_state save(px_optimizer *opt)
{
    saved_state saved = {.count = px_optimizer_state_count(opt)};
    assert_true(saved.count <= PX_LEN(saved.entries));
    for (size_t i = 0; i < saved.count; i++) {
        const px_state entry = px_optimizer_state(opt, i);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(entry.name, saved.entries[j].name);
        saved.entries[i] = entry;
        px_tensor *copy = &saved.entries[i].tensor;
        assert_int_equal(px_tensor_init(copy, entry.tensor.dtype, &entry.tensor.shape, NULL),
                         PX_OK);
        memcpy(copy->data, entry.tensor.data, px_tensor_bytes(copy));
    }
    return saved;
}

static void saved_done(saved_state *saved)
{
    for (size_t i = 0; i < saved->count; i++)
        px_tensor_done(&saved->entries[i].tensor);
}

static void test_goes_on_from_a_checkpoint(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(golden_optimizers); k++) {
        px_optimizer *opt = make(golden_optimizers[k].spec, golden_shapes, TENSORS);
        float weights[ELEMENTS], resumed[ELEMENTS];
        golden_begin(weights);
        for (size_t step = 0; step < 3; step++)
            golden_step(opt, step, weights, 1.0f);
        saved_state saved = save(opt);
        memcpy(resumed, weights, sizeof resumed);
        px_optimizer *again = make(px_optimizer_spec(opt), golden_shapes, TENSORS);
        px_error err = {0};
        assert_string_equal(px_optimizer_spec(again), px_optimizer_spec(opt));
        if (px_optimizer_restore(again, find_saved, &saved, &err) != PX_OK)
            fail_msg("'%s': %s", golden_optimizers[k].spec, err.message);
        for (size_t step = 3; step < STEPS; step++) {
            golden_step(opt, step, weights, 1.0f);
            golden_step(again, step, resumed, 1.0f);
        }
        if (memcmp(weights, resumed, sizeof weights) != 0)
            fail_msg("'%s' goes elsewhere", golden_optimizers[k].spec);
        saved_done(&saved);
        px_optimizer_free(opt);
        px_optimizer_free(again);
    }
}

static void check_refused(px_optimizer *opt, const saved_state *saved, const char *words)
{
    saved_state before = save(opt);
    px_error err = {0};
    assert_int_equal(px_optimizer_restore(opt, find_saved, saved, &err), PX_E_MISMATCH);
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in '%s'", words, err.message);
    saved_state after = save(opt);
    for (size_t i = 0; i < before.count; i++) /* nothing has changed */
        assert_memory_equal(before.entries[i].tensor.data, after.entries[i].tensor.data,
                            px_tensor_bytes(&before.entries[i].tensor));
    saved_done(&before);
    saved_done(&after);
}

static void test_foreign_checkpoints_are_refused(void **state)
{
    (void)state;
    px_optimizer *opt = make("adam", golden_shapes, TENSORS);
    float weights[ELEMENTS];
    golden_begin(weights);
    saved_state saved = save(opt);
    golden_step(opt, 0, weights, 1.0f);

    px_tensor *last = &saved.entries[saved.count - 1].tensor;
    last->shape.dim[0]--;
    check_refused(opt, &saved, "'square/1' is float32 [4], expected is float32 [5]");
    last->shape.dim[0]++;
    last->dtype = PX_INT32;
    check_refused(opt, &saved, "int32");
    last->dtype = PX_FLOAT32;
    const int64_t steps = -1;
    memcpy(saved.entries[0].tensor.data, &steps, sizeof steps);
    check_refused(opt, &saved, "-1 steps");
    saved.count--;
    check_refused(opt, &saved, "-1 steps");
    memset(saved.entries[0].tensor.data, 0, sizeof steps);
    check_refused(opt, &saved, "has no 'square/1'");
    saved.count++;
    saved_done(&saved);
    px_optimizer_free(opt);
}

static void test_not_numbers_are_seen(void **state)
{
    (void)state;
    const px_shape one = {.rank = 1, .dim = {1}};
    for (size_t k = 0; k < PX_LEN(thorough); k++) {
        px_optimizer *opt = make(thorough[k], &one, 1);
        float p = 1.0f;
        const float bad = NAN, good = 1.0f;
        px_optimizer_begin(opt, rate(0.1), 1.0);
        px_optimizer_move(opt, (px_piece){0, 0, 1}, &p, &bad);
        if (!isnan(p))
            fail_msg("'%s' hides NaN", thorough[k]);
        px_optimizer_begin(opt, rate(0.1), 1.0);
        px_optimizer_move(opt, (px_piece){0, 0, 1}, &p, &good);
        if (!isnan(p))
            fail_msg("'%s' forgets NaN", thorough[k]);
        px_optimizer_free(opt);
    }
}

/* A pace with a momentum is the same as the setting. */
static void test_pace_moves_momentum(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"sgd:momentum=0.5", "sgd:momentum=0.9"},
        {"sgd:momentum=0.5,nesterov=1", "sgd:momentum=0.9,nesterov=1"},
        {"adam:beta1=0.5", "adam"},
        {"rmsprop:momentum=0.5", "rmsprop:momentum=0.9"},
    };
    for (size_t k = 0; k < PX_LEN(pairs); k++) {
        px_optimizer *a = make(pairs[k][0], golden_shapes, TENSORS);
        px_optimizer *b = make(pairs[k][1], golden_shapes, TENSORS);
        assert_true(px_optimizer_has_momentum(a));
        float wa[ELEMENTS], wb[ELEMENTS], g[ELEMENTS];
        golden_begin(wa);
        golden_begin(wb);
        for (size_t step = 0; step < 3; step++) {
            for (size_t i = 0; i < ELEMENTS; i++)
                g[i] = (float)golden_gradients[step * ELEMENTS + i];
            px_optimizer_begin(a, (px_pace){0.01, 0.9}, 1.0);
            px_optimizer_begin(b, rate(0.01), 1.0);
            move_all(a, wa, g);
            move_all(b, wb, g);
        }
        assert_memory_equal(wa, wb, sizeof wa);
        px_optimizer_free(a);
        px_optimizer_free(b);
    }
}

static const struct {
    const char *spec, *words;
} refusals[] = {
    {"sdg", "there is no optimizer 'sdg'; there are sgd, adam, adamw, rmsprop, adagrad"},
    {"", "there is no optimizer ''"},
    {"SGD", "there is no optimizer 'SGD'"},
    {"sgd:", "empty"},
    {"sgd:momentum=0.9,", "empty"},
    {"sgd:momentm=0.9", "has no setting 'momentm'; it has decay, decay-all, momentum, dampening"},
    {"sgd:0.9", "has no setting '0.9'"},
    {"adam:momentum=0.9", "has no setting 'momentum'; it has decay, decay-all, beta1"},
    {"sgd:momentum", "has no setting 'momentum'"},
    {"sgd:momentum=", "'momentum=' in optimizer 'sgd' is not a number"},
    {"sgd:momentum=0.9x", "not a number"},
    {"sgd:momentum= 0.9", "not a number"},
    {"sgd:momentum=nan", "not a number"},
    {"sgd:momentum=1e999", "not a number"},
    {"sgd:momentum=0x1p-1z", "not a number"},
    {"sgd:momentum=1", "momentum must be at least 0 and below 1"},
    {"sgd:momentum=-0.1", "momentum must be at least 0"},
    {"sgd:nesterov=0.5", "nesterov is 0 or 1"},
    {"sgd:momentum=0.9,momentum=0.8", "'momentum' twice"},
};

static void test_specs_are_read_strictly(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(refusals); k++) {
        px_optimizer *opt = NULL;
        px_error err = {0};
        if (px_optimizer_new(refusals[k].spec, golden_shapes, TENSORS, &opt, &err) != PX_E_USAGE)
            fail_msg("'%s' is taken", refusals[k].spec);
        assert_null(opt);
        if (!strstr(err.message, refusals[k].words))
            fail_msg("'%s': '%s'", refusals[k].spec, err.message);
    }
}

static void test_texts_say_everything(void **state)
{
    (void)state;
    px_optimizer *opt = make("sgd:momentum=0.9", golden_shapes, TENSORS);
    assert_string_equal(px_optimizer_spec(opt),
                        "sgd:decay=0,decay-all=1,momentum=0.9,dampening=0,nesterov=0");
    px_optimizer_free(opt);
    size_t count = 0;
    for (; px_optimizer_choice_get(count); count++)
        for (const px_setting *s = px_optimizer_choice_get(count)->settings; s->name; s++)
            assert_true(s->help && s->standard >= s->least && s->standard <= s->most);
    assert_int_equal(count, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torch),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_any_split_gives_the_same_bits),
        cmocka_unit_test(test_pieces_cover_everything_once),
        cmocka_unit_test(test_goes_on_from_a_checkpoint),
        cmocka_unit_test(test_foreign_checkpoints_are_refused),
        cmocka_unit_test(test_not_numbers_are_seen),
        cmocka_unit_test(test_pace_moves_momentum),
        cmocka_unit_test(test_specs_are_read_strictly),
        cmocka_unit_test(test_texts_say_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
