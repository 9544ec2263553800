/* src/cli/cmd_assess.c - plexor assess MODEL --original SPEC --adversarial SPEC|CAMPAIGN */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/assess_partners.h"
#include "cli/cli_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct assess_args {
    assess_wish wish;
    cli_workers workers;
    cli_list settings;
    const char *metrics, *range;
    bool explain;
} assess_args;

typedef struct assess_work {
    const cli_command *self;
    const assess_args *a;
    px_model *model;
    assess_sides sides;
    px_assess *assess;
    px_assess_summary sum;
    cli_origin origin;
    const char *adversarial;
    uint64_t adversarial_hash;
} assess_work;

static px_status work_run(assess_work *w, px_error *err)
{
    const assess_args *a = w->a;
    px_assess_options o = px_assess_options_default();
    o.metrics = a->metrics;
    o.settings = a->settings.item;
    o.setting_count = (size_t)a->settings.count;
    o.batch = a->workers.batch;
    o.threads = (int)a->workers.threads;
    if (a->range)
        PX_TRY(cli_range(a->range, &o.low, &o.high, err));
    const px_assess_job job = {
        .model = w->model,
        .original = {w->sides.original.set, &w->sides.original.pre},
        .adversarial = {w->sides.adversarial.set, &w->sides.adversarial.pre},
        .partners = w->sides.partners,
    };
    o.progress = cli_tick;
    o.progress_context = CLI_WORDS("assess");
    return px_assess_run(&job, &o, &w->assess, err);
}

static bool work_measures(const assess_work *w, const char *id)
{
    for (size_t i = 0; i < px_assess_metric_count(w->assess); i++)
        if (strcmp(px_assess_metric(w->assess, i).metric->entry.id, id) == 0)
            return true;
    return false;
}

static void work_notes(const assess_work *w)
{
    const px_assess_summary *s = &w->sum;
    if (w->sides.left)
        cli_note(w->self, "%" PRId64 " originals have no adversarial partner and were left out",
                 w->sides.left);
    if (s->unlabelled)
        cli_note(w->self,
                 "%" PRId64 " of %" PRId64 " pairs have no label: what the network says of the "
                 "original stands in for it",
                 s->unlabelled, s->pairs);
    if (s->not_finite)
        cli_note(w->self,
                 "%" PRId64 " of %" PRId64 " pairs have class scores that are no numbers; they "
                 "count as not misclassified",
                 s->not_finite, s->pairs);
    if (s->jpegs && work_measures(w, "ric"))
        cli_note(w->self,
                 "%" PRId64 " of %" PRId64 " adversarial inputs were JPEGs already: ric compresses "
                 "them again, which changes less",
                 s->jpegs, s->pairs);
}

static px_status work_all(assess_work *w, const char *path, px_error *err)
{
    PX_TRY(cli_model_load(w->self, path, &w->model, err));
    PX_TRY(assess_sides_open(w->model, &w->a->wish, &w->sides, err));
    PX_TRY(work_run(w, err));
    w->sum = px_assess_sum(w->assess);
    w->origin = cli_origin_of(w->model, w->sides.original.set);
    w->adversarial = px_dataset_describe(w->sides.adversarial.set);
    w->adversarial_hash = px_dataset_hash(w->sides.adversarial.set);
    work_notes(w);
    return PX_OK;
}

static void print_explained(const px_metric *m)
{
    cli_print("\n%s: %s\n    %s\n    better %s%s; %s\n", m->entry.id, m->entry.title, m->definition,
              px_better_name(m->better),
              m->stated ? "" : " (of the network; the paper speaks of the inputs)",
              m->entry.source);
    if (m->remark)
        cli_print("    %s\n", m->remark);
    for (const px_param *p = m->entry.params; p && p->name; p++)
        cli_print("    --set %s.%s: %s\n", m->entry.id, p->name, p->help);
}

typedef struct metric_row {
    px_metric_value v;
    const char *id, *better, *about;
    double all;
    bool is_asr;
    const px_metric *explained; /* NULL: nobody asked */
    char text[512];
} metric_row;

static const void *metric_row_get(const void *of, size_t i, void *place)
{
    const assess_work *w = of;
    metric_row *row = place;
    if (i >= px_assess_metric_count(w->assess))
        return NULL;
    const px_metric_value v = px_assess_metric(w->assess, i);
    *row = (metric_row){.v = v,
                        .id = v.metric->entry.id,
                        .better = px_better_name(v.metric->better),
                        .all = (double)w->sum.wrong / (double)w->sum.pairs,
                        .is_asr = strcmp(v.metric->entry.id, "asr") == 0,
                        .explained = w->a->explain ? v.metric : NULL};
    if (v.why)
        snprintf(row->text, sizeof row->text, "%s: %s", v.metric->entry.title, v.why);
    else
        snprintf(row->text, sizeof row->text, "%s%s%s%s", v.metric->entry.title,
                 *v.settings ? " (" : "", v.settings, *v.settings ? ")" : "");
    return row;
}

static const px_field explained_fields[] = {
    PX_FIELD(px_metric, entry.title, "title", "in words"),
    PX_FIELD(px_metric, definition, "definition", "formula"),
    PX_FIELD(px_metric, entry.source, "equation", "where it is defined"),
    PX_FIELD(px_metric, stated, "better_stated", "the paper says which way is better"),
    PX_FIELD(px_metric, remark, "remark", "where plexor differs"),
    PX_FIELDS_END,
};

static const px_field metric_fields[] = {
    PX_FIELD(metric_row, id, "metric", "its id", .title = "METRIC"),
    PX_FIELD(metric_row, v.value, "value", "null: undefined", .title = "VALUE",
             .none = "undefined"),
    PX_FIELD(metric_row, v.n, "n", "pairs that it is the mean of", .title = "OF", .format = ","),
    PX_FIELD(metric_row, v.left_out, "left_out", "pairs without a value"),
    PX_FIELD(metric_row, better, "better", "which way, for the network", .title = "BETTER"),
    PX_FIELD(metric_row, v.settings, "settings", "as --set takes them"),
    PX_FIELD(metric_row, v.why, "undefined", "why it is; null: it is not"),
    PX_CHARS(metric_row, text, NULL, NULL, .title = "WHAT IT IS"),
    PX_FIELD(metric_row, all, "all", "wrong ones of all pairs", .unit = PX_SHARE,
             PX_IF(metric_row, is_asr)),
    PX_OBJECT_AT(metric_row, explained, explained_fields, "", .optional = true),
    PX_FIELDS_END,
};

static const px_field assess_fields[] = {
    PX_OBJECT(assess_work, origin, cli_origin_fields, ""),
    PX_FIELD(assess_work, adversarial, "adversarial", "what became of the inputs"),
    PX_HASH(assess_work, adversarial_hash, "adversarial_hash", "of which inputs they are"),
    PX_OBJECT(assess_work, sides.original, cli_inputs_fields, ""),
    PX_FIELD(assess_work, sides.how, "paired_by", "campaign, name or index"),
    PX_FIELD(assess_work, sum.pairs, "pairs", "inputs, and what became of them"),
    PX_FIELD(assess_work, sum.right, "right", "originals that are classified correctly"),
    PX_FIELD(assess_work, sum.wrong, "wrong", "adversarial inputs that are misclassified"),
    PX_FIELD(assess_work, sum.fooled, "fooled", "of them, from right originals"),
    PX_FIELD(assess_work, sum.unlabelled, "unlabelled", "the original's prediction is the label"),
    PX_FIELD(assess_work, sum.not_finite, "not_finite", "pairs with scores that are no numbers"),
    PX_FIELD(assess_work, sum.jpegs, "jpegs", "adversarial inputs that were JPEGs already"),
    PX_MAP_MADE(metric_row_get, metric_fields, "", "metrics by id", .title = "metrics"),
    PX_FIELD(assess_work, sum.seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

static void work_print(const void *of)
{
    const assess_work *w = of;
    const px_assess_summary *s = &w->sum;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    cli_print("originals    %s\nadversarial  %s\n", w->origin.data, w->adversarial);
    cli_print("%s pairs by %s: %s originals are right, ", cli_number(s->pairs, a), w->sides.how,
              cli_number(s->right, b));
    cli_print("%s adversarial inputs are wrong, ", cli_number(s->wrong, c));
    cli_print("%s of them from right originals\n\n", cli_number(s->fooled, a));
    cli_print_list(assess_fields, "metrics", w, "", 0);
    for (size_t i = 0; i < px_assess_metric_count(w->assess); i++) {
        const px_metric_value v = px_assess_metric(w->assess, i);
        if (v.left_out)
            cli_print("%s%s: %s without a value left out\n", i ? "" : "\n", v.metric->entry.id,
                      cli_number(v.left_out, a));
    }
    for (size_t i = 0; w->a->explain && i < px_assess_metric_count(w->assess); i++)
        print_explained(px_assess_metric(w->assess, i).metric);
}

static int assess_run(const cli_command *self, int argc, char **argv)
{
    assess_args a = {0};
    cli_data *data = &a.wish.data;
    const char *path = NULL;
    const cli_option options[] = {
        CLI_STRING(0, "original", &data->spec, "SPEC",
                   "the inputs before; not needed with a campaign, which has its own"),
        CLI_STRING(0, "adversarial", &a.wish.adversarial, "SPEC|CAMPAIGN",
                   "what became of them: any data, or what attack, fuzz or synthesize wrote"),
        CLI_CHOICE(
            0, "pair", &a.wish.pair, ASSESS_PAIRINGS,
            "how to find an original: auto takes a campaign's own word, else names of files, "
            "else the position"),
        CLI_STRING(0, "split", &data->split, "NAME",
                   "which part of the originals; test unless another is named"),
        CLI_STRING(0, "adversarial-split", &a.wish.adversarial_split, "NAME",
                   "which part of the adversarial inputs; generated (failures and kept) of a "
                   "campaign, or close: failures close to their originals"),
        CLI_INT(0, "limit", &data->limit, "N", 0, 9e15, "at most this many pairs; 0: all"),
        CLI_INT(0, "offset", &data->offset, "N", 0, 9e15, "leave out the first ones"),
        CLI_PIXEL_OPTIONS(&data->pixels),
        CLI_NETWORK_OPTIONS,
        CLI_SKIP_OPTION(data),
        CLI_STRING(0, "metrics", &a.metrics, "LIST|all",
                   "what to measure; see 'plexor list metrics'"),
        CLI_STRINGS(0, "set", &a.settings, "METRIC.NAME=VALUE",
                    "a setting of a metric, as in ric.quality=75"),
        CLI_RANGE_OPTION(&a.range),
        CLI_FLAG(0, "explain", &a.explain, "say what each metric is, and where it is defined"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "adversarial", a.wish.adversarial));
    px_error err = {0};
    assess_work work = {.self = self, .a = &a};
    const px_status status = work_all(&work, path, &err);
    const int rc = cli_answer(self, status, &err, &work, work_print);
    px_assess_free(work.assess);
    assess_sides_close(&work.sides);
    px_model_free(work.model);
    return rc;
}

const cli_command cli_command_assess = {
    .name = "assess",
    .usage = "MODEL --original SPEC --adversarial SPEC|CAMPAIGN [--metrics LIST] [--explain]",
    .help = "how bad failures are: confidence, distance, similarity, what cures them",
    .details =
        "Compares inputs with what became of them, pair by pair, and prints the quality metrics of "
        "the papers. Most are means over the pairs whose adversarial half the network gets wrong; "
        "where there is none they are undefined, which is printed as that (null in JSON).\n"
        "A campaign of 'attack', 'fuzz' or 'synthesize' knows which input each of its own came "
        "from. Other data pair up by the names of their files, or by position; what does not pair "
        "up is refused. Inputs without a label are taken as what the network says of the original.",
    .examples =
        "plexor attack net.onnx --data digits --eps 0.1 -o found\n"
        "plexor assess net.onnx --adversarial found --explain\n"
        "plexor assess net.onnx --original digits --adversarial found --metrics mr,asr,ass --json\n"
        "plexor assess net.onnx --original clean.npz --adversarial changed.npz --set "
        "ric.quality=50\n",
    .run = assess_run,
    .ranks = true,
    .result = assess_fields,
};
