/* tests/store/test_campaign.c - one campaign: made, filled, read back, resumed, refused */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"

#include <internal/modes.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/store.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define OK(call)                                    \
    do {                                            \
        if ((call) != PX_OK)                        \
            fail_msg("%s: %s", #call, err.message); \
    } while (0)

static px_campaign *opened(const char *folder, px_campaign_mode mode)
{
    px_error err = {0};
    px_campaign *campaign = NULL;
    OK(px_campaign_open(folder, mode, &campaign, &err));
    return campaign;
}

static void sql(const char *folder, const char *text)
{
    char path[256];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/campaign.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void test_round_trip(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = opened("a.campaign", PX_CAMPAIGN_CREATE);
    OK(grow_campaign(c, 60, NULL, NULL, &err));
    px_campaign_close(c);
    c = opened("a.campaign", PX_CAMPAIGN_READ);
    OK(px_campaign_check(c, &err));
    px_campaign_input in = {0};
    uint8_t pixels[VALUES], again[VALUES];
    px_replayed replayed;
    int64_t seen = 0, longest = 0;
    for (;;) {
        OK(px_campaign_next(c, in.id, PX_INPUT_ANY, &in, pixels, NULL, &err));
        if (!in.id)
            break;
        seen++;
        assert_int_equal(in.id, seen);
        OK(px_campaign_replay(c, in.id, again, &replayed, &err));
        assert_int_equal(replayed, in.id <= SEEDS ? PX_REPLAY_STORED : PX_REPLAY_SAME);
        assert_memory_equal(pixels, again, VALUES);
        int64_t *ids = NULL;
        size_t count;
        OK(px_campaign_lineage(c, seen, &ids, &count, &err));
        assert_int_equal(ids[0], seen);
        assert_true(ids[count - 1] <= SEEDS);
        longest = (int64_t)count > longest ? (int64_t)count : longest;
        free(ids);
        OK(px_campaign_read(c, seen, &in, NULL, &err));
    }
    assert_int_equal(seen, 60);
    assert_true(longest > 3);
    OK(px_campaign_read(c, 6, &in, NULL, &err));
    assert_int_equal(in.kind, PX_INPUT_FAULT);
    assert_int_equal(in.prediction, 6);
    assert_true(in.confidence == 1.0 / 6.0 && in.step == 6 && in.twin == 0);
    OK(px_campaign_read(c, 2, &in, NULL, &err));
    assert_int_equal(in.data_index, 102);
    assert_string_equal(in.chain, "");
    assert_int_equal(px_campaign_read(c, 61, &in, NULL, &err), PX_E_USAGE);
    assert_string_equal(err.message, "'a.campaign': has no input 61");
    int64_t *blob = NULL;
    size_t size = 0;
    OK(px_campaign_get_blob(c, "policy", (void **)&blob, &size, &err));
    assert_int_equal(size, sizeof *blob);
    assert_int_equal(*blob, 60);
    free(blob);
    px_coverage_point *points = NULL;
    OK(px_campaign_coverage(c, "kmnc", &points, &size, &err));
    assert_int_equal(size, 60 / BATCH);
    assert_int_equal(points[1].step, 2 * BATCH);
    free(points);
    px_campaign_close(c);
}

static void test_counts(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = opened("counts", PX_CAMPAIGN_CREATE);
    px_campaign_identity identity = sample_identity();
    identity.classes = 4;
    OK(px_campaign_identify(c, &identity, &err));
    static const int predicted[] = {5, 3, 2, 0}; /* TV-D7 */
    const uint8_t pixels[VALUES] = {0};
    px_campaign_counts counts;
    OK(px_campaign_count(c, &counts, &err));
    assert_true(counts.outputs == 0 && isnan(counts.oi) && isnan(counts.rft));
    OK(px_campaign_put(c, &(px_campaign_input){.kind = PX_INPUT_SEED}, pixels, NULL, &err));
    int64_t id = 0;
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < predicted[p]; i++)
            OK(px_campaign_put(c,
                               &(px_campaign_input){.kind = PX_INPUT_FAULT,
                                                    .parent = 1,
                                                    .root = 1,
                                                    .label = 3,
                                                    .prediction = p,
                                                    .twin = i ? id : 0},
                               pixels, &id, &err));
    for (int i = 0; i < 10; i++)
        OK(px_campaign_put(
            c, &(px_campaign_input){.kind = PX_INPUT_KEPT, .parent = 1, .root = 1, .prediction = 3},
            pixels, NULL, &err));
    OK(px_campaign_set_real(c, "seconds", 20, &err));
    OK(px_campaign_set_int(c, "executions", 640, &err));
    OK(px_campaign_commit(c, &err));
    OK(px_campaign_count(c, &counts, &err));
    assert_int_equal(counts.seeds, 1);
    assert_int_equal(counts.outputs, 20);
    assert_int_equal(counts.faults, 10);
    assert_int_equal(counts.unique_faults, 3);
    assert_int_equal(counts.fault_types, 3);
    assert_int_equal(counts.classes, 3);
    assert_int_equal(counts.executions, 640);
    assert_true(fabs(counts.oi - 0.742737649) < 1e-9);
    assert_true(counts.rft == 0.5 && counts.fre == 2.0);
    px_campaign_close(c);
}

/* Floats, of another rank, NaN and all. */
static void test_float_values(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = opened("float", PX_CAMPAIGN_CREATE);
    px_campaign_identity identity = sample_identity();
    identity.dtype = PX_FLOAT32;
    identity.shape = (px_shape){.rank = 1, .dim = {5}};
    OK(px_campaign_identify(c, &identity, &err));
    const float values[5] = {-0.0f, NAN, INFINITY, 1e-40f, 0.1f};
    float back[5];
    OK(px_campaign_put(c,
                       &(px_campaign_input){.kind = PX_INPUT_SEED, .confidence = NAN, .label = -1},
                       values, NULL, &err));
    px_campaign_input in;
    OK(px_campaign_read(c, 1, &in, back, &err));
    assert_memory_equal(values, back, sizeof values);
    assert_true(isnan(in.confidence) && in.label == -1);
    OK(px_campaign_put(c,
                       &(px_campaign_input){.kind = PX_INPUT_FAULT,
                                            .parent = 1,
                                            .root = 1,
                                            .chain = "{\"engine\":\"pgd\",\"eps\":0.1}"},
                       values, NULL, &err));
    px_replayed replayed;
    OK(px_campaign_replay(c, 2, NULL, &replayed, &err));
    assert_int_equal(replayed, PX_REPLAY_STORED);
    px_campaign_close(c);
}

static void test_batches_are_whole(void **state)
{
    (void)state;
    px_error err = {0};
    const uint8_t pixels[VALUES] = {1};
    const px_campaign_identity identity = sample_identity();
    const px_campaign_input seed = {.kind = PX_INPUT_SEED};
    px_campaign *c = opened("batches", PX_CAMPAIGN_CREATE), *reader = NULL;
    int64_t id, last;
    OK(px_campaign_identify(c, &identity, &err));
    OK(px_campaign_put(c, &seed, pixels, &id, &err));
    OK(px_campaign_put(c, &seed, pixels, &id, &err));
    assert_int_equal(id, 2);
    reader = opened("batches", PX_CAMPAIGN_READ);
    OK(px_campaign_last(reader, &last, &err));
    assert_int_equal(last, 0); /* not committed */
    assert_int_equal(px_campaign_writer(reader), getpid());
    OK(px_campaign_commit(c, &err));
    OK(px_campaign_last(reader, &last, &err));
    assert_int_equal(last, 2);
    /* A failure takes its batch with it. */
    OK(px_campaign_put(c, &seed, pixels, &id, &err));
    assert_int_equal(id, 3);
    assert_int_equal(
        px_campaign_put(c, &(px_campaign_input){.kind = PX_INPUT_KEPT, .parent = 9, .root = 1},
                        pixels, NULL, &err),
        PX_E_USAGE);
    OK(px_campaign_put(c, &seed, pixels, &id, &err));
    assert_int_equal(id, 3);
    px_campaign_rollback(c);
    OK(px_campaign_put(c, &seed, pixels, &id, &err));
    assert_int_equal(id, 3);
    px_campaign_close(c); /* not committed */
    OK(px_campaign_last(reader, &last, &err));
    assert_int_equal(last, 2);
    assert_int_equal(px_campaign_writer(reader), 0);
    assert_int_equal(px_campaign_put(reader, &seed, pixels, NULL, &err), PX_E_USAGE);
    px_campaign_close(reader);
}

static void test_resume_refuses_others(void **state)
{
    (void)state;
    px_error err = {0};
    OK(make_campaign("own", 20, &err));
    static const struct {
        const char *what;
        int change;
    } cases[] = {{"another model", 0},   {"other data", 1},     {"seed 7, not 8", 2},
                 {"float32", 3},         {"[3,8,9]", 4},        {"another 'alpha'", 5},
                 {"another 'guide'", 6}, {"another 'more'", 7}, {"10 classes", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_campaign_identity other = sample_identity();
        px_campaign *c = opened("own", PX_CAMPAIGN_RESUME);
        other.model_hash += cases[i].change == 0;
        other.data_hash += cases[i].change == 1;
        other.seed += cases[i].change == 2;
        other.dtype = cases[i].change == 3 ? PX_FLOAT32 : PX_UINT8;
        other.shape.dim[2] += cases[i].change == 4;
        if (cases[i].change == 5)
            other.settings = "{\"guide\":\"kmnc\",\"alpha\":0.3}";
        if (cases[i].change == 6)
            other.settings = "{\"alpha\":0.2}";
        if (cases[i].change == 7)
            other.settings = "{\"alpha\":0.2,\"guide\":\"kmnc\",\"more\":1}";
        other.classes -= cases[i].change == 8;
        const px_status status = px_campaign_identify(c, &other, &err);
        if (status != PX_E_MISMATCH || !strstr(err.message, cases[i].what))
            fail_msg("case '%s': %d %s", cases[i].what, (int)status, err.message);
        px_campaign_close(c);
    }
    px_campaign *c = opened("own", PX_CAMPAIGN_RESUME);
    OK(grow_campaign(c, 30, NULL, NULL, &err));
    px_campaign_close(c);
}

/* A run that was cut into pieces has the content of one that was not. */
static void test_digest(void **state)
{
    (void)state;
    px_error err = {0};
    uint64_t whole = 0, pieces = 0, other = 0;
    OK(make_campaign("whole", 40, &err));
    OK(make_campaign("pieces", 15, &err));
    px_campaign *c = opened("pieces", PX_CAMPAIGN_RESUME);
    OK(grow_campaign(c, 40, NULL, NULL, &err));
    OK(px_campaign_set(c, "command", "anything", &err)); /* of this run */
    OK(px_campaign_digest(c, &pieces, &err));
    px_campaign_close(c);
    sql("pieces", "UPDATE input SET found_s = 77; UPDATE coverage SET at_s = 77");
    c = opened("whole", PX_CAMPAIGN_READ);
    OK(px_campaign_digest(c, &whole, &err));
    px_campaign_close(c);
    assert_true(whole == pieces);
    c = opened("pieces", PX_CAMPAIGN_READ);
    OK(px_campaign_digest(c, &pieces, &err));
    px_campaign_close(c);
    assert_true(whole == pieces);
    static const char *const changes[] = {
        "UPDATE input SET confidence = confidence + 1e-12 WHERE id = 9",
        "UPDATE input SET pixels = zeroblob(8) WHERE id = 3",
        "UPDATE coverage SET value = 0 WHERE step = 40",
        "DELETE FROM state",
        "INSERT INTO neuron VALUES('ochiai', -1, 'conv1', 3, 0.5)",
        "INSERT INTO closeness VALUES(5, 0.5, 1)",
        "INSERT INTO mode VALUES('noise', 0, 1, 2, 1, 0)",
        "INSERT INTO class VALUES(1, 'dog')",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint64_t before = i ? other : whole;
        sql("whole", changes[i]);
        c = opened("whole", PX_CAMPAIGN_READ);
        OK(px_campaign_digest(c, &other, &err));
        px_campaign_close(c);
        if (other == before)
            fail_msg("'%s' does not change the digest", changes[i]);
    }
}

/* A campaign of the first schema is read as it is, and brought up to date when it is resumed. */
static void test_first_schema(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign_counts counts;
    px_mode *modes = NULL;
    size_t mode_count = 0, count = 0;
    int64_t *ids = NULL;
    OK(make_campaign("old", 40, &err));
    sql("old", "DROP TABLE closeness; DROP TABLE name; DROP TABLE class; DROP TABLE mode;"
               "PRAGMA user_version = 1");
    px_campaign *c = opened("old", PX_CAMPAIGN_READ);
    px_campaign_input in = {0};
    OK(px_campaign_next(c, 0, PX_INPUT_FAULT, &in, NULL, NULL, &err));
    assert_true(in.id > 0 && !in.measured && isnan(in.near.similarity) && isnan(in.near.inside));
    assert_string_equal(in.name, "");
    OK(px_campaign_count(c, &counts, &err));
    assert_true(counts.faults > 0 && counts.measured == 0 && counts.close_faults == 0);
    OK(px_campaign_modes(c, &modes, &mode_count, &err));
    assert_int_equal(mode_count, 0);
    assert_null(px_campaign_class_name(c, 0));
    OK(px_campaign_list(c, PX_INPUT_FAULT, NULL, &ids, &count, NULL, &err)); /* measured for it */
    assert_int_equal(count, counts.faults);
    px_closeness near = {0};
    OK(px_campaign_measure(c, ids[0], &near, &err));
    assert_true(near.similarity >= 0.0 && near.similarity <= 1.0 && near.inside > 0.0);
    px_campaign_close(c);
    c = opened("old", PX_CAMPAIGN_RESUME);
    OK(px_campaign_measure_all(c, &err));
    static const char *const names[] = {"cat", NULL, "dog"};
    OK(px_campaign_put_classes(c, names, 3, &err));
    const px_mode mode = {.mutation = px_mutation_find("rotation"),
                          .band = 4,
                          .label = 2,
                          .tries = 30,
                          .faults = 12,
                          .close = 9};
    OK(px_campaign_put_mode(c, &mode, &err));
    OK(px_campaign_commit(c, &err));
    px_campaign_close(c);
    c = opened("old", PX_CAMPAIGN_READ);
    OK(px_campaign_count(c, &counts, &err));
    assert_int_equal(counts.measured, counts.faults);
    OK(px_campaign_read(c, ids[0], &in, NULL, &err));
    assert_true(in.measured && in.near.similarity == near.similarity &&
                in.near.inside == near.inside);
    assert_string_equal(px_campaign_class_name(c, 0), "cat");
    assert_null(px_campaign_class_name(c, 1));
    OK(px_campaign_modes(c, &modes, &mode_count, &err));
    assert_true(mode_count == 1 && modes[0].mutation == mode.mutation && modes[0].label == 2 &&
                px_mode_rate(&modes[0]) == 0.4);
    char text[PX_BAND_TEXT];
    assert_string_equal(px_mode_text(&modes[0], text), "rotation beyond 40 degrees");
    OK(px_campaign_check(c, &err));
    px_campaign_close(c);
    free(modes);
    free(ids);
}

static void test_folders(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = NULL;
    write_file("plain", "x", 1);
    mkdir("full", 0777);
    write_file("full/x", "x", 1);
    mkdir("bare", 0777);
    mkdir("nothing", 0777);
    mkdir("cut", 0777);
    write_file("cut/campaign.db", "", 0);
    mkdir("fifo", 0777);
    mkfifo("fifo/campaign.db", 0666);
    mkdir("foreign", 0777);
    sql("foreign", "CREATE TABLE input(id)");
    OK(make_campaign("newer", 5, &err));
    sql("newer", "PRAGMA user_version = 99");
    static const struct {
        const char *folder;
        px_campaign_mode mode;
        px_status status;
        const char *says;
    } cases[] = {
        {"absent", PX_CAMPAIGN_READ, PX_E_INPUT, "'absent': no such campaign"},
        {"absent", PX_CAMPAIGN_RESUME, PX_E_INPUT, "no such campaign"},
        {"plain", PX_CAMPAIGN_CREATE, PX_E_INPUT, "a campaign is a folder"},
        {"full", PX_CAMPAIGN_CREATE, PX_E_USAGE, "not empty"},
        {"full", PX_CAMPAIGN_READ, PX_E_INPUT, "holds no campaign.db"},
        {"full", PX_CAMPAIGN_RESUME, PX_E_INPUT, "holds no campaign.db"},
        {"fifo", PX_CAMPAIGN_READ, PX_E_INPUT, "holds no campaign.db"},
        {"nothing", PX_CAMPAIGN_READ, PX_E_INPUT, "holds no campaign.db"},
        {"cut", PX_CAMPAIGN_READ, PX_E_INPUT, "holds nothing yet"},
        {"newer", PX_CAMPAIGN_READ, PX_E_UNSUPPORTED, "newer plexor"},
        {"newer", PX_CAMPAIGN_RESUME, PX_E_UNSUPPORTED, "newer plexor"},
        {"newer", PX_CAMPAIGN_CREATE, PX_E_USAGE, "--resume"},
        {"foreign", PX_CAMPAIGN_RESUME, PX_E_INPUT, "not one of a campaign"},
        {"", PX_CAMPAIGN_CREATE, PX_E_USAGE, "empty"},
        /* from here on they are made */
        {"bare", PX_CAMPAIGN_CREATE, PX_OK, ""},
        {"nothing", PX_CAMPAIGN_RESUME, PX_OK, ""},
        {"cut", PX_CAMPAIGN_RESUME, PX_OK, ""},
        {"bare", PX_CAMPAIGN_RESUME, PX_OK, ""},
        {"bare", PX_CAMPAIGN_CREATE, PX_E_USAGE, "--resume"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err.message[0] = '\0';
        const px_status status = px_campaign_open(cases[i].folder, cases[i].mode, &c, &err);
        if (status != cases[i].status || !strstr(err.message, cases[i].says))
            fail_msg("'%s', mode %d: %d %s", cases[i].folder, (int)cases[i].mode, (int)status,
                     err.message);
        if (status == PX_OK)
            px_campaign_close(c);
    }
}

static void test_one_writer(void **state)
{
    (void)state;
    px_error err = {0};
    int ready[2], go[2];
    assert_int_equal(pipe(ready) | pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        px_campaign *c = NULL;
        char byte = 0;
        if (px_campaign_open("locked", PX_CAMPAIGN_CREATE, &c, NULL) != PX_OK)
            _exit(1);
        if (write(ready[1], "x", 1) != 1 || read(go[0], &byte, 1) < 0)
            _exit(1);
        _exit(0); /* without closing */
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    px_campaign *c = NULL;
    char says[128];
    snprintf(says, sizeof says, "'locked': another process (pid %ld) works on this campaign",
             (long)child);
    assert_int_equal(px_campaign_open("locked", PX_CAMPAIGN_RESUME, &c, &err), PX_E_USAGE);
    assert_string_equal(err.message, says);
    c = opened("locked", PX_CAMPAIGN_READ);
    assert_int_equal(px_campaign_writer(c), child);
    px_campaign_close(c);
    assert_int_equal(write(go[1], "x", 1), 1);
    waitpid(child, NULL, 0);
    c = opened("locked", PX_CAMPAIGN_RESUME);
    px_campaign_close(c);
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
}

/* A disk that is full, as far as one process can tell: its files may not grow any more. */
static void test_full_disk(void **state)
{
    (void)state;
    px_error err = {0};
    OK(make_campaign("disk", 30, &err));
    int64_t last = 0, told = 0;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        px_campaign *c = NULL;
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit small = {150000, 150000};
        if (setrlimit(RLIMIT_FSIZE, &small) != 0 ||
            px_campaign_open("disk", PX_CAMPAIGN_RESUME, &c, &err) != PX_OK)
            _exit(10);
        const px_status status = grow_campaign(c, 100000, NULL, NULL, &err);
        if (px_campaign_last(c, &last, NULL) != PX_OK || write(ends[1], &last, sizeof last) < 0)
            _exit(11);
        px_campaign_close(c);
        if (status != PX_E_IO || !strstr(err.message, "disk is full"))
            fprintf(stderr, "%d %s\n", (int)status, err.message);
        _exit(status == PX_E_IO && strstr(err.message, "the disk is full") ? 0 : 12);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(read(ends[0], &told, sizeof told), sizeof told);
    px_campaign *c = opened("disk", PX_CAMPAIGN_RESUME);
    OK(px_campaign_check(c, &err));
    OK(px_campaign_last(c, &last, &err));
    assert_true(last > 30);
    assert_int_equal(last, told);
    OK(grow_campaign(c, last + 10, NULL, NULL, &err)); /* and it goes on */
    px_campaign_close(c);
    close(ends[0]), close(ends[1]);
}

static void test_chains(void **state)
{
    (void)state;
    px_error err = {0};
    static const struct {
        const char *text;
        px_status status;
        size_t count;
        bool replayable;
    } cases[] = {
        {"", PX_OK, 0, true},
        {"[]", PX_OK, 0, true},
        {"[\"rotation angle=5\",\"brightness factor=1.2\"]", PX_OK, 2, true},
        {"{\"engine\":\"dlfuzz\"}", PX_OK, 0, false},
        {"[1,2]", PX_OK, 0, false},
        {"[\"rotation\"]", PX_E_INPUT, 0, false},
        {"[\"bogus x=1\"]", PX_E_INPUT, 0, false},
        {"[\"rotation angle=5\"", PX_E_INPUT, 0, false},
        {"[\"rotation angle=1e999\"]", PX_E_INPUT, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_drawn *links = NULL;
        size_t count = 0;
        bool replayable = false;
        const px_status status = px_chain_parse(cases[i].text, &links, &count, &replayable, &err);
        if (status != cases[i].status || count != cases[i].count ||
            replayable != cases[i].replayable)
            fail_msg("'%s': %d, %zu links", cases[i].text, (int)status, count);
        if (count) {
            char *again = px_chain_text(links, count);
            assert_string_equal(again, cases[i].text);
            free(again);
        }
        free(links);
    }
}

/* A chain with a user's style is made again from the campaign alone. */
static void test_styles(void **state)
{
    (void)state;
    px_error err = {0};
    px_styles *styles = NULL, *none = NULL;
    px_mutations from;
    uint8_t before[VALUES], after[VALUES];
    px_campaign_input seed;
    int64_t id = 0;
    px_replayed replayed;
    OK(make_campaign("styled", SEEDS, &err));
    px_campaign *c = opened("styled", PX_CAMPAIGN_RESUME);
    OK(px_campaign_get_styles(c, &none, &err));
    assert_null(none);
    OK(px_styles_open("digits", &styles, &err));
    OK(px_mutations_parse("nsgen+style:style", &from, &err));
    from.styles = styles;
    px_random random = px_rng(1, PX_RNG_MUTATE, 0, PX_MUTATE_FREE);
    const px_drawn drawn = px_mutation_draw(&from, &random);
    OK(px_campaign_read(c, 1, &seed, before, &err));
    OK(px_mutation_apply(&drawn, before, after, SIDE, SIDE, CHANNELS, &err));
    char *chain = px_chain_text(&drawn, 1);
    const px_campaign_input child = {.kind = PX_INPUT_KEPT,
                                     .parent = 1,
                                     .root = 1,
                                     .data_index = seed.data_index,
                                     .label = seed.label,
                                     .prediction = seed.label,
                                     .chain = chain};
    OK(px_campaign_put(c, &child, after, &id, &err));
    OK(px_campaign_commit(c, &err));
    assert_int_equal(px_campaign_replay(c, id, NULL, &replayed, &err), PX_E_USAGE);
    OK(px_campaign_put_styles(c, styles, &err));
    OK(px_campaign_commit(c, &err));
    px_campaign_close(c);
    px_styles_free(styles);
    free(chain);

    c = opened("styled", PX_CAMPAIGN_READ);
    OK(px_campaign_replay(c, id, NULL, &replayed, &err));
    assert_int_equal(replayed, PX_REPLAY_SAME);
    px_campaign_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_float_values),
        cmocka_unit_test(test_batches_are_whole),
        cmocka_unit_test(test_resume_refuses_others),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_first_schema),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_styles),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
