/* tests/cover/test_crit_laws.c - what holds for every criterion that goes by rows
 *
 * Merged shards are a serial run to the bit; what is saved comes back; the gain of a row is what
 * the value grows by; rows that are not finite change nothing; damaged files are refused.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "crit_helpers.h"

#include "base/memory.h"
#include <internal/data.h>
#include <internal/rng.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1100, WIDTH = 33, BLOCK = PX_COVER_BLOCK };
#define LAYOUT LAYERS(16, 5, 1, 11)

static const struct {
    const char *id, *settings[3];
} kinds[] = {
    {"nc", {"nc.t=1.5"}},
    {"nc", {"nc.t=0.8", "nc.variant=suite"}},
    {"nc", {"nc.t=0.75", "nc.variant=sigmoid"}},
    {"kmnc", {"kmnc.k=100"}},
    {"kmnc", {"kmnc.k=9", "kmnc.variant=digitize"}},
    {"kmnc", {"kmnc.k=33", "kmnc.variant=ceil"}},
    {"nbc", {NULL}},
    {"nbc", {"nbc.variant=buckets"}},
    {"snac", {"snac.s=0.1"}},
    {"tknc", {"tknc.k=2"}},
    {"tknc", {"tknc.k=3", "tknc.variant=pattern-count"}},
    {"tknp", {"tknp.k=2"}},
    {"tknp", {"tknp.k=3", "tknp.variant=ordered"}},
    {"cc", {"cc.t=20"}},
    {"nlc", {NULL}},
    {"nlc", {"nlc.norm=sum", "nlc.start=1"}},
    {"nlc-guided", {NULL}},
    {"nlc-guided", {"nlc-guided.start=1"}},
    {"lsc", {"lsc.u=100"}},
    {"lsc", {"lsc.form=size", "lsc.t=0.5"}},
    {"dsc", {"dsc.m=50"}},
    {"dsc", {"dsc.u=1", "dsc.overflow=yes"}},
    {"dsc", {"dsc.m=70", "dsc.form=sadl"}},
    {"mdsc", {"mdsc.u=12", "mdsc.m=200"}},
    {"mdsc", {"mdsc.m=30", "mdsc.form=dnn-tip"}},
};

typedef struct bench { /* one kind with training rows and rows to observe */
    crit *c;
    float *train, *x;
    crit_table table;
    const char *name;
} bench;

static bench bench_new(size_t kind)
{
    bench b = {.train = crit_random(1, 200, WIDTH, true), .x = crit_random(2, ROWS, WIDTH, true)};
    b.table = (crit_table){.values = b.x, .count = ROWS};
    b.c = crit_new(kinds[kind].id, kinds[kind].settings, LAYOUT,
                   (crit_table){.values = b.train, .count = 200});
    b.name = kinds[kind].settings[1] ? kinds[kind].settings[1] : kinds[kind].id;
    return b;
}

static void bench_done(bench *b)
{
    crit_free(b->c);
    free(b->train);
    free(b->x);
}

static void observe_blocks(const bench *b, void *state, int64_t first, int64_t end)
{
    for (int64_t block = first; block < end; block++)
        crit_observe_into(b->c, state, b->table, block * BLOCK,
                          PX_MIN(BLOCK, ROWS - block * BLOCK));
}

static void assert_same_bytes(const bench *b, const void *one, const void *two, const char *what)
{
    size_t size_one, size_two;
    char *bytes_one = crit_save(b->c, one, &size_one), *bytes_two = crit_save(b->c, two, &size_two);
    if (size_one != size_two || memcmp(bytes_one, bytes_two, size_one) != 0)
        fail_msg("%s (%s): %s differ", b->c->criterion->entry.id, b->name, what);
    free(bytes_one);
    free(bytes_two);
    remove(crit_file());
}

/* Five blocks, in all splits into two; merged in either order where order does not matter. */
static void test_shards(void **state)
{
    (void)state;
    const int64_t blocks = (ROWS + BLOCK - 1) / BLOCK;
    for (size_t k = 0; k < PX_LEN(kinds); k++) {
        bench b = bench_new(k);
        const px_criterion *criterion = b.c->criterion;
        px_error err = {0};
        observe_blocks(&b, b.c->state, 0, blocks);
        for (int64_t split = 0; split <= blocks && !criterion->ordered; split++)
            for (int order = 0; order < 2; order++) {
                void *one = crit_state(b.c), *two = crit_state(b.c);
                observe_blocks(&b, order ? two : one, 0, split);
                observe_blocks(&b, order ? one : two, split, blocks);
                assert_int_equal(criterion->merge(one, two, &err), PX_OK);
                assert_same_bytes(&b, b.c->state, one, "merged shards");
                criterion->close(one);
                criterion->close(two);
            }
        if (criterion->ordered) { /* nothing before, nothing after */
            void *one = crit_state(b.c);
            assert_int_equal(criterion->merge(one, b.c->state, &err), PX_OK);
            assert_same_bytes(&b, b.c->state, one, "a state and it merged into nothing");
            void *two = crit_state(b.c);
            assert_int_equal(criterion->merge(one, two, &err), PX_OK);
            assert_same_bytes(&b, b.c->state, one, "a state and it with nothing");
            criterion->close(one);
            criterion->close(two);
        }
        bench_done(&b);
    }
}

/* Loaded with and without what was prepared, states are the same, and go on to be merged. */
static void test_files(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(kinds); k++) {
        bench b = bench_new(k);
        const px_criterion *criterion = b.c->criterion;
        px_error err = {0};
        for (int fill = 0; fill < 2; fill++) {
            if (fill)
                observe_blocks(&b, b.c->state, 0, 2);
            size_t size;
            free(crit_save(b.c, b.c->state, &size));
            px_npz *file = NULL;
            assert_int_equal(px_npz_open(crit_file(), &file, &err), PX_OK);
            void *bound = crit_state(b.c), *alone = NULL, *again = NULL;
            assert_int_equal(criterion->open(NULL, &alone, &err), PX_OK);
            assert_int_equal(criterion->open(NULL, &again, &err), PX_OK);
            if (criterion->load(bound, file, "x", &err) != PX_OK ||
                criterion->load(alone, file, "x", &err) != PX_OK ||
                criterion->load(again, file, "x", &err) != PX_OK)
                fail_msg("%s (%s): %s", criterion->entry.id, b.name, err.message);
            px_npz_close(file);
            assert_same_bytes(&b, b.c->state, bound, "state and loaded state");
            assert_same_bytes(&b, b.c->state, alone, "state and state of a file alone");
            const px_coverage here = criterion->value(b.c->state), there = criterion->value(alone);
            assert_memory_equal(&here, &there, sizeof here);
            void *more = crit_state(b.c);
            observe_blocks(&b, more, 2, 4);
            if (criterion->merge(alone, more, &err) != PX_OK ||
                criterion->merge(bound, more, &err) != PX_OK)
                fail_msg("%s (%s): %s", criterion->entry.id, b.name, err.message);
            assert_same_bytes(&b, bound, alone, "merges");
            assert_int_equal(criterion->merge(again, alone, &err), PX_OK);
            criterion->close(more);
            criterion->close(bound);
            criterion->close(alone);
            criterion->close(again);
        }
        bench_done(&b);
    }
}

/* On states of 0, 1, 5 and 40 rows: gain(x) = value with x - value without. */
static void test_gain(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 5, 40};
    for (size_t k = 0; k < PX_LEN(kinds); k++)
        for (size_t s = 0; s < PX_LEN(sizes); s++) {
            bench b = bench_new(k);
            const px_criterion *criterion = b.c->criterion;
            crit_observe_into(b.c, b.c->state, b.table, 0, sizes[s]);
            for (int64_t i = 100; i < 160; i++) {
                px_rows row = crit_rows(b.c, b.table, i, 1);
                const double before = criterion->value(b.c->state).value;
                const double gain = criterion->gain(b.c->state, &row, 0);
                assert_true(criterion->value(b.c->state).value == before);
                crit_observe_into(b.c, b.c->state, b.table, i, 1);
                const double after = criterion->value(b.c->state).value;
                if (fabs(gain - (after - before)) > 1e-12 * fmax(1.0, fabs(after)))
                    fail_msg("%s (%s), %d rows: gain %.17g, but %.17g to %.17g",
                             criterion->entry.id, b.name, (int)sizes[s], gain, before, after);
                if (row.rejected[0] && gain != 0.0)
                    fail_msg("%s (%s): a rejected row gains", criterion->entry.id, b.name);
                crit_rows_done(&row);
            }
            bench_done(&b);
        }
}

/* Rows that are not finite leave the state as it was. */
static void test_rejected(void **state)
{
    (void)state;
    float bad[WIDTH] = {0};
    bad[WIDTH / 2] = NAN;
    for (size_t k = 0; k < PX_LEN(kinds); k++) {
        bench b = bench_new(k);
        observe_blocks(&b, b.c->state, 0, 1);
        void *other = crit_state(b.c);
        observe_blocks(&b, other, 0, 1);
        crit_observe_into(b.c, other, (crit_table){.values = bad, .count = 1}, 0, 1);
        assert_same_bytes(&b, b.c->state, other, "with and without a NaN");
        const px_coverage one = crit_value(b.c), two = b.c->criterion->value(other);
        assert_true(one.value == two.value);
        b.c->criterion->close(other);
        bench_done(&b);
    }
}

/* Layers add up, where there is a value per layer. */
static void test_layers(void **state)
{
    (void)state;
    for (size_t k = 0; k < PX_LEN(kinds); k++) {
        bench b = bench_new(k);
        observe_blocks(&b, b.c->state, 0, 1);
        px_coverage sum = {0};
        const px_coverage all = crit_value(b.c);
        for (size_t l = 0; b.c->criterion->layer_value && l < b.c->extractor.layer_count; l++) {
            const px_coverage one = b.c->criterion->layer_value(b.c->state, l);
            sum.value += one.value;
            sum.covered += one.covered;
            sum.total += one.total;
        }
        if (b.c->criterion->layer_value &&
            (sum.covered != all.covered || sum.total != all.total ||
             (all.covered == 0 && all.total == 0 && fabs(sum.value - all.value) > 1e-12)))
            fail_msg("%s (%s): layers do not add up", b.c->criterion->entry.id, b.name);
        bench_done(&b);
    }
}

/* --- damaged files --------------------------------------------------------------------------- */

/* The arrays of `file` again, with array `which` harmed in manner `how`. */
static void write_harmed(const px_npz *file, size_t which, int how, px_random *r)
{
    px_error err = {0};
    px_npz_writer *writer = NULL;
    assert_int_equal(px_npz_create(crit_file(), &writer, &err), PX_OK);
    for (size_t i = 0; i < px_npz_count(file); i++) {
        const char *name = px_npz_name(file, i);
        px_tensor copy = *px_npz_get(file, name);
        const size_t bytes = px_tensor_bytes(&copy);
        char *data = malloc(bytes ? bytes : 1);
        assert_non_null(data);
        if (bytes)
            memcpy(data, copy.data, bytes);
        copy.data = data;
        if (i == which && how == 0) {
            free(data);
            continue; /* not there */
        }
        if (i == which && how == 1 && copy.shape.rank > 0 && copy.shape.dim[0] > 0)
            copy.shape.dim[0]--;
        if (i == which && how == 2)
            copy.dtype = copy.dtype == PX_INT64 ? PX_FLOAT64 : PX_INT64;
        if (i == which && how == 3 && bytes)
            data[px_rng_below(r, (uint32_t)bytes)] ^= (char)(1 << px_rng_below(r, 8));
        if (i == which && how == 4)
            for (size_t j = 0; j < bytes; j++)
                data[j] = (char)px_rng_u32(r);
        if (i == which && how == 5)
            memset(data, 0xff, bytes);
        if (i == which && how == 6)
            memset(data, 0, bytes);
        if (copy.dtype != px_npz_get(file, name)->dtype && px_dtype_size(copy.dtype) != 8)
            copy.dtype = px_npz_get(file, name)->dtype;
        if (px_tensor_bytes(&copy) <= bytes)
            assert_int_equal(px_npz_add(writer, name, &copy, &err), PX_OK);
        free(data);
    }
    assert_int_equal(px_npz_commit(writer, &err), PX_OK);
}

/* Whatever a file holds, load() says no or leaves a state that can be used. */
static void test_damage(void **state)
{
    (void)state;
    px_random r = px_rng(4, PX_RNG_TEST, 3, 1);
    for (size_t k = 0; k < PX_LEN(kinds); k++) {
        bench b = bench_new(k);
        const px_criterion *criterion = b.c->criterion;
        px_error err = {0};
        observe_blocks(&b, b.c->state, 0, 1);
        size_t size, refused = 0;
        free(crit_save(b.c, b.c->state, &size));
        px_npz *file = NULL;
        assert_int_equal(px_npz_open(crit_file(), &file, &err), PX_OK);
        for (size_t which = 0; which < px_npz_count(file); which++)
            for (int how = 0; how < 20; how++) {
                write_harmed(file, which, how < 7 ? how : 3 + how % 2, &r);
                px_npz *harmed = NULL;
                assert_int_equal(px_npz_open(crit_file(), &harmed, &err), PX_OK);
                for (int alone = 0; alone < 2; alone++) {
                    void *loaded = NULL;
                    assert_int_equal(criterion->open(alone ? NULL : b.c->prepared, &loaded, &err),
                                     PX_OK);
                    err.message[0] = '\0';
                    const px_status status = criterion->load(loaded, harmed, "x", &err);
                    if (status == PX_OK) {
                        (void)criterion->value(loaded);
                        void *other = crit_state(b.c);
                        criterion->merge(other, loaded, &err);
                        criterion->close(other);
                    } else {
                        refused++;
                        assert_true(status == PX_E_INPUT || status == PX_E_MISMATCH);
                        assert_true(err.message[0] != '\0');
                    }
                    if (how < 3 && status == PX_OK)
                        fail_msg("%s (%s): array '%s' harmed in manner %d is taken",
                                 criterion->entry.id, b.name, px_npz_name(file, which), how);
                    criterion->close(loaded);
                }
                px_npz_close(harmed);
            }
        assert_true(refused > 0);
        px_npz_close(file);
        remove(crit_file());
        bench_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards), cmocka_unit_test(test_files),
        cmocka_unit_test(test_gain),   cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_layers), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
