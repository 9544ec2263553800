/* src/check/stage_cluster.c - which failures are alike, as the last hidden layer sees them
 *
 * k-means with the number of clusters that has the best silhouette, and t-SNE for the eye. Two
 * clusters nearly always have the best one and tell nobody anything, so that there are at least
 * four where there are failures enough. Inputs of the data that are wrong, and generated ones, go
 * together; some that are right give the map its background.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/cluster_words.h"

#include <internal/field.h>
#include <internal/kmeans.h>

#include <internal/mutate.h>
#include <internal/store.h>
#include <internal/tsne.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/probe.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTER_RIGHT = 200,
    CLUSTER_WRONG = 250,
    CLUSTER_FAULTS = 200,
    CLUSTER_K = 12,
    CLUSTER_MANY = 60
};

typedef enum point_kind { POINT_RIGHT, POINT_WRONG, POINT_FAULT } point_kind;

typedef struct point {
    point_kind kind;
    int64_t at; /* in its data set */
    int64_t id; /* input of the data, or id in the campaign */
    int64_t label, prediction;
    const char *method;
    const px_mutation *mutation; /* of fuzz, the last one; NULL: there is none */
    int band;
    bool rejected;
    int cluster; /* -1: none */
    double x, y;
} point;

typedef struct cluster {
    px_check *c;
    px_campaign *campaign;
    px_dataset *faults; /* of the campaign */
    px_preprocess faults_pre;
    px_probe *probe;
    point *points;
    size_t count, capacity, first; /* first: of the failures */
    size_t width;
    float *features; /* [count][width] */
    int k;
    double silhouette;
    double *centres; /* [k][width] */
    double kl, trust;
} cluster;

static px_status points_add(cluster *w, const point *p, px_error *err)
{
    PX_TRY(PX_GROW(w->points, w->capacity, w->count + 1, err));
    w->points[w->count++] = *p;
    return PX_OK;
}

/* Whether item i of n is one of `most` taken at even distances. */
static bool evenly(int64_t i, int64_t n, int64_t most)
{
    return n <= most || i * most / n != (i - 1) * most / n || i == 0;
}

static px_status points_of_data(cluster *w, bool right, int64_t most, px_error *err)
{
    const px_check *c = w->c;
    int64_t n = 0, seen = 0;
    if (!c->labelled)
        return PX_OK;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < c->count; i++) {
            const int64_t label = px_dataset_label(c->set, i);
            if (c->predictions[i] < 0 || (label == c->predictions[i]) != right)
                continue;
            if (pass == 0)
                n++;
            else if (evenly(seen++, n, most))
                PX_TRY(points_add(w,
                                  &(point){.kind = right ? POINT_RIGHT : POINT_WRONG,
                                           .at = i,
                                           .id = i,
                                           .label = label,
                                           .prediction = c->predictions[i],
                                           .method = right ? "right" : "data",
                                           .cluster = -1},
                                  err));
        }
    return PX_OK;
}

/* Of a chain that is replayed link by link. */
static void last_mutation(const char *chain, point *out)
{
    px_drawn *links = NULL;
    size_t count = 0;
    bool replayable = false;
    if (px_chain_parse(chain, &links, &count, &replayable, NULL) == PX_OK && count > 0) {
        out->mutation = links[count - 1].mutation;
        out->band = px_drawn_band(&links[count - 1]);
    }
    free(links);
}

static px_status points_of_faults(cluster *w, px_error *err)
{
    static const char *const methods[] = {"synthesize", "attack", "fuzz"};
    const px_check *c = w->c;
    const px_json_value *assess = c->result[PXI_STAGE_assess];
    px_data_options options = px_model_data_options(c->model);
    px_campaign_input in = {.id = 0};
    int64_t of[PX_LEN(methods)], seen[PX_LEN(methods)] = {0}, at = 0, damaged = 0;
    if (!w->campaign)
        return PX_OK;
    for (size_t m = 0; m < PX_LEN(methods); m++) {
        char path[64] = "by_method.";
        of[m] = pxi_json_int(assess, strcat(path, methods[m]), 0);
    }
    options.split = "faults";
    w->faults_pre = c->pre;
    PX_TRY(px_dataset_open_for(&w->faults_pre, px_model_input_shape(c->model),
                               px_campaign_folder(w->campaign), &options, &w->faults, err));
    for (int64_t after = 0;; after = in.id, at++) {
        PX_TRY(px_campaign_next(w->campaign, after, PX_INPUT_FAULT, &in, NULL, &damaged, err));
        if (!in.id || at == px_dataset_count(w->faults))
            return PX_OK;
        const char *method = pxi_finding_method(in.chain);
        for (size_t m = 0; m < PX_LEN(methods); m++)
            if (strcmp(method, methods[m]) == 0 && evenly(seen[m]++, of[m], CLUSTER_FAULTS)) {
                point p = {.kind = POINT_FAULT,
                           .at = at,
                           .id = in.id,
                           .label = in.label,
                           .prediction = in.prediction,
                           .method = methods[m],
                           .cluster = -1};
                last_mutation(in.chain, &p);
                PX_TRY(points_add(w, &p, err));
            }
    }
}

/* --- what the layer says of them ------------------------------------------------------------- */

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    bool **rejected = lane->state; /* [batch] */
    (void)err;
    *rejected = pxi_lane_array(lane, (size_t)pxi_pass_batch(lane->pass), sizeof **rejected);
    return PX_OK;
}

static px_status features_fill(pxi_lane *lane, int64_t item, int view, float *input, px_error *err)
{
    const cluster *w = lane->context;
    const point *p = &w->points[item];
    (void)view;
    return p->kind == POINT_FAULT ? px_dataset_input(w->faults, &w->faults_pre, p->at, input, err)
                                  : px_dataset_input(w->c->set, &w->c->pre, p->at, input, err);
}

static px_status features_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const cluster *w = lane->context;
    bool *rejected = *(bool **)lane->state;
    PX_TRY(px_probe_trace(w->probe, lane->session, batch->count,
                          w->features + (size_t)batch->first * w->width, rejected, err));
    for (int64_t i = 0; i < batch->count; i++)
        w->points[batch->first + i].rejected = rejected[i];
    return PX_OK;
}

/* Rows that are not finite are taken out. */
static void features_compact(cluster *w)
{
    size_t to = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->points[i].rejected)
            continue;
        if (to != i) {
            w->points[to] = w->points[i];
            memcpy(w->features + to * w->width, w->features + i * w->width,
                   w->width * sizeof *w->features);
        }
        to++;
    }
    w->count = to;
    for (w->first = 0; w->first < to && w->points[w->first].kind == POINT_RIGHT;)
        w->first++;
}

static px_status features_take(cluster *w, px_error *err)
{
    px_check *c = w->c;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    px_plan_options wants = px_plan_options_default();
    options.layers = "last-hidden";
    options.feeds = &feed;
    options.feed_count = 1;
    PX_TRY(px_probe_new(c->model, &options, &w->probe, err));
    wants.keep = px_probe_values(w->probe, &wants.keep_count);
    wants.no_outputs = true;
    w->width = (size_t)px_probe_neuron_count(w->probe);
    w->features = pxi_calloc(w->count, w->width * sizeof *w->features);
    if (!w->features)
        return pxi_no_memory(err);
    const pxi_task task = pxi_check_task(c, (int64_t)w->count);
    const pxi_visitor visitor = {.context = w,
                                 .state_size = sizeof(bool *),
                                 .open = lane_open,
                                 .fill = features_fill,
                                 .visit = features_visit};
    PX_TRY(pxi_pass_once(&task, &wants, &visitor, err));
    features_compact(w);
    return PX_OK;
}

/* --- clusters -------------------------------------------------------------------------------- */

static px_status cluster_fit(cluster *w, px_error *err)
{
    const size_t n = w->count - w->first, d = w->width;
    const int most = (int)PX_MIN((size_t)CLUSTER_K, n / 3), least = n >= CLUSTER_MANY ? 4 : 2;
    double *x = pxi_calloc(n, d * sizeof *x), scores[CLUSTER_K + 1];
    pxi_kmeans fits[CLUSTER_K + 1];
    const int *labels[CLUSTER_K + 1];
    int ks[CLUSTER_K + 1];
    size_t tried = 0, best = 0;
    memset(fits, 0, sizeof fits);
    px_status status = x ? PX_OK : pxi_no_memory(err);
    for (size_t i = 0; x && i < n * d; i++)
        x[i] = (double)w->features[w->first * d + i];
    for (int k = least; k <= most && status == PX_OK; k++) {
        const pxi_kmeans_options o = {
            .k = k, .restarts = 4, .iterations = 100, .seed = w->c->o.seed, .item = (uint32_t)k};
        status = pxi_kmeans_fit(x, n, d, &o, NULL, &fits[tried], err);
        if (status == PX_OK) {
            labels[tried] = fits[tried].label;
            ks[tried] = fits[tried].k;
            tried++;
        }
    }
    PX_THEN_IF(status, tried > 0, pxi_silhouette(x, n, d, labels, ks, tried, NULL, scores, err));
    w->k = 1;
    w->silhouette = NAN;
    if (status == PX_OK) {
        for (size_t i = 1; i < tried; i++)
            if (scores[i] > scores[best] || isnan(scores[best]))
                best = i;
        if (tried > 0 && !isnan(scores[best])) {
            w->k = fits[best].k;
            w->silhouette = scores[best];
        }
        for (size_t i = 0; i < n; i++)
            w->points[w->first + i].cluster = w->k > 1 ? fits[best].label[i] : 0;
        w->centres = pxi_calloc((size_t)w->k, d * sizeof *w->centres);
        if (!w->centres)
            status = pxi_no_memory(err);
        else if (w->k > 1)
            memcpy(w->centres, fits[best].centre, (size_t)w->k * d * sizeof *w->centres);
        else
            for (size_t i = 0; i < n * d; i++)
                w->centres[i % d] += x[i] / (double)n;
    }
    for (size_t i = 0; i < PX_LEN(fits); i++)
        pxi_kmeans_done(&fits[i]);
    free(x);
    return status;
}

/* Larger clusters first, the order of equals by their first point: numbers that mean something. */
static void cluster_sort(cluster *w)
{
    int order[CLUSTER_K], place[CLUSTER_K];
    size_t size[CLUSTER_K] = {0};
    double *moved = NULL;
    for (size_t i = w->first; i < w->count; i++)
        size[w->points[i].cluster]++;
    for (int k = 0; k < w->k; k++)
        order[k] = k;
    for (int a = 1; a < w->k; a++)
        for (int b = a; b > 0 && size[order[b]] > size[order[b - 1]]; b--) {
            const int swap = order[b];
            order[b] = order[b - 1];
            order[b - 1] = swap;
        }
    for (int k = 0; k < w->k; k++)
        place[order[k]] = k;
    moved = pxi_calloc((size_t)w->k, w->width * sizeof *moved);
    if (!moved)
        return; /* numbers in another order are as good */
    for (int k = 0; k < w->k; k++)
        memcpy(moved + (size_t)place[k] * w->width, w->centres + (size_t)k * w->width,
               w->width * sizeof *moved);
    free(w->centres);
    w->centres = moved;
    for (size_t i = w->first; i < w->count; i++)
        w->points[i].cluster = place[w->points[i].cluster];
}

static px_status cluster_lay(cluster *w, px_error *err)
{
    px_tsne_options options = px_tsne_options_default();
    px_tsne_map map = {0};
    w->kl = w->trust = NAN;
    for (size_t i = 0; i < w->count; i++)
        w->points[i].x = w->points[i].y = NAN;
    if (w->count < 12)
        return PX_OK;
    options.perplexity = fmin(30.0, (double)(w->count - 1) / 3.5);
    options.iterations = 500;
    options.seed = w->c->o.seed;
    options.threads = w->c->o.threads;
    options.progress = pxi_check_tick;
    options.progress_context = w->c;
    const px_status status = px_tsne(w->features, w->count, w->width, &options, &map, err);
    if (status == PX_E_INPUT ||
        status == PX_E_USAGE) /* all the same: there is nothing to lay out */
        return PX_OK;
    PX_TRY(status);
    for (size_t i = 0; i < w->count; i++) {
        w->points[i].x = map.y[2 * i];
        w->points[i].y = map.y[2 * i + 1];
    }
    w->kl = map.kl;
    const px_status judged = px_trustworthiness(w->features, w->count, w->width, map.y, 5, 0,
                                                w->c->o.threads, &w->trust, err);
    px_tsne_map_done(&map);
    return judged;
}

/* --- the result ------------------------------------------------------------------------------ */

typedef struct cluster_row {
    int id;
    int64_t count, of_data, label, prediction;
    const char *label_name, *prediction_name;
    double share;
    const point *medoid;
    pxi_cluster_words words;
} cluster_row;

static px_status cluster_name(const cluster *w, int k, pxi_cluster_words *out, px_error *err)
{
    size_t count = 0;
    pxi_member *members = NULL;
    PX_TRY(PX_NEW(members, w->count, err));
    for (size_t i = w->first; i < w->count; i++) {
        const point *p = &w->points[i];
        if (p->cluster == k)
            members[count++] =
                (pxi_member){p->label, p->prediction, p->method, p->mutation, p->band};
    }
    const px_status status = pxi_cluster_words_find(w->c, members, count, out, err);
    free(members);
    return status;
}

static px_status cluster_tell(const cluster *w, int k, cluster_row *out, px_error *err)
{
    const int classes = w->c->scores.classes;
    const point *medoid = NULL;
    size_t count = 0, best = 0, data = 0;
    int64_t label = -1, prediction = -1;
    double nearest = INFINITY;
    for (size_t i = w->first; i < w->count; i++) {
        const point *p = &w->points[i];
        size_t same = 0;
        double distance = 0.0;
        if (p->cluster != k)
            continue;
        count++;
        data += p->kind == POINT_WRONG;
        for (size_t j = w->first; j < w->count; j++)
            same += w->points[j].cluster == k && w->points[j].label == p->label &&
                    w->points[j].prediction == p->prediction;
        if (same > best) {
            best = same;
            label = p->label;
            prediction = p->prediction;
        }
        for (size_t d = 0; d < w->width; d++) {
            const double gap =
                (double)w->features[i * w->width + d] - w->centres[(size_t)k * w->width + d];
            distance += gap * gap;
        }
        if (distance < nearest) {
            nearest = distance;
            medoid = p;
        }
    }
    *out = (cluster_row){
        .id = k,
        .count = (int64_t)count,
        .of_data = (int64_t)data,
        .label = label,
        .prediction = prediction,
        .label_name = label >= 0 && label < classes ? w->c->names[label] : NULL,
        .prediction_name = prediction >= 0 && prediction < classes ? w->c->names[prediction] : NULL,
        .share = count ? (double)best / (double)count : (double)NAN,
        .medoid = medoid,
    };
    return cluster_name(w, k, &out->words, err);
}

static double rounded(double value)
{
    return isfinite(value) ? round(value * 1000.0) / 1000.0 : value;
}

typedef struct cluster_result {
    const cluster *w;
    const char *definition;
    int64_t failures, background;
    bool weak;
    cluster_row *clusters;
    size_t count;
} cluster_result;

/* Each is a row of unlike values, since there are many. */
static const void *point_column(const void *at, size_t i, void *row)
{
    const point *p = at;
    const px_datum columns[] = {
        px_datum_text(p->method),     px_datum_int(p->id),         px_datum_int(p->cluster),
        px_datum_int(p->label),       px_datum_int(p->prediction), px_datum_real(rounded(p->x)),
        px_datum_real(rounded(p->y)),
    };
    if (i == PX_LEN(columns))
        return NULL;
    *(px_datum *)row = columns[i];
    return row;
}

static px_datum column_value(const void *at, char *text)
{
    (void)text;
    return *(const px_datum *)at;
}

static const px_field column_fields[] = {
    PX_MADE(TEXT, column_value, "", "of the row"),
    PX_FIELDS_END,
};

static const px_field point_fields[] = {
    PX_LIST_MADE(point_column, column_fields, "", "method, id, cluster, label, prediction, x, y"),
    PX_FIELDS_END,
};

static const px_field points_fields[] = {
    PX_LIST(cluster, points, count, point_fields, "points",
            "rows of method, id, cluster, label, prediction, x, y: the map"),
    PX_FIELDS_END,
};

static const px_field medoid_fields[] = {
    PX_FIELD(point, method, "medoid_method", "how the failure in its middle was made"),
    PX_FIELD(point, id, "medoid", "that failure, in the campaign; of the data: its place there"),
    PX_FIELDS_END,
};

static const px_field row_fields[] = {
    PX_FIELD(cluster_row, id, "id", "of the cluster, from 0, larger ones first"),
    PX_FIELD(cluster_row, count, "count", "failures in it"),
    PX_FIELD(cluster_row, of_data, "of_data", "those that are inputs of the data"),
    PX_FIELD(cluster_row, label, "label", "true class of the most frequent kind of failure"),
    PX_FIELD(cluster_row, prediction, "prediction", "the network's answer to it"),
    PX_FIELD(cluster_row, label_name, "label_name", "their names"),
    PX_FIELD(cluster_row, prediction_name, "prediction_name", "their names"),
    PX_FIELD(cluster_row, share, "share", "of that kind", .unit = PX_SHARE),
    PX_OBJECT_AT(cluster_row, medoid, medoid_fields, "", "the failure in its middle"),
    PX_OBJECT(cluster_row, words, pxi_cluster_words_fields, "", "what its members share"),
    PX_FIELDS_END,
};

static const px_field fit_fields[] = {
    PX_FIELD(cluster, k, "k", "clusters"),
    PX_FIELD(cluster, silhouette, "silhouette", "mean silhouette, the highest of those tried"),
    PX_FIELDS_END,
};

static const px_field map_fields[] = {
    PX_FIELD(cluster, kl, "kl", "Kullback-Leibler divergence of the map"),
    PX_FIELD(cluster, trust, "trustworthiness", "of the map, 5 neighbours"),
    PX_FIELDS_END,
};

static const px_field cluster_fields[] = {
    PX_FIELD(cluster_result, definition, "definition", "the neurons by which failures are alike"),
    PX_FIELD(cluster_result, failures, "failures", "that were clustered"),
    PX_FIELD(cluster_result, background, "background", "inputs on the map that are right"),
    PX_OBJECT_AT(cluster_result, w, fit_fields, "", "the clustering"),
    PX_FIELD(cluster_result, weak, "weak", "groups are hardly more alike inside than outside"),
    PX_OBJECT_AT(cluster_result, w, map_fields, "", "the map"),
    PX_LIST(cluster_result, clusters, count, row_fields, "clusters", "each with its name"),
    PX_OBJECT_AT(cluster_result, w, points_fields, "", "the map"),
    PX_FIELDS_END,
};

static px_status cluster_write(const cluster *w, px_json *out, px_error *err)
{
    cluster_result result = {.w = w,
                             .definition = px_probe_describe(w->probe),
                             .failures = (int64_t)(w->count - w->first),
                             .background = (int64_t)w->first,
                             .weak = !(w->silhouette >= PXI_CLUSTER_WEAK)};
    px_status status = PX_NEW(result.clusters, w->k, err);
    for (int k = 0; k < w->k && status == PX_OK; k++)
        status = cluster_tell(w, k, &result.clusters[result.count++], err);
    if (status == PX_OK)
        px_fields_json(cluster_fields, &result, out);
    for (size_t k = 0; k < result.count; k++)
        free(result.clusters[k].words.title);
    free(result.clusters);
    return status;
}

static px_status cluster_run(px_check *c, px_json *out, px_error *err)
{
    cluster w = {.c = c};
    px_status status = pxi_findings_gather(c, &w.campaign, err);
    PX_THEN(status, points_of_data(&w, true, CLUSTER_RIGHT, err));
    const size_t right = w.count;
    PX_THEN(status, points_of_data(&w, false, CLUSTER_WRONG, err));
    PX_THEN(status, points_of_faults(&w, err));
    if (status == PX_OK && w.count == right)
        status = px_fail(err, PX_E_INPUT, "there are no failures that could be alike");
    PX_THEN(status, features_take(&w, err));
    if (status == PX_OK && w.count == w.first)
        status = px_fail(err, PX_E_INPUT, "no failure has neurons that are all finite");
    PX_THEN(status, cluster_fit(&w, err));
    if (status == PX_OK) {
        cluster_sort(&w);
        status = cluster_lay(&w, err);
    }
    PX_THEN(status, cluster_write(&w, out, err));
    free(w.centres);
    free(w.features);
    free(w.points);
    px_probe_free(w.probe);
    px_dataset_close(w.faults);
    px_campaign_close(w.campaign);
    return status;
}

static void cluster_line(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)c;
    px_text_format(out, "%" PRId64 " failures in %" PRId64 " clusters%s",
                   pxi_json_int(result, "failures", 0), pxi_json_int(result, "k", 0),
                   pxi_json_true(result, "weak") ? ", a weak grouping" : "");
}

static void cluster_command(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)result;
    pxi_command(c, "map", /* range= */ false, out);
    px_text_add(out, " -o map.svg");
}

const pxi_stage pxi_stage_cluster = {
    .public = {.entry = {.id = "cluster", .title = "Kinds of failures"},
               .help = "which failures are alike, as the last hidden layer sees them"},
    .version = 2,
    .after = PXI_AFTER(eval) | PXI_AFTER(synthesize) | PXI_AFTER(attack) | PXI_AFTER(fuzz) |
             PXI_AFTER(assess),
    .needs = PXI_AFTER(eval),
    .thousands = 2.0,
    .run = cluster_run,
    .headlines = {{"clusters", "k"}},
    .line = cluster_line,
    .command = cluster_command,
};
