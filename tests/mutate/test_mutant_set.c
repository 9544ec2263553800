/* tests/mutate/test_mutant_set.c - data sets of mutants */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "failing_alloc.h"
#include "mutate_helpers.h"

#include <internal/mutate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static px_dataset *opened(const char *spec, int64_t limit, int64_t offset)
{
    px_dataset *set = NULL;
    px_error err = {0};
    px_data_options options = px_data_options_default();
    options.limit = limit;
    options.offset = offset;
    if (px_dataset_open(spec, &options, &set, &err) != PX_OK)
        fail_msg("'%s': %s", spec, err.message);
    return set;
}

static px_mutant_set *mutants_of(const px_dataset *parents, uint64_t seed)
{
    const px_mutations from = mutations("nss");
    px_mutant_set *set = NULL;
    assert_int_equal(px_mutant_set_new(parents, &from, seed, PX_MUTATE_CANDIDATES, &set, NULL),
                     PX_OK);
    return set;
}

static void test_mutants(void **state)
{
    (void)state;
    px_dataset *parents = opened("digits", 60, 5);
    px_mutant_set *mutants = mutants_of(parents, 3), *other = mutants_of(parents, 4);
    const px_dataset *data = px_mutant_set_data(mutants);
    float parent[784], mutant[784];
    int changed = 0;
    assert_int_equal(px_dataset_count(data), 60);
    assert_int_equal(px_dataset_class_count(data), 10);
    assert_true(px_dataset_is_8bit(data) && px_dataset_has_labels(data));
    assert_non_null(strstr(px_dataset_describe(data), "nss mutants, 60 x [1,28,28] uint8"));
    for (int64_t i = 0; i < 60; i++) {
        uint8_t in[784], out[784];
        char name[400], text[PX_DRAWN_TEXT];
        const px_drawn drawn = px_mutant_set_drawn(mutants, i);
        assert_int_equal(px_dataset_pixels(parents, i, parent, NULL), PX_OK);
        assert_int_equal(px_dataset_pixels(data, i, mutant, NULL), PX_OK);
        for (int k = 0; k < 784; k++)
            in[k] = (uint8_t)parent[k];
        assert_int_equal(px_mutation_apply(&drawn, in, out, 28, 28, 1, NULL), PX_OK);
        for (int k = 0; k < 784; k++)
            assert_true((float)out[k] == mutant[k]);
        changed += memcmp(in, out, sizeof in) != 0;
        assert_int_equal(px_dataset_label(data, i), px_dataset_label(parents, i));
        assert_int_equal(px_dataset_index(data, i), i + 5);
        px_dataset_name(data, i, name, sizeof name);
        assert_non_null(strchr(name, '|'));
        assert_string_equal(strchr(name, '|') + 1, px_drawn_text(&drawn, text));
    }
    assert_true(changed > 55);
    assert_true(px_dataset_hash(data) != px_dataset_hash(px_mutant_set_data(other)));
    px_mutant_set_free(other);
    px_mutant_set_free(mutants);
    px_dataset_close(parents);
}

/* A part of the parents has the same mutants as the whole. */
static void test_shards(void **state)
{
    (void)state;
    px_dataset *whole = opened("digits", 40, 0), *part = opened("digits", 10, 25);
    px_mutant_set *a = mutants_of(whole, 9), *b = mutants_of(part, 9);
    for (int64_t i = 0; i < 10; i++) {
        float x[784], y[784];
        assert_int_equal(px_dataset_pixels(px_mutant_set_data(a), 25 + i, x, NULL), PX_OK);
        assert_int_equal(px_dataset_pixels(px_mutant_set_data(b), i, y, NULL), PX_OK);
        assert_memory_equal(x, y, sizeof x);
    }
    px_mutant_set_free(a);
    px_mutant_set_free(b);
    px_dataset_close(whole);
    px_dataset_close(part);
}

/* Float pictures are rounded to k/255; what is no picture is refused. */
static void test_floats(void **state)
{
    (void)state;
    char path[] = "/tmp/plexor-mutants-XXXXXX.npy";
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    float values[2][3][4][5];
    for (size_t i = 0; i < sizeof values / sizeof(float); i++)
        (&values[0][0][0][0])[i] = (float)i / 120.0f;
    px_tensor tensor = {PX_FLOAT32, {4, {2, 3, 4, 5}}, values};
    assert_int_equal(px_npy_save(path, &tensor, NULL), PX_OK);
    px_dataset *parents = opened(path, 0, 0);
    px_mutant_set *mutants = mutants_of(parents, 1);
    float out[60];
    assert_false(px_dataset_is_8bit(px_mutant_set_data(mutants)));
    assert_int_equal(px_dataset_pixels(px_mutant_set_data(mutants), 1, out, NULL), PX_OK);
    for (int i = 0; i < 60; i++) {
        const int level = (int)(out[i] * 255.0f + 0.5f);
        assert_true(out[i] == (float)level / 255.0f);
    }
    px_mutant_set_free(mutants);
    px_dataset_close(parents);

    values[1][2][3][4] = 1.5f;
    assert_int_equal(px_npy_save(path, &tensor, NULL), PX_OK);
    parents = opened(path, 0, 0);
    mutants = mutants_of(parents, 1);
    px_error err = {0};
    assert_int_equal(px_dataset_pixels(px_mutant_set_data(mutants), 0, out, &err), PX_OK);
    assert_int_equal(px_dataset_pixels(px_mutant_set_data(mutants), 1, out, &err), PX_E_MISMATCH);
    assert_string_equal(err.message, "input '1': mutations are for pictures with values from 0 to "
                                     "1; there is a 1.5");
    px_mutant_set_free(mutants);
    px_dataset_close(parents);

    tensor.shape = (px_shape){2, {24, 5}};
    assert_int_equal(px_npy_save(path, &tensor, NULL), PX_OK);
    parents = opened(path, 0, 0);
    const px_mutations from = mutations("nss");
    px_mutant_set *none = NULL;
    assert_int_equal(px_mutant_set_new(parents, &from, 0, 0, &none, &err), PX_E_MISMATCH);
    assert_null(none);
    px_dataset_close(parents);
    unlink(path);
}

static void test_memory(void **state)
{
    (void)state;
    px_dataset *parents = opened("digits", 3, 0);
    const px_mutations from = mutations("nss");
    px_mutant_set *set = NULL;
    px_status status = PX_OK;
    long k = 0;
    for (; fail_at(k), status = px_mutant_set_new(parents, &from, 0, 0, &set, NULL), fail_never();
         k++) {
        assert_int_equal(status, PX_E_NOMEM);
        assert_null(set);
    }
    assert_int_equal(status, PX_OK);
    assert_true(k >= 3);
    px_mutant_set_free(set);
    px_dataset_close(parents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
