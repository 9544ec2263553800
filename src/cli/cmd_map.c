/* src/cli/cmd_map.c - plexor map MODEL --data SPEC [--data CAMPAIGN] -o map.svg */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/map.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/store.h>
#include <plexor/system.h>
#include <stdio.h>
#include <string.h>

typedef struct map_args {
    cli_data data; /* spec: of the set at hand */
    cli_list specs, outputs;
    cli_neurons neurons;
    cli_workers workers;
    double perplexity;  /* 0: as many inputs allow, 30 at most */
    int64_t iterations; /* 0: the method's own */
    int64_t components, neighbours;
    double theta, min_dist; /* -1: not given */
    int method, start;      /* a METHOD_, a START_ */
} map_args;

enum { METHOD_TSNE, METHOD_UMAP, METHOD_AUTO, METHOD_EXACT, METHOD_TREE };
enum { START_PCA, START_RANDOM };

typedef struct map_job {
    const cli_command *self;
    const map_args *args;
    px_model *model;
    px_map *map;
    const char *doing;
    cli_inputs first; /* what the result's origin is told of */
    /* the result */
    cli_origin origin;
    const char *definition, *by;
    px_map_quality quality;
    size_t count;
    double seconds;
} map_job;

/* --- the inputs ------------------------------------------------------------------------------ */

/* The last part of a path, without slashes behind it. */
static const char *map_basename(const char *spec, char *buffer, size_t size)
{
    size_t end = strlen(spec);
    while (end > 1 && spec[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && spec[start - 1] != '/')
        start--;
    snprintf(buffer, size, "%.*s", (int)(end - start), spec + start);
    return buffer;
}

/* Opens one set; where --limit was left alone and cuts it, says so. */
static px_status map_open(map_job *job, const char *spec, const char *split, cli_inputs *out,
                          px_error *err)
{
    enum { LIMIT = 2000 };
    cli_data data = job->args->data;
    data.spec = spec;
    data.split = split;
    if (data.limit >= 0)
        return cli_inputs_open(job->model, &data, out, err);
    data.limit = LIMIT + 1;
    PX_TRY(cli_inputs_open(job->model, &data, out, err));
    if (out->count <= LIMIT)
        return PX_OK;
    cli_inputs_close(out);
    cli_note(job->self, "'%s': the first %d inputs; --limit takes more, --limit 0 all", spec,
             LIMIT);
    data.limit = LIMIT;
    return cli_inputs_open(job->model, &data, out, err);
}

static px_status map_add(map_job *job, const char *spec, const char *split, const char *origin,
                         px_error *err)
{
    cli_inputs inputs = {0};
    PX_TRY(map_open(job, spec, split, &inputs, err));
    job->doing = origin;
    const px_status status = px_map_add(job->map, inputs.set, &inputs.pre, origin, err);
    if (job->first.set || status != PX_OK)
        cli_inputs_close(&inputs);
    else
        job->first = inputs;
    PX_TRY(status);
    const px_map_origin added = px_map_origin_get(job->map, px_map_origin_count(job->map) - 1);
    if (added.not_finite > 0)
        cli_note(job->self,
                 "'%s': %" PRId64 " inputs have neurons that are not finite; they are left out",
                 spec, added.not_finite);
    return PX_OK;
}

/* A campaign comes in parts, each with a mark of its own, unless --split chooses. */
static px_status map_add_campaign(map_job *job, const char *folder, const char *name, px_error *err)
{
    static const char *const parts[] = {"seeds", "kept", "faults"};
    px_campaign *campaign = NULL;
    px_campaign_counts counts = {0};
    char origin[600];
    PX_TRY(px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, err));
    const px_status status = px_campaign_count(campaign, &counts, err);
    px_campaign_close(campaign);
    PX_TRY(status);
    const int64_t have[] = {counts.seeds, counts.kept, counts.faults};
    if (have[0] + have[1] + have[2] == 0)
        return px_fail(err, PX_E_INPUT, "'%s': the campaign has no inputs yet", folder);
    for (int i = 0; i < 3; i++) {
        if (have[i] == 0)
            continue;
        snprintf(origin, sizeof origin, "%s: %s", name, parts[i]);
        PX_TRY(map_add(job, folder, parts[i], origin, err));
    }
    return PX_OK;
}

static bool map_tick(void *job, int64_t done, int64_t total)
{
    return cli_tick(CLI_WORDS(((const map_job *)job)->doing), done, total);
}

static px_status map_gather(map_job *job, px_error *err)
{
    const map_args *a = job->args;
    char name[512];
    px_map_options options = px_map_options_default();
    if (a->neurons.layers)
        options.layers = a->neurons.layers;
    options.tap = a->neurons.tap;
    options.neurons = a->neurons.view;
    options.threads = (int)a->workers.threads;
    options.batch = a->workers.batch;
    options.progress = map_tick;
    options.progress_context = job;
    PX_TRY(px_map_new(job->model, &options, &job->map, err));
    for (int i = 0; i < a->specs.count; i++) {
        const char *spec = a->specs.item[i];
        map_basename(spec, name, sizeof name);
        if (px_campaign_is(spec) && !a->data.split)
            PX_TRY(map_add_campaign(job, spec, name, err));
        else
            PX_TRY(map_add(job, spec, a->data.split, name, err));
    }
    return PX_OK;
}

/* --- the layout ------------------------------------------------------------------------------ */

static px_status map_lay_umap(map_job *job, px_error *err)
{
    const map_args *a = job->args;
    px_umap_options options = px_umap_options_default();
    const size_t count = px_map_count(job->map);
    if (a->neighbours > 0)
        options.neighbours = (int)a->neighbours;
    if (a->min_dist >= 0.0)
        options.min_dist = a->min_dist;
    options.epochs = (int)a->iterations;
    options.components = (int)a->components;
    options.random_start = a->start == START_RANDOM;
    options.seed = (uint64_t)a->data.seed;
    if (count >= PX_UMAP_LEAST && count < (size_t)options.neighbours)
        cli_note(job->self, "%zu neighbours, as there are no more inputs", count);
    job->doing = "UMAP";
    return px_map_lay_umap(job->map, &options, err);
}

static px_status map_lay_tsne(map_job *job, px_error *err)
{
    const map_args *a = job->args;
    px_tsne_options options = px_tsne_options_default();
    options.perplexity = a->perplexity;
    if (a->perplexity == 0.0) {
        options.perplexity = px_map_perplexity(job->map);
        if (px_map_count(job->map) >= PX_TSNE_LEAST &&
            options.perplexity < px_tsne_options_default().perplexity)
            cli_note(job->self, "perplexity %.4g, as %zu inputs allow no more", options.perplexity,
                     px_map_count(job->map));
    }
    if (a->iterations > 0)
        options.iterations = (int)a->iterations;
    options.components = (int)a->components;
    options.method = a->method == METHOD_EXACT  ? PX_TSNE_ALL_PAIRS
                     : a->method == METHOD_TREE ? PX_TSNE_BARNES_HUT
                                                : PX_TSNE_AUTO;
    if (a->theta >= 0.0)
        options.theta = a->theta;
    options.random_start = a->start == START_RANDOM;
    options.seed = (uint64_t)a->data.seed;
    job->doing = "t-SNE";
    return px_map_lay(job->map, &options, err);
}

static px_status map_lay(map_job *job, px_error *err)
{
    const px_status status =
        job->args->method == METHOD_UMAP ? map_lay_umap(job, err) : map_lay_tsne(job, err);
    if (status == PX_E_INPUT)
        return px_fail_in(err, status, "%s", px_probe_describe(px_map_probe(job->map)));
    return status;
}

static px_status map_name_classes(map_job *job, px_error *err)
{
    char buffer[CLI_NUMBER_TEXT];
    int most = 0;
    for (size_t i = 0; i < px_map_count(job->map); i++) {
        const int64_t label = px_map_get(job->map, i).label;
        if (label >= most && label < 65536)
            most = (int)label + 1;
    }
    px_status status = PX_OK;
    cli_classes classes = cli_classes_of(job->model, job->first.set);
    for (int c = 0; c < most && status == PX_OK; c++)
        status = px_map_name_class(job->map, c, cli_class_name(&classes, c, buffer), err);
    return status;
}

static px_status map_write(map_job *job, px_error *err)
{
    PX_TRY(map_name_classes(job, err));
    for (int i = 0; i < job->args->outputs.count; i++)
        PX_TRY(px_map_save(job->map, job->args->outputs.item[i],
                           px_probe_describe(px_map_probe(job->map)), err));
    return PX_OK;
}

/* --- what is printed ------------------------------------------------------------------------- */

static const void *point_get(const void *of, size_t i, void *place)
{
    const px_map *map = ((const map_job *)of)->map;
    if (i >= px_map_count(map))
        return NULL;
    *(px_map_point *)place = px_map_get(map, i);
    return place;
}

typedef struct origin_row {
    px_map_origin of;
    double accuracy;
} origin_row;

static const void *origin_get(const void *of, size_t i, void *place)
{
    const px_map *map = ((const map_job *)of)->map;
    origin_row *row = place;
    if (i >= (size_t)px_map_origin_count(map))
        return NULL;
    row->of = px_map_origin_get(map, (int)i);
    row->accuracy =
        row->of.labelled ? (double)row->of.right / (double)row->of.labelled : (double)NAN;
    return row;
}

#define COLUMN(kind, member) ((const px_field[]){kind(px_map_point, member, ""), PX_FIELDS_END})
static const px_field point_fields[] = {
    /* a column each */
    PX_LIST_MADE(point_get, COLUMN(PX_FIELD, origin), "origin", "place among origins"),
    PX_LIST_MADE(point_get, COLUMN(PX_FIELD, index), "index", "in its data"),
    PX_LIST_MADE(point_get, COLUMN(PX_INDEX, label), "label", "null: none"),
    PX_LIST_MADE(point_get, COLUMN(PX_INDEX, prediction), "prediction", "null: none"),
    PX_LIST_MADE(point_get, COLUMN(PX_FIELD, x), "x", "on the map"),
    PX_LIST_MADE(point_get, COLUMN(PX_FIELD, y), "y", "on the map"),
    PX_FIELDS_END,
};
#undef COLUMN

static const px_field origin_fields[] = {
    PX_FIELD(origin_row, of.name, "name", "of the data", .title = "ORIGIN"),
    PX_FIELD(origin_row, of.count, "count", "inputs on the map", .title = "INPUTS", .format = ","),
    PX_FIELD(origin_row, of.not_finite, "not_finite", "inputs that were left out"),
    PX_FIELD(origin_row, accuracy, "accuracy", "of inputs with a label", .title = "ACCURACY",
             .unit = PX_SHARE, .format = "%.1f%%"),
    PX_FIELDS_END,
};

static const px_field args_fields[] = {
    PX_FIELD(map_args, data.seed, "seed", "of everything random"),
    PX_VALUES(map_args, outputs.item, outputs.count, "output", "files"),
    PX_FIELDS_END,
};

static const px_field map_fields[] = {
    PX_OBJECT(map_job, origin, cli_origin_fields, ""),
    PX_FIELD(map_job, definition, "definition", "which neurons"),
    PX_FIELD(map_job, count, "count", "inputs on the map"),
    PX_FIELD(map_job, quality.neurons, "neurons", "of the layer"),
    PX_FIELD(map_job, quality.dimensions, "dimensions", "that distances were taken in"),
    PX_FIELD(map_job, by, "method", "umap, or t-SNE: exact or barnes-hut"),
    PX_FIELD(map_job, quality.perplexity, "perplexity", "of t-SNE"),
    PX_FIELD(map_job, quality.graph_neighbours, "graph_neighbours", "that an input is tied to",
             PX_IF(map_job, quality.umap)),
    PX_FIELD(map_job, quality.min_dist, "min_dist", "on the map", PX_IF(map_job, quality.umap)),
    PX_FIELD(map_job, quality.iterations, "iterations", "or epochs"),
    PX_FIELD(map_job, quality.kl, "kl", "Kullback-Leibler divergence, of t-SNE"),
    PX_FIELD(map_job, quality.trustworthiness, "trustworthiness",
             "whether neighbours on the map are neighbours in the layer"),
    PX_FIELD(map_job, quality.neighbours, "neighbours", "that this was taken over"),
    PX_FIELD(map_job, quality.vague, "vague", "inputs with very many others as near: duplicates"),
    PX_OBJECT_AT(map_job, args, args_fields, ""),
    PX_LIST_MADE(origin_get, origin_fields, "origins", "data sets, or parts of a campaign"),
    PX_OBJECT_OF(point_fields, "points", "inputs, a column of values each"),
    PX_FIELD(map_job, seconds, "seconds", "in all", .unit = "s"),
    PX_FIELDS_END,
};

static void map_print(const void *of)
{
    const map_job *job = of;
    char text[CLI_NUMBER_TEXT];
    const px_map_quality q = job->quality;
    cli_print("%s\n", job->definition);
    cli_print_list(map_fields, "origins", job, "", 0);
    if (q.umap)
        cli_print("UMAP: %zu dimensions, %d neighbours, least distance %.4g, %d epochs\n",
                  q.dimensions, q.graph_neighbours, q.min_dist, q.iterations);
    else
        cli_print("t-SNE: %s, %zu dimensions, perplexity %.4g, %d iterations\nKL divergence %.4f, ",
                  q.exact ? "all pairs" : "Barnes-Hut", q.dimensions, q.perplexity, q.iterations,
                  q.kl);
    cli_print("trustworthiness %.4f (%d neighbours", q.trustworthiness, q.neighbours);
    if (q.trust_sample < px_map_count(job->map))
        cli_print(", over %s of the inputs", cli_number((int64_t)q.trust_sample, text));
    cli_print(")\n");
    if (q.vague)
        cli_print("%s inputs have so many others as near as the nearest that their %s is "
                  "another: duplicates\n",
                  cli_number((int64_t)q.vague, text), q.umap ? "neighbourhood" : "perplexity");
    for (int i = 0; i < job->args->outputs.count; i++)
        cli_print("%s\n", job->args->outputs.item[i]);
}

/* --- the command ----------------------------------------------------------------------------- */

/* Settings of one method are no use to the other. */
static px_status map_check_method(const map_args *a, bool umap, px_error *err)
{
    if (umap && (a->perplexity > 0.0 || a->theta >= 0.0))
        return px_fail(err, PX_E_USAGE, "--%s is a setting of t-SNE; --method umap has %s",
                       a->perplexity > 0.0 ? "perplexity" : "theta", "--neighbours and --min-dist");
    if (!umap && (a->neighbours > 0 || a->min_dist >= 0.0))
        return px_fail(err, PX_E_USAGE, "--%s is a setting of --method umap; t-SNE has %s",
                       a->neighbours > 0 ? "neighbours" : "min-dist", "--perplexity");
    if (umap && a->iterations > PX_UMAP_EPOCHS_MOST)
        return px_fail(err, PX_E_USAGE, "--iterations %" PRId64 ": UMAP takes %d epochs at most",
                       a->iterations, PX_UMAP_EPOCHS_MOST);
    return PX_OK;
}

static px_status map_check(const map_args *a, px_error *err)
{
    for (int i = 0; i < a->outputs.count; i++)
        PX_TRY(px_map_save_check(a->outputs.item[i], err));
    return map_check_method(a, a->method == METHOD_UMAP, err);
}

static px_status map_work(map_job *job, const char *path, px_error *err)
{
    PX_TRY(map_check(job->args, err));
    PX_TRY(cli_model_load(job->self, path, &job->model, err));
    const double start = px_clock_s();
    PX_TRY(map_gather(job, err));
    PX_TRY(map_lay(job, err));
    PX_TRY(map_write(job, err));
    job->seconds = px_clock_s() - start;
    job->origin = cli_origin_of(job->model, job->first.set);
    job->definition = px_probe_describe(px_map_probe(job->map));
    job->quality = px_map_quality_get(job->map);
    job->count = px_map_count(job->map);
    job->by = job->quality.umap ? "umap" : job->quality.exact ? "exact" : "barnes-hut";
    return PX_OK;
}

static int map_run(const cli_command *self, int argc, char **argv)
{
    map_args a = {.data = {.limit = -1},
                  .components = px_tsne_options_default().components,
                  .theta = -1.0,
                  .min_dist = -1.0};
    const char *path = NULL;
    const cli_option options[] = {
        CLI_STRINGS(0, "data", &a.specs, "SPEC",
                    "the inputs; may be given again, each has its own mark. Of a campaign seeds, "
                    "kept inputs and failures have one each"),
        CLI_STRING(0, "split", &a.data.split, "NAME",
                   "which part, where the data have parts; test unless another is named"),
        CLI_INT(0, "limit", &a.data.limit, "N", 0, 9e15,
                "at most this many inputs of each part; 0: all; 2000 unless given"),
        CLI_INT(0, "offset", &a.data.offset, "N", 0, 9e15, "leave out the first ones"),
        CLI_FLAG(0, "shuffle", &a.data.shuffle, "in an order given by --seed"),
        CLI_INT(0, "seed", &a.data.seed, "N", 0, 9e15, "of everything random"),
        CLI_PIXEL_OPTIONS(&a.data.pixels),
        CLI_NETWORK_OPTIONS,
        CLI_SKIP_OPTION(&a.data),
        CLI_STRING(0, "layers", &a.neurons.layers, "LIST",
                   "which layers, taken together; the last hidden one unless given; see 'plexor "
                   "list layers'"),
        CLI_STRING(0, "tap", &a.neurons.tap, "TAP", "where in a layer; see 'plexor list taps'"),
        CLI_STRING(0, "neurons", &a.neurons.view, "VIEW",
                   "what a neuron is; see 'plexor list neurons'"),
        CLI_REAL(0, "perplexity", &a.perplexity, "X", 1, 1e5,
                 "about how many neighbours an input has; 30, or less where inputs are few"),
        CLI_INT(0, "iterations", &a.iterations, "N", 1, 1000000,
                "steps of the descent; 1000, of umap 500 (beyond 10,000 inputs 200)"),
        CLI_INT(0, "pca", &a.components, "N", 0, 1000,
                "more neurons than this are brought down to so many principal components first; "
                "0: never"),
        CLI_CHOICE(0, "method", &a.method, "tsne|umap|auto|exact|barnes-hut",
                   "t-SNE or UMAP; exact and barnes-hut are both t-SNE, and tsne is exact up to "
                   "5,000 inputs"),
        CLI_REAL(0, "theta", &a.theta, "X", 0, 1, "how coarse barnes-hut is; 0.5 unless given"),
        CLI_INT(0, "neighbours", &a.neighbours, "N", 2, PX_UMAP_NEIGHBOURS_MOST,
                "of umap: how many an input is tied to, itself among them; 15 unless given"),
        CLI_REAL(0, "min-dist", &a.min_dist, "X", 0, 1,
                 "of umap: how near inputs may come on the map; 0.1 unless given"),
        CLI_CHOICE(0, "start", &a.start, "pca|random",
                   "the first two principal components, or at random by --seed"),
        CLI_STRINGS('o', "output", &a.outputs, "FILE", ".svg or .csv; may be given again"),
        CLI_WORKER_OPTIONS(&a.workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", a.specs.count ? a.specs.item[0] : NULL));
    px_error err = {0};
    map_job job = {.self = self, .args = &a};
    const px_status status = map_work(&job, path, &err);
    const int rc = cli_answer(self, status, &err, &job, map_print);
    px_map_free(job.map);
    cli_inputs_close(&job.first);
    px_model_free(job.model);
    return rc;
}

const cli_command cli_command_map = {
    .name = "map",
    .usage = "MODEL --data SPEC [--data SPEC ...] [-o map.svg] [options]",
    .help = "inputs on a plane, near each other where a layer finds them alike",
    .details =
        "t-SNE or UMAP of what a layer does on each input: colours are true classes, marks are "
        "where inputs come from. Near neighbours on the map are near neighbours in the layer as "
        "far as the printed trustworthiness goes; sizes of groups and distances between them mean "
        "little. The same inputs and settings give the same map for any number of threads.",
    .examples = "plexor map net.onnx --data digits -o map.svg\n"
                "plexor map net.onnx --data photos/ --data run.campaign -o map.svg -o map.csv\n"
                "plexor map net.onnx --data digits --layers '#0' --perplexity 50 --json\n"
                "plexor map net.onnx --data digits --method umap --neighbours 30 -o map.svg\n",
    .run = map_run,
    .ranks = true,
    .result = map_fields,
};
