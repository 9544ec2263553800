/* src/cli/cmd_merge.c - plexor merge A.state B.state ... -o C.state */
#include "cli/cli_cover.h"

#include <inttypes.h>
#include <plexor/localize.h>
#include <stdio.h>
#include <stdlib.h>

static int merge_order(const void *a, const void *b)
{
    const int64_t x = px_cover_first(*(px_cover *const *)a),
                  y = px_cover_first(*(px_cover *const *)b);
    return (x > y) - (x < y);
}

static px_status merge_all(px_cover **covers, size_t count, const char *to, px_error *err)
{
    /* Criteria that depend on the order of inputs get the parts in the order of the data. */
    qsort(covers, count, sizeof *covers, merge_order);
    for (size_t i = 1; i < count; i++)
        PX_TRY(px_cover_merge(covers[0], covers[i], err));
    return px_cover_save(covers[0], to, err);
}

/* Hit spectra of `plexor localize`: sums, in any order. */
static int merge_spectra(const cli_command *self, const char *const *paths, size_t count,
                         const char *to, bool as_json)
{
    px_error err = {0};
    px_spectrum *sum = NULL;
    px_status status = px_spectrum_open(paths[0], &sum, &err);
    for (size_t i = 1; i < count && status == PX_OK; i++) {
        px_spectrum *part = NULL;
        status = px_spectrum_open(paths[i], &part, &err);
        if (status == PX_OK)
            status = px_spectrum_merge(sum, part, &err);
        px_spectrum_free(part);
    }
    if (status == PX_OK)
        status = px_spectrum_save(sum, to, &err);
    int rc = CLI_DONE;
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
    } else {
        const int64_t failed = px_spectrum_failed(sum, PX_POOLED);
        const int64_t inputs = failed + px_spectrum_passed(sum, PX_POOLED);
        if (as_json) {
            px_json json = {0};
            cli_json_open(&json);
            px_json_string(&json, "output", to);
            px_json_int(&json, "states", (int64_t)count);
            px_json_int(&json, "count", inputs);
            px_json_int(&json, "failed", failed);
            px_json_string(&json, "neurons", px_spectrum_definition(sum));
            px_json_end(&json);
            rc = cli_print_json(self, &json);
        } else {
            printf("%s: hits on %" PRId64 " inputs, %" PRId64 " of them wrong; %s\n", to, inputs,
                   failed, px_spectrum_definition(sum));
        }
    }
    px_spectrum_free(sum);
    return rc;
}

static int merge_covers(const cli_command *self, const char *const *paths, size_t count,
                        const char *to, bool as_json)
{
    px_error err = {0};
    px_cover **covers = calloc(count, sizeof *covers);
    px_status status = covers ? PX_OK : px_fail(&err, PX_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = px_cover_open(paths[i], &covers[i], &err);
    if (status == PX_OK)
        status = merge_all(covers, count, to, &err);
    int rc = CLI_DONE;
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
    } else if (as_json) {
        px_json json = {0};
        cli_json_open(&json);
        px_json_string(&json, "output", to);
        px_json_int(&json, "states", (int64_t)count);
        cover_json_criteria(covers[0], NULL, &json);
        px_json_end(&json);
        rc = cli_print_json(self, &json);
    } else {
        cover_print_table(covers[0], NULL);
    }
    for (size_t i = 0; covers && i < count; i++)
        px_cover_free(covers[i]);
    free(covers);
    return rc;
}

static int merge_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    const char *to = NULL;
    const char **paths = calloc((size_t)argc + 1, sizeof *paths); /* as many as there can be */
    const cli_option options[] = {
        CLI_STRING('o', "output", &to, "FILE", "the sum of all states"),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    if (!paths)
        return cli_fail(self, &(px_error){PX_E_NOMEM, "out of memory"});
    int rc = cli_parse(self, argc, argv, options, paths, 1, argc);
    if (rc == CLI_GO && !cli_require(self, "output", to))
        rc = CLI_BAD_INPUT;
    if (rc == CLI_GO) {
        size_t count = 0;
        while (paths[count])
            count++;
        rc = px_spectrum_is_file(paths[0]) ? merge_spectra(self, paths, count, to, output.json)
                                           : merge_covers(self, paths, count, to, output.json);
    }
    free(paths);
    return rc;
}

const cli_command cli_command_merge = {
    .name = "merge",
    .usage = "A.state B.state ... -o C.state [options]",
    .help = "join coverage states, or hit spectra, of parts of the data",
    .details =
        "The states must be of the same network, criteria, settings, neurons and profile, "
        "and must not have seen the same inputs. Parts made with --shard give the same bytes "
        "as one run over all the data; except for criteria that depend on the order of "
        "inputs (cc), whose parts are put together in the order of the data. Hit spectra that "
        "'plexor localize --state' saved are joined likewise.",
    .examples = "plexor merge 0.state 1.state 2.state 3.state -o all.state\n",
    .run = merge_run,
};
