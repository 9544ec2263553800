/* src/cli/cmd_merge.c - plexor merge A.state B.state ... -o C.state; of campaigns, too */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_cover.h"

#include <internal/campaign_merge.h>
#include <internal/localize.h>
#include <internal/select.h>
#include <inttypes.h>
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

typedef struct merge_report {
    const char *to, *definition; /* definition NULL: they are coverage states, or campaigns */
    int64_t states, count, failed;
    const char *selector; /* NULL: they are no selections */
    int64_t selected;
    cover_values values;
    const px_merged *merged; /* NULL: they are no campaigns */
} merge_report;

static const px_field campaigns_fields[] = {
    PX_FIELD(px_merged, campaigns, "campaigns", "that were joined"),
    PX_FIELD(px_merged, from_seeds, "seeds_before", "in all of them"),
    PX_FIELD(px_merged, from_kept, "kept_before", "in all of them"),
    PX_FIELD(px_merged, from_faults, "faults_before", "in all of them"),
    PX_FIELD(px_merged, repeats, "repeats", "kept inputs that were there already: left out"),
    PX_FIELD(px_merged, twins, "twins", "failures that nearly repeat another one: left out"),
    PX_FIELD(px_merged, counts.seeds, "seeds", "different ones"),
    PX_FIELD(px_merged, counts.kept, "kept", "inputs that were kept"),
    PX_FIELD(px_merged, counts.faults, "faults", "distinct failures"),
    PX_FIELD(px_merged, counts.fault_types, "fault_types", "pairs of label and answer among them"),
    PX_FIELD(px_merged, counts.classes, "classes", "answers among them"),
    PX_FIELD(px_merged, counts.executions, "executions", "of the network, of all together"),
    PX_FIELD(px_merged, counts.seconds, "seconds", "that they ran, together", .unit = "s"),
    PX_FIELDS_END,
};

static const px_field merge_fields[] = {
    PX_FIELD(merge_report, to, "output", "file of the sum"),
    PX_FIELD(merge_report, states, "states", "that were joined", PX_IF(merge_report, states)),
    PX_OBJECT_AT(merge_report, merged, campaigns_fields, "", PX_IF(merge_report, merged)),
    PX_FIELD(merge_report, count, "count", "inputs", PX_IF(merge_report, count)),
    PX_FIELD(merge_report, selector, "selector", "of selections", .optional = true),
    PX_FIELD(merge_report, selected, "selected", "inputs", PX_IF(merge_report, selector)),
    PX_FIELD(merge_report, failed, "failed", "inputs that the network gets wrong",
             PX_IF(merge_report, definition)),
    PX_FIELD(merge_report, definition, "neurons", "which ones, of hit spectra", .optional = true),
    PX_OBJECT(merge_report, values, cover_values_fields, "", PX_IF(merge_report, values.cover)),
    PX_FIELDS_END,
};

static void merge_print(const void *of)
{
    const merge_report *r = of;
    const px_merged *m = r->merged;
    if (m)
        cli_print("%s: %" PRId64 " seeds, %" PRId64 " kept inputs, %" PRId64
                  " distinct failures of %" PRId64 " kinds; of %" PRId64 " failures in %" PRId64
                  " campaigns %" PRId64 " nearly repeat others\n",
                  r->to, m->counts.seeds, m->counts.kept, m->counts.faults, m->counts.fault_types,
                  m->from_faults, m->campaigns, m->twins);
    else if (r->values.cover)
        cover_print_table(&r->values);
    else if (r->selector)
        cli_print("%s: %" PRId64 " of %" PRId64 " inputs, the best by %s\n", r->to, r->selected,
                  r->count, r->selector);
    else
        cli_print("%s: hits on %" PRId64 " inputs, %" PRId64 " of them wrong; %s\n", r->to,
                  r->count, r->failed, r->definition);
}

/* Hit spectra of `plexor localize`: sums, in any order. */
static int merge_spectra(const cli_command *self, const char *const *paths, size_t count,
                         const char *to)
{
    px_error err = {0};
    px_spectrum *sum = NULL;
    px_status status = px_spectrum_open(paths[0], &sum, &err);
    for (size_t i = 1; i < count && status == PX_OK; i++) {
        px_spectrum *part = NULL;
        status = px_spectrum_open(paths[i], &part, &err);
        PX_THEN(status, px_spectrum_merge(sum, part, &err));
        px_spectrum_free(part);
    }
    PX_THEN(status, px_spectrum_save(sum, to, &err));
    merge_report r = {.to = to, .states = (int64_t)count};
    if (status == PX_OK) {
        r.failed = px_spectrum_failed(sum, PX_POOLED);
        r.count = r.failed + px_spectrum_passed(sum, PX_POOLED);
        r.definition = px_spectrum_definition(sum);
    }
    const int rc = cli_answer(self, status, &err, &r, merge_print);
    px_spectrum_free(sum);
    return rc;
}

/* --fresh is of campaigns alone: a file is replaced as files are. */
static int merge_campaigns(const cli_command *self, const char *const *paths, size_t count,
                           const char *to, bool fresh)
{
    px_error err = {0};
    px_merged merged = {0};
    const double near = 2.0; /* as fuzz has it unless told otherwise */
    const px_status status = px_campaigns_merge(paths, count, to, near, fresh, &merged, &err);
    const merge_report r = {.to = to, .merged = &merged};
    return cli_answer(self, status, &err, &r, merge_print);
}

/* Selections of `plexor select`: the best of all parts. */
static int merge_selections(const cli_command *self, const char *const *paths, size_t count,
                            const char *to)
{
    px_error err = {0};
    px_selection *all = NULL;
    px_status status = px_selection_open(paths[0], &all, &err);
    for (size_t i = 1; i < count && status == PX_OK; i++) {
        px_selection *part = NULL;
        status = px_selection_open(paths[i], &part, &err);
        PX_THEN(status, px_selection_merge(all, part, &err));
        px_selection_free(part);
    }
    PX_THEN(status, px_selection_save(all, to, &err));
    merge_report r = {.to = to, .states = (int64_t)count};
    if (status == PX_OK) {
        r.count = px_selection_seen(all);
        r.selected = px_selection_count(all);
        r.selector = px_selection_selector(all);
    }
    const int rc = cli_answer(self, status, &err, &r, merge_print);
    px_selection_free(all);
    return rc;
}

static int merge_covers(const cli_command *self, const char *const *paths, size_t count,
                        const char *to)
{
    px_error err = {0};
    px_cover **covers = NULL;
    px_status status = PX_NEW(covers, count, &err);
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = px_cover_open(paths[i], &covers[i], &err);
    PX_THEN(status, merge_all(covers, count, to, &err));
    const merge_report r = {
        .to = to, .states = (int64_t)count, .values = {.cover = covers ? covers[0] : NULL}};
    const int rc = cli_answer(self, status, &err, &r, merge_print);
    for (size_t i = 0; covers && i < count; i++)
        px_cover_free(covers[i]);
    free(covers);
    return rc;
}

static int merge_run(const cli_command *self, int argc, char **argv)
{
    const char *to = NULL;
    bool fresh = false;
    const char **paths =
        cli_keep_alloc((size_t)argc + 1, sizeof *paths); /* as many as there can be */
    const cli_option options[] = {
        CLI_STRING('o', "output", &to, "FILE", "the sum of all states; of campaigns, a folder"),
        CLI_FLAG(0, "fresh", &fresh, "of campaigns: the one that is there is removed first"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    if (!paths)
        return cli_no_memory(self);
    CLI_TRY(cli_parse(self, argc, argv, options, paths, 1, argc));
    CLI_TRY(cli_require(self, "output", to));
    size_t count = 0;
    while (paths[count])
        count++;
    if (px_campaign_is(paths[0]))
        return merge_campaigns(self, paths, count, to, fresh);
    if (fresh)
        return cli_usage_error(self, "--fresh goes with campaigns");
    if (px_selection_is_file(paths[0]))
        return merge_selections(self, paths, count, to);
    return px_spectrum_is_file(paths[0]) ? merge_spectra(self, paths, count, to)
                                         : merge_covers(self, paths, count, to);
}

const cli_command cli_command_merge = {
    .name = "merge",
    .usage = "A.state B.state ... -o C.state [options]",
    .help = "join coverage states, hit spectra or selections of parts of the data, or campaigns",
    .details =
        "The states must be of the same network, criteria, settings, neurons and profile, "
        "and must not have seen the same inputs. Parts made with --shard give the same bytes "
        "as one run over all the data; except for criteria that depend on the order of "
        "inputs (cc), whose parts are put together in the order of the data. Hit spectra that "
        "'plexor localize --state' saved are joined likewise.\n\n"
        "Campaigns must be of the same network and data. Seeds that several have are one, what "
        "repeats an input that is there is left out, and so are failures that nearly repeat "
        "another one; lineages are kept, executions and seconds added up. What comes out is "
        "exported, replayed and minimized as others are, but not gone on with.",
    .examples = "plexor merge 0.state 1.state 2.state 3.state -o all.state\n"
                "plexor merge monday.campaign tuesday.campaign -o both.campaign\n",
    .run = merge_run,
    .result = merge_fields,
};
