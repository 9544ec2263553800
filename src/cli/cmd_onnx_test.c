/* src/cli/cmd_onnx_test.c - plexor onnx-test DIR... */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "base/ascending.h"
#include "cli/cli_fields.h"

#include <dirent.h>
#include <errno.h>
#include <internal/onnx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEST_DEPTH = 4 };

typedef struct test_list {
    bool verbose; /* folders with a model.onnx, and what came of them */
    char **folders;
    px_onnx_case *cases;
    size_t count, capacity;
    size_t verdicts[PX_ONNX_SKIPPED + 1], compiled; /* of those that passed */
} test_list;

static void list_done(test_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->folders[i]);
    free(list->folders);
    free(list->cases);
}

/* Takes over `folder`. */
static px_status list_add(test_list *list, char *folder, px_error *err)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        char **grown = reallocarray(list->folders, capacity, sizeof *grown);
        if (!grown) {
            free(folder);
            return pxi_no_memory(err);
        }
        list->folders = grown;
        list->capacity = capacity;
    }
    list->folders[list->count++] = folder;
    return PX_OK;
}

static char *join(const char *folder, const char *name)
{
    px_text text = {0};
    px_text_format(&text, "%s/%s", folder, name);
    return px_text_take(&text);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The folder itself if it has a model, else those below it, by name. Takes over `folder`. */
static px_status list_collect(test_list *list, char *folder, int depth, px_error *err)
{
    char *model = folder ? join(folder, "model.onnx") : NULL;
    if (!model) {
        free(folder);
        return pxi_no_memory(err);
    }
    const bool is_test = access(model, F_OK) == 0;
    free(model);
    if (is_test)
        return list_add(list, folder, err);
    px_status status = PX_OK;
    struct dirent **entries = NULL;
    const int count = depth < TEST_DEPTH ? scandir(folder, &entries, visible, by_name) : 0;
    if (count < 0 && depth == 0)
        status = px_fail(err, PX_E_INPUT, "'%s': cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        PX_THEN(status, list_collect(list, join(folder, entries[i]->d_name), depth + 1, err));
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return status;
}

static px_status list_find(test_list *list, const char *const *words, px_error *err)
{
    for (size_t i = 0; words[i]; i++) {
        const size_t before = list->count;
        size_t length = strlen(words[i]);
        while (length > 1 && words[i][length - 1] == '/')
            length--;
        PX_TRY(list_collect(list, strndup(words[i], length), 0, err));
        if (list->count == before)
            return px_fail(err, PX_E_INPUT, "'%s': there is no model.onnx in it or below it",
                           words[i]);
    }
    return PX_NEW(list->cases, list->count, err);
}

static void list_sum(test_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        list->verdicts[list->cases[i].verdict]++;
        list->compiled += list->cases[i].verdict == PX_ONNX_PASSED && list->cases[i].compiled;
    }
}

typedef struct test_row {
    size_t at;
    const char *name, *lacks;
} test_row;

/* The next case with that verdict. */
static const void *row_get(const test_list *list, size_t i, px_onnx_verdict verdict, test_row *row)
{
    row->at = i ? row->at + 1 : 0;
    while (row->at < list->count && list->cases[row->at].verdict != verdict)
        row->at++;
    if (row->at >= list->count)
        return NULL;
    row->name = pxi_base_name(list->folders[row->at]);
    row->lacks = list->cases[row->at].lacks;
    return row;
}

static const void *failed_get(const void *of, size_t i, void *row)
{
    return row_get(of, i, PX_ONNX_FAILED, row);
}

static const void *skipped_get(const void *of, size_t i, void *row)
{
    return row_get(of, i, PX_ONNX_SKIPPED, row);
}

static const px_field failed_fields[] = {
    PX_FIELD(test_row, name, "", "its name"),
    PX_FIELDS_END,
};

static const px_field skipped_fields[] = {
    PX_FIELD(test_row, name, "test", "its name"),
    PX_FIELD(test_row, lacks, "", "the operator that there is not"),
    PX_FIELDS_END,
};

static const px_field test_fields[] = {
    PX_FIELD(test_list, verdicts[PX_ONNX_PASSED], "passed", "tests"),
    PX_FIELD(test_list, verdicts[PX_ONNX_FAILED], "failed", "tests"),
    PX_FIELD(test_list, verdicts[PX_ONNX_SKIPPED], "skipped", "tests of what there is not"),
    PX_FIELD(test_list, compiled, "compiled", "tests that passed as a plan, too"),
    PX_LIST_MADE(failed_get, failed_fields, "failures", "names of tests"),
    PX_MAP_MADE(skipped_get, skipped_fields, "skips", "why"),
    PX_FIELDS_END,
};

/* "If 3, Loop 2": what stands behind the skips. */
static void print_skips(const test_list *list)
{
    const char **operators = calloc(list->count + 1, sizeof *operators);
    size_t count = 0;
    for (size_t i = 0; i < list->count && operators; i++)
        if (list->cases[i].verdict == PX_ONNX_SKIPPED)
            operators[count++] = list->cases[i].lacks;
    if (count) {
        qsort(operators, count, sizeof *operators, pxi_order_text);
        cli_print("skipped for want of:");
        for (size_t i = 0, next; i < count; i = next) {
            for (next = i; next < count && strcmp(operators[next], operators[i]) == 0;)
                next++;
            cli_print("%s %s %zu", i ? "," : "", operators[i], next - i);
        }
        cli_print("\n");
    }
    free(operators);
}

static void print_text(const void *of)
{
    const test_list *list = of;
    for (size_t i = 0; i < list->count; i++) {
        const px_onnx_case *result = &list->cases[i];
        if (result->verdict == PX_ONNX_FAILED)
            cli_print("FAILED %s: %s\n", pxi_base_name(list->folders[i]), result->message);
        else if (result->verdict == PX_ONNX_SKIPPED && list->verbose)
            cli_print("skipped %s (%s): %s\n", pxi_base_name(list->folders[i]), result->lacks,
                      result->message);
    }
    print_skips(list);
    cli_print("%zu passed (%zu of them compiled, too), %zu failed, %zu skipped\n",
              list->verdicts[PX_ONNX_PASSED], list->compiled, list->verdicts[PX_ONNX_FAILED],
              list->verdicts[PX_ONNX_SKIPPED]);
}

static int onnx_test_run(const cli_command *self, int argc, char **argv)
{
    double rtol = 1e-3, atol = 1e-7;
    bool verbose = false;
    const char **words =
        cli_keep_alloc((size_t)argc + 1, sizeof *words); /* as many as there can be */
    const cli_option options[] = {
        CLI_REAL(0, "rtol", &rtol, "X", 0, 1, "relative tolerance"),
        CLI_REAL(0, "atol", &atol, "X", 0, 1, "absolute tolerance"),
        CLI_FLAG('v', "verbose", &verbose, "name every skipped test, and why"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    if (!words)
        return cli_no_memory(self);
    CLI_TRY(cli_parse(self, argc, argv, options, words, 1, argc));
    px_error err = {0};
    test_list list = {.verbose = verbose};
    px_status status = list_find(&list, words, &err);
    for (size_t i = 0; i < list.count && status == PX_OK; i++) {
        px_onnx_case_run(list.folders[i], rtol, atol, &list.cases[i]);
        if (!cli_tick(CLI_WORDS("tests"), (int64_t)i + 1, (int64_t)list.count))
            status = px_fail(&err, PX_E_CANCELLED, "cancelled after %zu of %zu tests", i + 1,
                             list.count);
    }
    list_sum(&list);
    int rc = cli_answer(self, status, &err, &list, print_text);
    if (rc == CLI_DONE && list.verdicts[PX_ONNX_FAILED])
        rc = CLI_CHECK_FAILED;
    list_done(&list);
    return rc;
}

const cli_command cli_command_onnx_test = {
    .name = "onnx-test",
    .usage = "DIR... [options]",
    .help = "run ONNX backend tests",
    .details =
        "DIR holds model.onnx and test_data_set_*/{input,output}_*.pb, or folders that do. "
        "Each data set runs through the plain interpreter and, where shapes do not depend on "
        "the values of inputs, through a compiled plan; both must give the expected outputs. "
        "Tests of operators that plexor does not have are skipped by name. The exit status is "
        "1 if any test failed.",
    .examples = "plexor onnx-test build/tests/conformance/node\n",
    .run = onnx_test_run,
    .result = test_fields,
};
