/* tests/train/test_checkpoint.c - runs that are stopped and resumed, and checkpoints that lie */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer_helpers.h"

#include <internal/data.h>
#include <plexor/json.h>

typedef struct stopper {
    int left; /* calls until it says stop */
} stopper;

static bool stop_later(void *context, const px_train_progress *progress)
{
    (void)progress;
    return --((stopper *)context)->left != 0;
}

static void plain(px_trainer_options *o)
{
    (void)o;
}
static void adam(px_trainer_options *o)
{
    o->optimizer = "adamw:decay=0.01";
}
static void rmsprop(px_trainer_options *o)
{
    o->optimizer = "rmsprop";
    o->lr = 1e-3;
    o->schedule = "inverse:0.01";
}
static void plateau(px_trainer_options *o)
{
    o->schedule = "plateau:patience=0,threshold=0.9";
    o->epochs = 4;
}
static void best(px_trainer_options *o)
{
    o->keep_best = true;
    o->lr = 0.2;
    o->epochs = 4;
}
static void until(px_trainer_options *o)
{
    o->until_accuracy = 0.6;
    o->schedule = "constant";
    o->epochs = 10;
}
static void retry(px_trainer_options *o)
{
    o->retries = 200;
    o->lr = 1e30;
    o->schedule = "constant";
    o->epochs = 1;
}

static void attacked(px_trainer_options *o)
{
    o->adversary.method = "pgd";
    o->adversary.steps = 2;
    o->adversary.share = 0.7;
}

static const struct {
    const char *name;
    void (*set)(px_trainer_options *options);
} ways[] = {
    {"sgd", plain}, {"adamw", adam},  {"rmsprop", rmsprop}, {"plateau", plateau},
    {"best", best}, {"until", until}, {"retry", retry},     {"attacked", attacked},
};

/* Runs with a stop after every so many progress calls; the number of times it was stopped. */
static int run_in_parts(const bench *m, size_t way, int part, float **numbers, size_t *count)
{
    for (int stops = 0;; stops++) {
        px_feeder *feeder = bench_feeder(m, 16);
        px_trainer_options options = bench_options(m, feeder);
        stopper s = {.left = part};
        px_trainer *t = NULL;
        px_error err = {0};
        ways[way].set(&options);
        options.threads = 1 + stops % 2;
        options.checkpoint_steps = 3;
        if (part) {
            options.checkpoint = bench_path();
            options.resume = true;
            options.progress = stop_later;
            options.context = &s;
        }
        if (stops > 0) { /* bench_path() removes what is there */
            assert_int_equal(rename("/tmp/plexor-train-kept", options.checkpoint), 0);
        }
        if (px_trainer_new(&options, &t, &err) != PX_OK)
            fail_msg("case '%s': %s", ways[way].name, err.message);
        assert_int_equal(px_trainer_result(t).resumed_step >= 0, stops > 0);
        const px_status status = px_trainer_run(t, &err);
        if (status != PX_OK && status != PX_E_CANCELLED)
            fail_msg("case '%s': %s", ways[way].name, err.message);
        if (status == PX_OK) {
            *numbers = bench_numbers(px_trainer_weights(t), count);
            OK(px_trainer_discard(t, fault));
        } else {
            assert_int_equal(rename(options.checkpoint, "/tmp/plexor-train-kept"), 0);
        }
        px_trainer_free(t);
        px_feeder_free(feeder);
        if (status == PX_OK)
            return stops;
        assert_true(stops < 200);
    }
}

static void test_resume(void **state)
{
    (void)state;
    bench m = bench_open(150, 60);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        float *whole = NULL, *parts = NULL;
        size_t count;
        assert_int_equal(run_in_parts(&m, i, 0, &whole, &count), 0);
        const int stops = run_in_parts(&m, i, i < 5 || i == 7 ? 7 : 23, &parts, &count);
        if (stops < 1 || memcmp(whole, parts, count * sizeof *whole) != 0)
            fail_msg("case '%s': other weights after %d stops", ways[i].name, stops);
        free(whole);
        free(parts);
    }
    bench_close(&m);
}

/* --- other runs' checkpoints ----------------------------------------------------------------- */

static void other_lr(px_trainer_options *o)
{
    o->lr = 0.03;
}
static void other_epochs(px_trainer_options *o)
{
    o->epochs = 3;
}
static void other_optimizer(px_trainer_options *o)
{
    o->optimizer = "adam";
}
static void other_micro(px_trainer_options *o)
{
    o->micro_batch = 5;
}
static void other_freeze(px_trainer_options *o)
{
    o->freeze = "#0";
}
static void other_fact(px_trainer_options *o)
{
    static const px_property fact = {"--augment", "flip"};
    o->facts = &fact;
    o->fact_count = 1;
    o->lr = 0.5; /* the caller's facts come first */
}

static const struct {
    void (*set)(px_trainer_options *options);
    const char *says;
} others[] = {
    {other_lr, "lr was '0.02' there and is '0.03' now"},
    {other_epochs, "epochs was '2' there and is '3' now"},
    {other_optimizer, "optimizer was 'sgd:"},
    {other_micro, "micro-batch was '8' there and is '5' now"},
    {other_freeze, "freeze was '' there and is '#0' now"},
    {other_fact, "--augment was '?' there and is 'flip' now"},
};

/* Leaves a checkpoint after some steps. */
static void leave_checkpoint(const bench *m, const char *path)
{
    px_feeder *feeder = bench_feeder(m, 16);
    px_trainer_options options = bench_options(m, feeder);
    stopper s = {.left = 3};
    px_trainer *t = NULL;
    options.checkpoint = path;
    options.progress = stop_later;
    options.context = &s;
    OK(px_trainer_new(&options, &t, fault));
    assert_int_equal(px_trainer_run(t, NULL), PX_E_CANCELLED);
    px_trainer_free(t);
    px_feeder_free(feeder);
}

static px_status open_checkpoint(const bench *m, const char *path,
                                 void (*set)(px_trainer_options *options), bool resume,
                                 px_error *err)
{
    px_feeder *feeder = bench_feeder(m, 16);
    px_trainer_options options = bench_options(m, feeder);
    px_trainer *t = NULL;
    options.checkpoint = path;
    options.resume = resume;
    if (set)
        set(&options);
    const px_status status = px_trainer_new(&options, &t, err);
    px_trainer_free(t);
    px_feeder_free(feeder);
    return status;
}

static void test_differences(void **state)
{
    (void)state;
    bench m = bench_open(48, 10);
    const char *path = bench_path();
    px_error err = {0};
    leave_checkpoint(&m, path);
    OK(open_checkpoint(&m, path, NULL, true, fault));
    assert_int_equal(open_checkpoint(&m, path, NULL, false, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "--resume"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const px_status status = open_checkpoint(&m, path, others[i].set, true, &err);
        if (status != PX_E_MISMATCH || !strstr(err.message, others[i].says))
            fail_msg("case '%s': %s '%s'", others[i].says, px_status_name(status), err.message);
    }
    bench more = bench_open(49, 10); /* other data */
    assert_int_equal(open_checkpoint(&more, path, NULL, true, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "training data"));
    bench_close(&more);
    unlink(path);
    bench_close(&m);
}

/* --- hostile files --------------------------------------------------------------------------- */

static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void spill(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* The same file with another `meta`, or without one array. */
static void rewrite(const char *from, const char *to, const char *old, const char *new,
                    const char *without)
{
    px_npz *npz = NULL;
    px_npz_writer *writer = NULL;
    OK(px_npz_open(from, &npz, fault));
    OK(px_npz_create(to, &writer, fault));
    for (size_t i = 0; i < px_npz_count(npz); i++) {
        const char *name = px_npz_name(npz, i);
        const px_tensor *tensor = px_npz_get(npz, name);
        if (without && strcmp(name, without) == 0)
            continue;
        if (strcmp(name, "meta") != 0 || !old) {
            OK(px_npz_add(writer, name, tensor, fault));
            continue;
        }
        const size_t size = px_tensor_bytes(tensor);
        char *text = calloc(size + 1, 1);
        memcpy(text, tensor->data, size);
        const char *at = strstr(text, old);
        if (!at)
            fail_msg("'%s' is not in %s", old, text);
        char *changed = calloc(size + strlen(new) + 1, 1);
        memcpy(changed, text, (size_t)(at - text));
        strcat(changed, new);
        strcat(changed, at + strlen(old));
        const px_tensor meta = {PX_UINT8, {.rank = 1, .dim = {(int64_t)strlen(changed)}}, changed};
        OK(px_npz_add(writer, "meta", &meta, fault));
        free(changed);
        free(text);
    }
    OK(px_npz_commit(writer, fault));
    px_npz_close(npz);
}

static const struct {
    const char *old, *new; /* in `meta` */
    const char *without;
} lies[] = {
    {"\"step\": 3", "\"step\": 4000", NULL},
    {"\"step\": 3", "\"step\": -1", NULL},
    {"\"step\": 3", "\"step\": 2.5", NULL},
    {"\"step\": 3", "\"step\": 1e300", NULL},
    {"\"step\": 3", "\"step\": null", NULL},
    {"\"epoch\": 0", "\"epoch\": 3", NULL},
    {"\"halvings\": 0", "\"halvings\": 100000000", NULL},
    {"\"history_count\": 0", "\"history_count\": 1", NULL},
    {"\"seen\": 48", "\"seen\": 49000", NULL},
    {"\"reached\": false", "\"reached\": 0", NULL},
    {"plexor checkpoint", "plexor profile", NULL},
    {"\"version\": 1", "\"version\": 2", NULL},
    {"\"facts\"", "\"fads\"", NULL},
    {"{", "", NULL},
    {NULL, NULL, "meta"},
    {NULL, NULL, "history"},
    {NULL, NULL, "weights/0"},
    {NULL, NULL, "optimizer/step"},
};

static void test_hostile(void **state)
{
    (void)state;
    bench m = bench_open(48, 10);
    char lie[96];
    const char *path = bench_path();
    px_error err = {0};
    leave_checkpoint(&m, path);
    snprintf(lie, sizeof lie, "%s-lie", path);
    rewrite(path, lie, NULL, NULL, NULL);
    OK(open_checkpoint(&m, lie, NULL, true, fault));
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        rewrite(path, lie, lies[i].old, lies[i].new, lies[i].without);
        const px_status status = open_checkpoint(&m, lie, NULL, true, &err);
        if (status != PX_E_INPUT && status != PX_E_MISMATCH)
            fail_msg("case '%s' '%s': %s '%s'", lies[i].new ? lies[i].new : "without",
                     lies[i].without ? lies[i].without : "", px_status_name(status), err.message);
    }
    size_t size;
    char *bytes = slurp(path, &size);
    for (size_t cut = 0; cut < size; cut += 1 + size / 60) {
        spill(lie, bytes, cut);
        assert_int_not_equal(open_checkpoint(&m, lie, NULL, true, &err), PX_OK);
    }
    free(bytes);
    unlink(lie);
    unlink(path);
    bench_close(&m);
}

/* A folder that cannot be written to: said at once, and the old checkpoint is as it was. */
static void test_disk(void **state)
{
    (void)state;
    bench m = bench_open(48, 10);
    px_feeder *feeder = bench_feeder(&m, 16);
    px_trainer_options options = bench_options(&m, feeder);
    px_trainer *t = NULL;
    px_error err = {0};
    options.checkpoint = "/dev/full"; /* a device: written in place */
    OK(px_trainer_new(&options, &t, fault));
    assert_int_equal(px_trainer_run(t, &err), PX_E_IO);
    assert_non_null(
        strstr(err.message, "the checkpoint after 3 steps failed, there is no earlier"));
    px_trainer_free(t);
    px_feeder_free(feeder);
    bench_close(&m);
}

static void test_log(void **state)
{
    (void)state;
    const px_train_epoch history[] = {
        {.epoch = 1,
         .lr = 0.5,
         .loss = 1.25,
         .accuracy = 0.5,
         .test_loss = NAN,
         .test_accuracy = NAN,
         .seconds = 2,
         .images_per_s = 100},
        {.epoch = 2,
         .lr = 0.25,
         .loss = 1,
         .accuracy = 0.75,
         .test_loss = 1.5,
         .test_accuracy = 0.625,
         .seconds = 2.5,
         .images_per_s = 80},
    };
    const char *const texts[][2] = {
        {"/tmp/plexor-train-log.csv",
         "epoch,lr,loss,train_accuracy,test_loss,test_accuracy,seconds,images_per_s\n"
         "1,0.5,1.25,0.5,,,2,100\n2,0.25,1,0.75,1.5,0.625,2.5,80\n"},
        {"/tmp/plexor-train-log.jsonl",
         "{\"epoch\": 1, \"lr\": 0.5, \"loss\": 1.25, \"train_accuracy\": 0.5, \"test_loss\": "
         "null, "
         "\"test_accuracy\": null, \"seconds\": 2, \"images_per_s\": 100}\n"
         "{\"epoch\": 2, \"lr\": 0.25, \"loss\": 1, \"train_accuracy\": 0.75, \"test_loss\": 1.5, "
         "\"test_accuracy\": 0.625, \"seconds\": 2.5, \"images_per_s\": 80}\n"},
    };
    for (int i = 0; i < 2; i++) {
        size_t size;
        OK(px_train_log_save(texts[i][0], history, 2, fault));
        char *got = slurp(texts[i][0], &size);
        got[size] = '\0';
        assert_string_equal(got, texts[i][1]);
        free(got);
        unlink(texts[i][0]);
    }
    assert_int_equal(px_train_log_save("log.txt", history, 2, NULL), PX_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),  cmocka_unit_test(test_differences),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_disk),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
