/* src/cli/cmd_export.c - plexor export CAMPAIGN -o FOLDER: inputs as PNG, NPZ, CSV, a sheet */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"

#include <inttypes.h>
#include <plexor/store.h>
#include <string.h>

/* Reads a comma list of words into bits; false: a word is none of them. */
static bool export_words(const char *list, const char *const *words, const unsigned *bits,
                         unsigned *out)
{
    *out = 0;
    while (*list) {
        const size_t length = strcspn(list, ",");
        size_t i = 0;
        while (words[i] && (strlen(words[i]) != length || strncmp(words[i], list, length) != 0))
            i++;
        if (!words[i])
            return false;
        *out |= bits[i];
        list += length + (list[length] == ',');
    }
    return *out != 0;
}

enum { AS_PNG = 1, AS_NPZ = 2, AS_CSV = 4, AS_SHEET = 8 };
static const char *const format_words[] = {"png", "npz", "csv", "sheet", NULL};
static const unsigned format_bits[] = {AS_PNG, AS_NPZ, AS_CSV, AS_SHEET};
static const char *const kind_words[] = {"faults", "kept", "seeds", "generated", "all", NULL};
static const unsigned kind_bits[] = {PX_INPUT_FAULT, PX_INPUT_KEPT, PX_INPUT_SEED,
                                     PX_INPUT_FAULT | PX_INPUT_KEPT, PX_INPUT_ANY};

typedef struct export_result {
    const char *to;
    px_exported done;
} export_result;

static const px_field export_fields[] = {
    PX_FIELD(export_result, to, "output", "the folder"),
    PX_FIELD(export_result, done.inputs, "count", "inputs that were written"),
    PX_INDEX(export_result, done.damaged, "damaged",
             "inputs that could not be read; null: nobody knows how many"),
    PX_FIELDS_END,
};

static void export_print(const void *of)
{
    const export_result *result = of;
    cli_print("%" PRId64 " inputs in %s\n", result->done.inputs, result->to);
}

static int export_report(const cli_command *self, const px_exported *done, const char *folder,
                         const char *to, bool wants_pictures)
{
    if (!done->pictures && wants_pictures)
        cli_note(self, "'%s': no PNG files, its inputs are not 8-bit grey or RGB", folder);
    if (done->damaged)
        cli_now()->quiet = false; /* whoever deletes the campaign next must hear of it */
    if (done->damaged > 0)
        cli_note(self, "'%s': is damaged; %" PRId64 " of %" PRId64 " inputs could not be read",
                 folder, done->damaged, done->damaged + done->inputs);
    else if (done->damaged < 0)
        cli_note(self, "'%s': is damaged; some inputs could not be read, nobody knows how many",
                 folder);
    const export_result result = {to, *done};
    const int rc = cli_show(self, export_fields, &result, export_print);
    return rc == CLI_DONE && done->damaged ? CLI_BAD_INPUT : rc;
}

static int export_run(const cli_command *self, int argc, char **argv)
{
    int64_t threads = 0;
    const char *folder = NULL, *to = NULL, *kinds = "faults", *formats = "png,npz,csv,sheet";
    unsigned as = 0;
    bool fresh = false;
    px_export_options what = px_export_options_default();
    const cli_option options[] = {
        CLI_STRING('o', "output", &to, "FOLDER", "a new folder"),
        CLI_STRING(0, "split", &kinds, "LIST",
                   "which inputs: faults, kept, seeds, generated (the first two), all"),
        CLI_STRING(
            0, "format", &formats, "LIST",
            "png (folders by kind of failure), npz, csv, sheet; all of them unless some are named"),
        CLI_FLAG(0, "fresh", &fresh, "in place of what an earlier export wrote there"),
        CLI_REAL(0, "min-similarity", &what.least.similarity, "X", 0, 1,
                 "leave out failures less similar to their originals, what moved being undone"),
        CLI_REAL(0, "min-inside", &what.least.inside, "X", 0, 1,
                 "and those with less of the object left in the frame"),
        CLI_INT('j', "threads", &threads, "N", 0, 1024,
                "taken as everywhere; one thread is enough here"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &folder, 1, 1));
    CLI_TRY(cli_require(self, "output", to));
    if (!export_words(kinds, kind_words, kind_bits, &what.kinds))
        return cli_usage_error(self, "--split %s: expected faults, kept, seeds, generated or all",
                               kinds);
    if (!export_words(formats, format_words, format_bits, &as))
        return cli_usage_error(self, "--format %s: expected some of png, npz, csv, sheet", formats);
    what.fresh = fresh;
    what.png = as & AS_PNG;
    what.npz = as & AS_NPZ;
    what.csv = as & AS_CSV;
    what.sheet = as & AS_SHEET;
    px_error err = {0};
    px_campaign *campaign = NULL;
    px_exported done = {0};
    px_status status = px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, &err);
    PX_THEN(status, px_campaign_export(campaign, to, &what, &done, &err));
    px_campaign_close(campaign);
    if (status != PX_OK)
        return cli_fail(self, &err);
    return export_report(self, &done, folder, to, what.png || what.sheet);
}

const cli_command cli_command_export = {
    .name = "export",
    .usage = "CAMPAIGN -o FOLDER [options]",
    .help = "write a campaign's inputs as PNG folders, NPZ, CSV, a contact sheet",
    .details =
        "PNG files lie in faults/LABEL-as-PREDICTION/ID.png, kept/LABEL/ and seeds/LABEL/. "
        "inputs.npz has x, y, predictions, ids and indices; index.csv a row per input with the "
        "name of the file it came from, names of classes, how near it is to its original and its "
        "mutation chain; sheet.png shows failures beside their originals. Failures come in the "
        "order of how near they are. Of a damaged campaign everything is written that can be read, "
        "and the exit status is 2; where the disk cannot be read it is 3, and nothing is written.",
    .examples = "plexor export run.campaign -o failures\n"
                "plexor export run.campaign --split all --format csv -o list\n",
    .run = export_run,
    .result = export_fields,
};
