/* tests/store/test_campaign_damage.c - files that were cut, overwritten or made to do harm */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"

#include <internal/data.h>
#include <internal/rng.h>
#include <internal/store.h>

#include <math.h>
#include <sqlite3.h>

enum { COUNT = 60 };

static uint8_t *database; /* of a sound campaign */
static size_t database_size;

static int set_up(void **state)
{
    px_error err = {0};
    if (enter_folder(state) != 0 || make_campaign("sound", COUNT, &err) != PX_OK)
        return -1;
    FILE *file = fopen("sound/campaign.db", "rb");
    database = malloc(1 << 22);
    database_size = fread(database, 1, 1 << 22, file);
    fclose(file);
    return mkdir("bad", 0777);
}

static int tear_down(void **state)
{
    free(database);
    return leave_folder(state);
}

static void put_bad(const void *bytes, size_t size)
{
    remove("bad/campaign.db-wal");
    remove("bad/campaign.db-shm");
    write_file("bad/campaign.db", bytes, size);
}

/* Everything that reads; returns how many inputs came out whole. */
static int64_t read_all(void)
{
    px_error err = {0};
    px_campaign *c = NULL;
    px_dataset *set = NULL;
    if (px_campaign_open("bad", PX_CAMPAIGN_READ, &c, &err) != PX_OK)
        return 0;
    px_campaign_identity identity;
    px_campaign_input in = {0};
    int64_t whole = 0, damaged = 0, last;
    void *pixels = px_campaign_identity_get(c, &identity) ? calloc(px_campaign_size(c), 4) : NULL;
    if (pixels) {
        while (px_campaign_next(c, in.id, PX_INPUT_ANY, &in, pixels, &damaged, &err) == PX_OK &&
               in.id) {
            px_replayed replayed;
            px_campaign_replay(c, in.id, NULL, &replayed, &err);
            whole++;
            int64_t *ids = NULL;
            size_t count;
            const int64_t id = in.id;
            if (px_campaign_lineage(c, id, &ids, &count, &err) == PX_OK)
                free(ids);
            in.id = id;
        }
    }
    free(pixels);
    px_campaign_counts counts;
    px_campaign_count(c, &counts, &err);
    px_campaign_check(c, &err);
    px_campaign_last(c, &last, &err);
    uint64_t digest;
    px_campaign_digest(c, &digest, &err);
    void *blob = NULL;
    size_t size;
    if (px_campaign_get_blob(c, "policy", &blob, &size, &err) == PX_OK)
        free(blob);
    px_coverage_point *points = NULL;
    if (px_campaign_coverage(c, "kmnc", &points, &size, &err) == PX_OK)
        free(points);
    char **names = NULL;
    int count = 0;
    if (px_campaign_criteria(c, &names, &count, &err) == PX_OK)
        px_class_names_free(names, count);
    px_campaign_close(c);
    if (px_dataset_open("bad", NULL, &set, &err) == PX_OK) {
        float *values = calloc(1 << 16, sizeof *values);
        const px_shape shape = px_dataset_shape(set);
        if (px_shape_count(&shape) <= 1 << 16)
            for (int64_t i = 0; i < px_dataset_count(set); i++)
                px_dataset_pixels(set, i, values, &err);
        free(values);
        px_dataset_close(set);
    }
    return whole;
}

static void test_sound(void **state)
{
    (void)state;
    put_bad(database, database_size);
    assert_int_equal(read_all(), COUNT);
}

static void test_flipped_bytes(void **state)
{
    (void)state;
    uint8_t *copy = malloc(database_size);
    int64_t least = COUNT, none = 0;
    for (uint32_t round = 0; round < 60; round++) {
        px_random random = px_rng(11, PX_RNG_SHUFFLE, round, 0);
        memcpy(copy, database, database_size);
        const uint32_t flips = 1 + px_rng_u32(&random) % (round % 2 ? 4 : 64);
        for (uint32_t i = 0; i < flips; i++) /* headers and page starts more often than pixels */
            copy[(px_rng_u32(&random) % 3 ? px_rng_u32(&random) % database_size
                                          : px_rng_u32(&random) % (database_size / 4096) * 4096 +
                                                px_rng_u32(&random) % 100)] =
                (uint8_t)px_rng_u32(&random);
        put_bad(copy, database_size);
        const int64_t whole = read_all();
        assert_true(whole <= 2 * COUNT);
        least = whole && whole < least ? whole : least;
        none += whole == 0;
    }
    free(copy);
    assert_true(least < COUNT); /* some lost some */
    assert_true(none < 60);
}

/* A page in the middle is gone: the inputs of the others are read. */
static void test_lost_page(void **state)
{
    (void)state;
    px_error err = {0};
    uint8_t *copy = malloc(database_size);
    int lossy = 0;
    for (size_t page = 8; page < database_size / 4096; page++) {
        memcpy(copy, database, database_size);
        memset(copy + page * 4096, 0xa5, 4096);
        put_bad(copy, database_size);
        const int64_t whole = read_all();
        if (whole < COUNT / 3)
            fail_msg("without page %d only %d inputs are read", (int)page, (int)whole);
        if (whole < COUNT) {
            lossy++;
            px_campaign *c = NULL;
            assert_int_equal(px_campaign_open("bad", PX_CAMPAIGN_READ, &c, &err), PX_OK);
            assert_int_equal(px_campaign_check(c, &err), PX_E_INPUT);
            assert_non_null(strstr(err.message, "export"));
            px_campaign_close(c);
        }
    }
    free(copy);
    assert_true(lossy > 0);
}

static void test_cut(void **state)
{
    (void)state;
    for (size_t size = 0; size < database_size; size += size < 200 ? 23 : 7177) {
        put_bad(database, size);
        read_all();
        px_campaign *c = NULL;
        px_error err = {0};
        if (px_campaign_open("bad", PX_CAMPAIGN_RESUME, &c, &err) == PX_OK)
            px_campaign_close(c);
    }
}

/* Sound databases with content that no plexor wrote. */
static void test_lies(void **state)
{
    (void)state;
    static const char *const lies[] = {
        "UPDATE run SET value = '[100000,100000,100000]' WHERE key = 'shape'",
        "UPDATE run SET value = '[3,8,-8]' WHERE key = 'shape'",
        "UPDATE run SET value = '[16777216]' WHERE key = 'shape'",
        "UPDATE run SET value = '[]' WHERE key = 'shape'",
        "UPDATE run SET value = zeroblob(100) WHERE key = 'shape'",
        "UPDATE run SET value = 'float64' WHERE key = 'dtype'",
        "UPDATE run SET value = 'float32' WHERE key = 'dtype'",
        "UPDATE run SET value = '99999999999999999999' WHERE key = 'classes'",
        "UPDATE run SET value = '[' WHERE key = 'settings'",
        "DELETE FROM run WHERE key = 'seed'",
        "UPDATE input SET pixels = zeroblob(9000000) WHERE id = 9",
        "UPDATE input SET pixels = 'text' WHERE id = 9",
        "UPDATE input SET parent = id WHERE id = 9",
        "UPDATE input SET parent = 50, root = 50 WHERE id = 9",
        "UPDATE input SET root = NULL WHERE id = 9",
        "UPDATE input SET chain = '[\"rotation angle=1e9\"]' WHERE id = 9",
        "UPDATE input SET chain = replace(hex(zeroblob(600000)), '0', '[') WHERE id = 9",
        "UPDATE input SET chain = char(0) || 'x' WHERE id = 9",
        "UPDATE input SET label = 9e18, prediction = 'x' WHERE id = 9",
        "UPDATE input SET label = 9223372036854775807 WHERE id = 9",
        "UPDATE input SET id = 9223372036854775807 WHERE id = 60",
        "UPDATE input SET id = -5 WHERE id = 60",
        "UPDATE state SET size = 500000000",
        "UPDATE state SET size = -1",
        "DROP TABLE coverage",
        "DROP INDEX input_kind",
        "ALTER TABLE input RENAME COLUMN chain TO other",
        "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS key, 2 AS value",
        "DROP TABLE input; CREATE VIEW input AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT "
        "id + 1 FROM n) SELECT * FROM n",
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        sqlite3 *db = NULL;
        px_campaign *c = NULL;
        px_error err = {0};
        put_bad(database, database_size);
        assert_int_equal(sqlite3_open("bad/campaign.db", &db), SQLITE_OK);
        sqlite3_exec(db, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON", NULL,
                     NULL, NULL);
        if (sqlite3_exec(db, lies[i], NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", lies[i], sqlite3_errmsg(db));
        sqlite3_close(db);
        const int64_t whole = read_all();
        if (whole > COUNT)
            fail_msg("'%s': %d inputs", lies[i], (int)whole);
        if (px_campaign_open("bad", PX_CAMPAIGN_RESUME, &c, &err) == PX_OK) {
            grow_campaign(c, COUNT + 7, NULL, NULL, &err);
            px_campaign_close(c);
        }
    }
}

/* Bytes of a write-ahead log that nobody wrote. */
static void test_false_log(void **state)
{
    (void)state;
    uint8_t log[40000];
    for (uint32_t round = 0; round < 30; round++) {
        px_random random = px_rng(12, PX_RNG_SHUFFLE, round, 0);
        put_bad(database, database_size);
        for (size_t i = 0; i < sizeof log; i++)
            log[i] = (uint8_t)px_rng_u32(&random);
        memcpy(log, "\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00", 12);
        write_file("bad/campaign.db-wal", log, round % 3 ? sizeof log : round);
        if (round % 2)
            write_file("bad/campaign.db-shm", log, 32768);
        assert_int_equal(read_all(), COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),     cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_lost_page), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_lies),      cmocka_unit_test(test_false_log),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
