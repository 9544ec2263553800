/* tests/cli/test_call.c - the command line as a function */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <internal/system.h>
#include <plexor/plexor.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL MODELS "/digits.onnx"

/* What the process has written to stdout and stderr while `call` ran. */
typedef struct streams {
    int kept[2], file[2];
} streams;

static void streams_take(streams *s)
{
    for (int i = 0; i < 2; i++) {
        char path[] = "/tmp/plexor-call-XXXXXX";
        fflush(i ? stderr : stdout);
        s->kept[i] = dup(i + 1);
        s->file[i] = mkstemp(path);
        assert_true(s->kept[i] >= 0 && s->file[i] >= 0);
        unlink(path);
        assert_true(dup2(s->file[i], i + 1) >= 0);
    }
}

/* Puts them back; how many bytes were written. */
static off_t streams_give_back(streams *s)
{
    off_t written = 0;
    for (int i = 0; i < 2; i++) {
        fflush(i ? stderr : stdout);
        written += lseek(s->file[i], 0, SEEK_END);
        dup2(s->kept[i], i + 1);
        close(s->kept[i]);
        close(s->file[i]);
    }
    return written;
}

#define CALL(io, result, ...)                                              \
    px_call((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
            (const char *[]){__VA_ARGS__}, io, result)

static void test_results(void **state)
{
    (void)state;
    px_call_result result = px_call_result_default();
    streams s;
    streams_take(&s);
    const int version = CALL(NULL, &result, "version");
    char *text = strdup(result.text);
    px_call_done(&result);
    const int eval = CALL(NULL, &result, "eval", MODEL, "--data", "digits", "--limit", "200",
                          "--json", "--threads", "1");
    const off_t written = streams_give_back(&s);
    assert_int_equal(version, 0);
    assert_string_equal(text, "plexor 0.1.0\n");
    free(text);
    assert_int_equal(eval, 0);
    assert_null(result.error);
    assert_string_equal(result.text, "");
    assert_non_null(strstr(result.json, "\"accuracy\": "));
    assert_non_null(strstr(result.json, "\"command\": [\n"));
    assert_non_null(strstr(result.json, "\"remarks\": ["));
    assert_int_equal(written, 0);
    px_call_done(&result);
    assert_null(result.json);
    assert_int_equal(result.size, sizeof result);
}

static const struct {
    const char *name, *words[10];
    int count, status;
    const char *error, *in_json;
} failures[] = {
    {"a command of the program alone",
     {"study", "nss"},
     2,
     2,
     "'study' is a command of the program 'plexor', which the library does not have",
     NULL},
    {"no such command", {"evil"}, 1, 2, "there is no command 'evil', did you mean 'eval';", NULL},
    {"no such option", {"eval", "--speed"}, 2, 2, "there is no option '--speed'", NULL},
    {"a word is missing", {"eval"}, 1, 2, "MODEL is missing", NULL},
    {"no such file", {"eval", "no.onnx", "--data", "digits"}, 4, 2, "'no.onnx'", NULL},
    {"and JSON",
     {"eval", "no.onnx", "--data", "digits", "--json"},
     5,
     2,
     "'no.onnx'",
     "\"status\": \"PX_E_INPUT\""},
#define NO_FOLDER(command, ...)                                                             \
    {                                                                                       \
        command " into a folder in memory",                                                 \
            {command, MODEL, "--data", "digits", "-o", "mem:folder", ##__VA_ARGS__},        \
            6 + (sizeof((const char *[]){"", ##__VA_ARGS__}) / sizeof(char *)) - 1, 2,      \
            "'mem:folder': a folder is wanted, and memory has none; name one on disk", NULL \
    }
    NO_FOLDER("attack"),
    NO_FOLDER("check"),
    NO_FOLDER("describe"),
    NO_FOLDER("fuzz"),
    NO_FOLDER("select", "--by", "random", "--budget", "3"),
    NO_FOLDER("synthesize", "--measure", "random"),
};

static void test_failures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        px_call_result result = px_call_result_default();
        streams s;
        streams_take(&s);
        const int status = px_call(failures[i].count, failures[i].words, NULL, &result);
        const off_t written = streams_give_back(&s);
        if (status != failures[i].status || result.status != status || written != 0 ||
            !result.error || strncmp(result.error, failures[i].error, strlen(failures[i].error)))
            fail_msg("case '%s': status %d, %d bytes written, error '%s'", failures[i].name, status,
                     (int)written, result.error ? result.error : "none");
        if (failures[i].in_json ? !result.json || !strstr(result.json, failures[i].in_json)
                                : result.json != NULL)
            fail_msg("case '%s': JSON '%s'", failures[i].name, result.json ? result.json : "none");
        px_call_done(&result);
    }
}

/* --- from memory ----------------------------------------------------------------------------- */

/* From one key to another. */
static char *part(const char *json, const char *from, const char *to)
{
    const char *begin = strstr(json, from), *end = strstr(json, to);
    assert_true(begin && end && end > begin);
    return strndup(begin, (size_t)(end - begin));
}

static void assert_same_part(const char *a, const char *b, const char *from, const char *to)
{
    char *x = part(a, from, to), *y = part(b, from, to);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static void put_digits(uint8_t *pixels, int64_t *labels, int count)
{
    px_dataset *digits = NULL, *set = NULL;
    px_data_options options = px_data_options_default();
    float values[28 * 28];
    options.limit = count;
    assert_int_equal(px_dataset_open("digits", &options, &digits, NULL), PX_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(px_dataset_pixels(digits, i, values, NULL), PX_OK);
        for (int k = 0; k < 28 * 28; k++)
            pixels[i * 28 * 28 + k] = (uint8_t)values[k];
        labels[i] = px_dataset_label(digits, i);
    }
    px_arrays arrays = px_arrays_default();
    arrays.inputs.data = pixels;
    arrays.inputs.dtype = PX_UINT8;
    arrays.inputs.shape = (px_shape){.rank = 3, .dim = {count, 28, 28}};
    arrays.labels.data = labels;
    arrays.labels.dtype = PX_INT64;
    arrays.labels.shape = (px_shape){.rank = 1, .dim = {count}};
    assert_int_equal(px_dataset_from_arrays(&arrays, "digits", &set, NULL), PX_OK);
    assert_int_equal(px_mem_put("digits", set, NULL), PX_OK);
    px_dataset_close(digits);
    px_dataset_close(set);
}

static void put_model(void)
{
    FILE *file = fopen(MODEL, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    const size_t size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    assert_int_equal(px_mem_put_model("net", bytes, size, NULL), PX_OK);
    free(bytes);
}

static void test_from_memory(void **state)
{
    (void)state;
    static uint8_t pixels[200 * 28 * 28];
    static int64_t labels[200];
    px_call_result file = px_call_result_default(), memory = px_call_result_default();
    put_digits(pixels, labels, 200);
    put_model();
    assert_int_equal(CALL(NULL, &file, "eval", MODEL, "--data", "digits", "--limit", "200",
                          "--json", "--allow-chance"),
                     0);
    assert_int_equal(
        CALL(NULL, &memory, "eval", "mem:net", "--data", "mem:digits", "--json", "--allow-chance"),
        0);
    assert_same_part(file.json, memory.json, "\"count\"", "\"doctor\"");
    assert_same_part(file.json, memory.json, "\"confusion\"", "\"seconds\"");
    assert_same_part(file.json, memory.json, "\"model_hash\"", "\"data\"");
    px_call_done(&file);
    px_call_done(&memory);
    px_dataset *set = NULL;
    float sample[28 * 28];
    assert_int_equal(px_dataset_open_split("mem:digits", NULL, &set, NULL), PX_OK);
    assert_int_equal(px_dataset_count(set), 200);
    assert_int_equal(px_dataset_label(set, 150), labels[150]);
    assert_int_equal(px_dataset_pixels(set, 150, sample, NULL), PX_OK);
    for (int k = 0; k < 28 * 28; k++)
        assert_int_equal((int)sample[k], pixels[150 * 28 * 28 + k]);
    px_dataset_close(set);
    px_error err = {0};
    assert_int_equal(px_dataset_open_split("digits", "none", &set, &err), PX_E_USAGE);
    assert_non_null(strstr(err.message, "none"));
    assert_true(px_mem_remove("net") && px_mem_remove("digits"));
    assert_int_equal(CALL(NULL, &memory, "info", "mem:net"), 2);
    assert_non_null(strstr(memory.error, "px_mem_put"));
    px_call_done(&memory);
}

/* --- files that are arrays ------------------------------------------------------------------- */

static const px_call_array *array_of(const px_call_result *result, const char *file,
                                     const char *name)
{
    for (size_t i = 0; i < result->array_count; i++)
        if (strcmp(result->arrays[i]->file, file) == 0 &&
            strcmp(result->arrays[i]->name, name) == 0)
            return result->arrays[i];
    fail_msg("no array '%s' of '%s'", name, file);
    return NULL;
}

static void test_arrays(void **state)
{
    (void)state;
    char path[] = "/tmp/plexor-call-XXXXXX.npz";
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    px_call_result result = px_call_result_default();
    static const char *const commands[] = {"trace", "predict"};
    for (int k = 0; k < 2; k++) { /* as in the file */
        px_npz *npz = NULL;
        assert_int_equal(CALL(NULL, &result, commands[k], MODEL, "--data", "digits", "--limit",
                              "150", "-o", path),
                         0);
        px_call_done(&result);
        assert_int_equal(CALL(NULL, &result, commands[k], MODEL, "--data", "digits", "--limit",
                              "150", "-o", "mem:a.npz"),
                         0);
        assert_int_equal(px_npz_open(path, &npz, NULL), PX_OK);
        assert_int_equal(px_npz_count(npz), result.array_count);
        for (size_t i = 0; i < result.array_count; i++) {
            const px_tensor *want = px_npz_get(npz, px_npz_name(npz, i));
            const px_tensor *got = &array_of(&result, "a.npz", px_npz_name(npz, i))->tensor;
            assert_true(got->dtype == want->dtype && px_shape_equal(&got->shape, &want->shape));
            assert_memory_equal(got->data, want->data, px_tensor_bytes(want));
        }
        px_npz_close(npz);
        px_call_done(&result);
    }
    unlink(path);
    assert_int_equal(CALL(NULL, &result, "select", MODEL, "--data", "digits", "--limit", "150",
                          "--budget", "3", "-o", "mem:chosen.csv"),
                     0);
    const px_tensor *csv = &array_of(&result, "chosen.csv", "")->tensor;
    assert_int_equal(csv->dtype, PX_UINT8);
    assert_memory_equal(csv->data, "rank,index,name,score,", 22);
    px_call_done(&result);
    px_error err = {0};
    px_npz_writer *writer = NULL; /* outside a call nobody takes it */
    const px_tensor one = {PX_FLOAT32, {.rank = 1, .dim = {1}}, (float[]){1}};
    assert_int_equal(px_npz_create("mem:a.npz", &writer, &err), PX_E_USAGE);
    assert_int_equal(px_npy_save("mem:a.npy", &one, &err), PX_E_USAGE);
}

/* --- callbacks ------------------------------------------------------------------------------- */

typedef struct heard {
    int progress, remarks, stop_after; /* 0: never */
    int64_t done, total;
    atomic_int asked;
    bool cancels;
    int stop; /* px_call_io.stop points here */
    char remark[256];
} heard;

static bool hear_progress(void *context, const px_call_progress *progress)
{
    heard *h = context;
    assert_int_equal(progress->size, sizeof *progress);
    assert_true(progress->label && *progress->label);
    h->done = progress->done;
    h->total = progress->total;
    return ++h->progress != h->stop_after;
}

static void hear_remark(void *context, const char *sentence)
{
    heard *h = context;
    h->remarks++;
    snprintf(h->remark, sizeof h->remark, "%s", sentence);
}

static bool hear_cancelled(void *context)
{
    heard *h = context;
    return atomic_fetch_add(&h->asked, 1) > 10 && h->cancels;
}

static px_call_io io_of(heard *h)
{
    px_call_io io = px_call_io_default();
    io.context = h;
    io.progress = hear_progress;
    io.remark = hear_remark;
    io.cancelled = hear_cancelled;
    io.stop = &h->stop;
    return io;
}

static void test_callbacks(void **state)
{
    (void)state;
    heard h = {0};
    const px_call_io io = io_of(&h);
    px_call_result result = px_call_result_default();
    /* no train data are named: that some are taken is remarked on */
    const int status = CALL(&io, &result, "cover", MODEL, "--data", "digits", "--limit", "100",
                            "--criteria", "kmnc", "--json");
    assert_int_equal(status, 0);
    assert_true(h.progress > 0 && h.remarks > 0 && atomic_load(&h.asked) > 0);
    assert_int_equal(h.done, h.total);
    assert_non_null(strstr(result.json, h.remark));
    px_call_done(&result);
    h.remarks = h.progress = 0;
    (void)CALL(&io, &result, "cover", MODEL, "--data", "digits", "--limit", "100", "--criteria",
               "kmnc", "--json", "--quiet");
    assert_int_equal(h.remarks + h.progress, 0);
    px_call_done(&result);
}

static const struct {
    const char *name;
    heard how;
} ends[] = {
    {"cancelled", {.cancels = true}},
    {"progress says no", {.stop_after = 1}},
    {"stop is set", {.stop = 1}},
};

static void test_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        heard h = ends[i].how;
        const px_call_io io = io_of(&h);
        px_call_result result = px_call_result_default();
        const int status = CALL(&io, &result, "eval", MODEL, "--data", "digits", "--json");
        if (status != 3 || !result.error)
            fail_msg("case '%s': status %d, error '%s'", ends[i].name, status,
                     result.error ? result.error : "none");
        px_call_done(&result);
        /* the next call has nothing of it */
        assert_int_equal(CALL(NULL, &result, "eval", MODEL, "--data", "digits", "--limit", "50"),
                         0);
        assert_false(px_cancelled());
        px_call_done(&result);
    }
}

/* --- more than one --------------------------------------------------------------------------- */

static bool call_inside(void *context, const px_call_progress *progress)
{
    (void)progress;
    px_call_result result = px_call_result_default();
    *(int *)context += CALL(NULL, &result, "version") == 0 && strstr(result.text, "plexor ");
    px_call_done(&result);
    return true;
}

static void test_in_a_callback(void **state)
{
    (void)state;
    int good = 0;
    px_call_io io = px_call_io_default();
    io.context = &good;
    io.progress = call_inside;
    px_call_result result = px_call_result_default();
    assert_int_equal(CALL(&io, &result, "eval", MODEL, "--data", "digits", "--limit", "100"), 0);
    assert_true(good > 0);
    assert_non_null(strstr(result.text, "accuracy "));
    assert_null(strstr(result.text, "plexor "));
    px_call_done(&result);
}

enum { THREADS = 4, ROUNDS = 3 };

typedef struct caller {
    pthread_t thread;
    const char *by;
    char *first;
    int failed;
} caller;

static void *caller_main(void *argument)
{
    caller *c = argument;
    for (int i = 0; i < ROUNDS; i++) {
        px_call_result result = px_call_result_default();
        c->failed += CALL(NULL, &result, "select", MODEL, "--data", "digits", "--limit", "200",
                          "--by", c->by, "--set", "nac.t=0.1") != 0;
        const char *ranks = strstr(result.text, "  RANK"), *end = strstr(result.text, "\nnac\n");
        char *got = ranks && end ? strndup(ranks, (size_t)(end - ranks)) : strdup("nothing");
        if (!c->first)
            c->first = got; /* without how long it took */
        c->failed += strcmp(c->first, got) != 0;
        if (got != c->first)
            free(got);
        px_call_done(&result);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const by[THREADS] = {"gini,nac", "random,nac", "gini,nac", "random,nac"};
    caller callers[THREADS];
    memset(callers, 0, sizeof callers);
    for (int i = 0; i < THREADS; i++) {
        callers[i].by = by[i];
        assert_int_equal(pthread_create(&callers[i].thread, NULL, caller_main, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
        if (callers[i].failed)
            fail_msg("thread %d: %s", i, callers[i].first);
    }
    assert_string_equal(callers[0].first, callers[2].first);
    assert_string_not_equal(callers[0].first, callers[1].first);
    for (int i = 0; i < THREADS; i++)
        free(callers[i].first);
}

/* --- what is found --------------------------------------------------------------------------- */

typedef struct findings {
    int64_t count, most; /* `most`: then the work is to end */
    int64_t id;          /* of the last one; they come in order */
} findings;

static bool hear_finding(void *context, const px_call_finding *finding)
{
    findings *f = context;
    px_json_document *document = NULL;
    assert_int_equal(finding->size, sizeof *finding);
    assert_int_equal(px_json_parse(finding->json, strlen(finding->json), &document, NULL), PX_OK);
    const px_json_value *root = px_json_root(document);
    const int64_t id = (int64_t)px_json_member(root, "id")->number;
    assert_true(id > f->id);
    assert_true(px_json_member(root, "label")->number !=
                px_json_member(root, "prediction")->number);
    assert_int_equal(finding->input.dtype, PX_UINT8);
    assert_int_equal(px_tensor_bytes(&finding->input), 28 * 28);
    assert_memory_not_equal(finding->input.data, finding->original.data, 28 * 28);
    f->id = id;
    f->count++;
    px_json_free(document);
    return f->most == 0 || f->count < f->most;
}

/* Every failure is told once, when it is in the campaign; resumed, only new ones are. */
static void test_findings(void **state)
{
    (void)state;
    char folder[] = "/tmp/plexor-call-XXXXXX", campaign[64], count[64];
    assert_non_null(mkdtemp(folder));
    snprintf(campaign, sizeof campaign, "%s/c", folder);
    findings f = {0};
    px_call_io io = px_call_io_default();
    io.context = &f;
    io.found = hear_finding;
    px_call_result result = px_call_result_default();
    int64_t told = 0;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(CALL(&io, &result, "fuzz", MODEL, "--data", "digits", "--limit", "40",
                              "--guide", "nc", "--seed", "2", "-o", campaign, "--json",
                              "--executions", i ? "1600" : "800", i ? "--resume" : "--fresh"),
                         0);
        snprintf(count, sizeof count, "\"faults\": %d,", (int)f.count);
        assert_non_null(strstr(result.json, count));
        assert_true(f.count > told);
        told = f.count;
        px_call_done(&result);
    }
    f = (findings){.most = 1};
    const int ended =
        CALL(&io, &result, "fuzz", MODEL, "--data", "digits", "--limit", "40", "--guide", "nc",
             "--seed", "2", "-o", campaign, "--executions", "1000000", "--fresh", "--json");
    assert_int_equal(f.count, 1); /* and no more are told until the work has ended */
    assert_true(ended != 0 || strstr(result.json, "asked to"));
    px_call_done(&result);
    f = (findings){0};
    assert_int_equal(CALL(&io, &result, "attack", MODEL, "--data", "digits", "--limit", "20",
                          "--eps", "0.2", "-o", campaign, "--fresh"),
                     0);
    assert_true(f.count > 0);
    px_call_done(&result);
    snprintf(count, sizeof count, "rm -r %s", folder);
    assert_int_equal(system(count), 0);
}

/* A program that was built when the structs were shorter. */
static void test_short_structs(void **state)
{
    (void)state;
    heard h = {0};
    px_call_io io = io_of(&h);
    px_call_result result = px_call_result_default();
    io.size = offsetof(px_call_io, remark);
    result.size = offsetof(px_call_result, json);
    result.text = "untouched";
    assert_int_equal(CALL(&io, &result, "cover", MODEL, "--data", "digits", "--limit", "50",
                          "--criteria", "kmnc"),
                     0);
    assert_true(h.progress > 0);
    assert_int_equal(h.remarks, 0);
    assert_int_equal(result.size, offsetof(px_call_result, json));
    assert_string_equal(result.text, "untouched");
    px_call_done(&result);
    assert_int_equal(px_abi_version(), PX_ABI_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),       cmocka_unit_test(test_failures),
        cmocka_unit_test(test_from_memory),   cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_callbacks),     cmocka_unit_test(test_ends),
        cmocka_unit_test(test_in_a_callback), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_short_structs), cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
