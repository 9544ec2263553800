/* src/cli/cmd_assess.c - plexor assess MODEL --original SPEC --adversarial SPEC|CAMPAIGN */
#include "cli/assess_partners.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct assess_args {
    assess_wish wish;
    cli_workers workers;
    cli_output output;
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
    cli_progress progress = cli_progress_start("assess");
    o.progress = cli_progress_tick;
    o.progress_context = &progress;
    const px_status status = px_assess_run(&job, &o, &w->assess, err);
    cli_progress_end(&progress);
    return status;
}

static bool work_measures(const assess_work *w, const char *id)
{
    for (size_t i = 0; i < px_assess_metric_count(w->assess); i++)
        if (strcmp(px_assess_metric(w->assess, i).metric->id, id) == 0)
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
    work_notes(w);
    return PX_OK;
}

static void print_explained(const px_metric *m)
{
    printf("\n%s: %s\n    %s\n    better %s%s; %s\n", m->id, m->title, m->definition,
           px_better_name(m->better),
           m->stated ? "" : " (of the network; the paper speaks of the inputs)", m->equation);
    if (m->remark)
        printf("    %s\n", m->remark);
    for (size_t i = 0; i < m->setting_count; i++)
        printf("    --set %s.%s: %s\n", m->id, m->settings[i].name, m->settings[i].help);
}

static void print_table(const assess_work *w)
{
    static const char *const titles[] = {"METRIC", "VALUE", "OF", "BETTER", "WHAT IT IS"};
    cli_table *table = cli_table_new("lrrll");
    char number[CLI_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        cli_table_cell(table, "%s", titles[i]);
    for (size_t i = 0; i < px_assess_metric_count(w->assess); i++) {
        const px_metric_value v = px_assess_metric(w->assess, i);
        cli_table_cell(table, "%s", v.metric->id);
        if (isnan(v.value))
            cli_table_cell(table, "undefined");
        else
            cli_table_cell(table, "%.6g", v.value);
        cli_table_cell(table, "%s", cli_number(v.n, number));
        cli_table_cell(table, "%s", px_better_name(v.metric->better));
        if (v.why)
            cli_table_cell(table, "%s: %s", v.metric->title, v.why);
        else
            cli_table_cell(table, "%s%s%s%s", v.metric->title, *v.settings ? " (" : "", v.settings,
                           *v.settings ? ")" : "");
    }
    cli_table_print_free(table, "");
}

static void work_print(const assess_work *w)
{
    const px_assess_summary *s = &w->sum;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    printf("originals    %s\nadversarial  %s\n", px_dataset_describe(w->sides.original.set),
           px_dataset_describe(w->sides.adversarial.set));
    printf("%s pairs by %s: %s originals are right, ", cli_number(s->pairs, a), w->sides.how,
           cli_number(s->right, b));
    printf("%s adversarial inputs are wrong, ", cli_number(s->wrong, c));
    printf("%s of them from right originals\n\n", cli_number(s->fooled, a));
    print_table(w);
    for (size_t i = 0; i < px_assess_metric_count(w->assess); i++) {
        const px_metric_value v = px_assess_metric(w->assess, i);
        if (v.left_out)
            printf("%s%s: %s without a value left out\n", i ? "" : "\n", v.metric->id,
                   cli_number(v.left_out, a));
    }
    for (size_t i = 0; w->a->explain && i < px_assess_metric_count(w->assess); i++)
        print_explained(px_assess_metric(w->assess, i).metric);
}

static void json_metric(const assess_work *w, px_json *json, const px_metric_value *v)
{
    px_json_object(json, v->metric->id);
    px_json_real(json, "value", v->value);
    px_json_int(json, "n", v->n);
    px_json_int(json, "left_out", v->left_out);
    px_json_string(json, "better", px_better_name(v->metric->better));
    px_json_string(json, "settings", v->settings);
    px_json_string(json, "undefined", v->why);
    if (strcmp(v->metric->id, "asr") == 0)
        px_json_real(json, "all", (double)w->sum.wrong / (double)w->sum.pairs);
    if (w->a->explain) {
        px_json_string(json, "title", v->metric->title);
        px_json_string(json, "definition", v->metric->definition);
        px_json_string(json, "equation", v->metric->equation);
        px_json_bool(json, "better_stated", v->metric->stated);
        px_json_string(json, "remark", v->metric->remark);
    }
    px_json_end(json);
}

static int work_json(const assess_work *w, int argc, char **argv)
{
    const px_assess_summary *s = &w->sum;
    px_json json = {0};
    char hash[32];
    px_json_object(&json, NULL);
    cli_json_origin(&json, w->model, w->sides.original.set, argc, argv);
    snprintf(hash, sizeof hash, "%016" PRIx64, px_dataset_hash(w->sides.adversarial.set));
    px_json_string(&json, "adversarial", px_dataset_describe(w->sides.adversarial.set));
    px_json_string(&json, "adversarial_hash", hash);
    cli_inputs_json(&w->sides.original, &json);
    px_json_string(&json, "paired_by", w->sides.how);
    px_json_int(&json, "pairs", s->pairs);
    px_json_int(&json, "right", s->right);
    px_json_int(&json, "wrong", s->wrong);
    px_json_int(&json, "fooled", s->fooled);
    px_json_int(&json, "unlabelled", s->unlabelled);
    px_json_int(&json, "not_finite", s->not_finite);
    px_json_int(&json, "jpegs", s->jpegs);
    for (size_t i = 0; i < px_assess_metric_count(w->assess); i++) {
        const px_metric_value v = px_assess_metric(w->assess, i);
        json_metric(w, &json, &v);
    }
    px_json_real(&json, "seconds", s->seconds);
    px_json_end(&json);
    return cli_print_json(w->self, &json);
}

static int assess_run(const cli_command *self, int argc, char **argv)
{
    assess_args a = {.wish = {.pair = "auto"}};
    cli_data *data = &a.wish.data;
    const char *path = NULL;
    const cli_option options[] = {
        CLI_STRING(0, "original", &data->spec, "SPEC",
                   "the inputs before; not needed with a campaign, which has its own"),
        CLI_STRING(0, "adversarial", &a.wish.adversarial, "SPEC|CAMPAIGN",
                   "what became of them: any data, or what attack, fuzz or synthesize wrote"),
        CLI_STRING(
            0, "pair", &a.wish.pair, "auto|index|name",
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
        CLI_CLASSES_OPTION,
        CLI_SKIP_OPTION(data),
        CLI_STRING(0, "metrics", &a.metrics, "LIST|all",
                   "what to measure; see 'plexor list metrics'"),
        CLI_STRINGS(0, "set", &a.settings, "METRIC.NAME=VALUE",
                    "a setting of a metric, as in ric.quality=75"),
        CLI_RANGE_OPTION(&a.range),
        CLI_FLAG(0, "explain", &a.explain, "say what each metric is, and where it is defined"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS(&a.output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "adversarial", a.wish.adversarial))
        return CLI_BAD_INPUT;
    if (strcmp(a.wish.pair, "auto") != 0 && strcmp(a.wish.pair, "index") != 0 &&
        strcmp(a.wish.pair, "name") != 0)
        return cli_usage_error(self, "--pair '%.60s': expected auto, index or name", a.wish.pair);
    px_error err = {0};
    assess_work work = {.self = self, .a = &a};
    int rc = CLI_DONE;
    if (work_all(&work, path, &err) != PX_OK)
        rc = cli_fail(self, &err);
    else if (a.output.json)
        rc = work_json(&work, argc, argv);
    else
        work_print(&work);
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
};
