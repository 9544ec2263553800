/* src/cover/npc_learn.c - abstract paths, and what ANPC keeps of their members, from training data
 *
 * Workers keep the path of each correctly classified input (and its activations); in the end they
 * are put into the order of the data set and clustered class by class.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cover/npc.h"
#include <internal/kmeans.h>

#include <internal/cover.h>
#include <internal/profile.h>
#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int npc_restarts = 10, npc_iterations = 300;

typedef struct learn_member {
    int64_t index;
    int klass, cluster;
    size_t at; /* its path and activations */
} learn_member;

typedef struct learn {
    const px_row_layer *layers;
    size_t layer_count;
    int64_t neurons; /* half a row */
    int classes, k;
    double alpha, beta;
    bool compat, activations;
    uint64_t seed;
    learn_member *members;
    size_t count, member_capacity;
    uint8_t *paths; /* [count][neurons] */
    size_t path_capacity;
    float *values; /* [count][neurons]; NULL: not wanted */
    size_t value_capacity;
    int32_t *heap;
} learn;

static px_status no_memory(px_error *err)
{
    return pxi_no_memory_for(err, "decision paths; take fewer training inputs or fewer layers");
}

static void learn_close(void *state)
{
    learn *s = state;
    if (!s)
        return;
    free(s->members);
    free(s->paths);
    free(s->values);
    free(s->heap);
    free(s);
}

static px_status learn_open(const px_learner_request *request, bool activations, void **state,
                            px_error *err)
{
    const pxi_npc_config *config = request->config;
    learn *s = pxi_calloc(1, sizeof *s);
    if (!s)
        return no_memory(err);
    s->layers = request->extractor->layers;
    s->layer_count = request->extractor->layer_count;
    s->neurons = request->extractor->width / 2;
    s->classes = request->classes;
    s->k = (int)config->k;
    s->alpha = config->alpha;
    s->beta = config->beta;
    s->compat = config->compat != 0;
    s->activations = activations;
    s->seed = request->seed;
    s->heap = pxi_calloc((size_t)s->neurons, sizeof *s->heap);
    if (!s->heap || s->neurons > INT32_MAX) {
        learn_close(s);
        return no_memory(err);
    }
    *state = s;
    return PX_OK;
}

static px_status paths_open(const px_learner_request *request, void **state, px_error *err)
{
    return learn_open(request, /* activations= */ false, state, err);
}

static px_status members_open(const px_learner_request *request, void **state, px_error *err)
{
    return learn_open(request, /* activations= */ true, state, err);
}

static int64_t learn_bytes(const px_learner_request *request, int64_t per_neuron)
{
    const int64_t row = request->extractor->width / 2 * per_neuron + (int64_t)sizeof(learn_member);
    return request->count > INT64_MAX / 2 / row ? INT64_MAX / 2 : request->count * row;
}

static int64_t paths_bytes(const px_learner_request *request)
{
    return learn_bytes(request, 1);
}

static int64_t members_bytes(const px_learner_request *request)
{
    return learn_bytes(request, 1 + 2 * (int64_t)sizeof(float)); /* once more where it is put */
}

static void learn_key(const void *settings, px_text *text)
{
    const pxi_npc_config *config = settings;
    char alpha[PX_REAL_TEXT], beta[PX_REAL_TEXT];
    px_text_format(text, "alpha=%s beta=%s k=%d%s", px_real_text(config->alpha, alpha),
                   px_real_text(config->beta, beta), (int)config->k,
                   config->compat ? " compat=npc-code" : "");
}

static px_status learn_room(learn *s, size_t more, px_error *err)
{
    const size_t neurons = (size_t)s->neurons, want = s->count + more;
    if (neurons && want > SIZE_MAX / neurons)
        return no_memory(err);
    if (pxi_grow(&s->members, &s->member_capacity, want, sizeof *s->members) != 0 ||
        pxi_grow(&s->paths, &s->path_capacity, want * neurons, sizeof *s->paths) != 0 ||
        (s->activations &&
         pxi_grow(&s->values, &s->value_capacity, want * neurons, sizeof *s->values) != 0))
        return no_memory(err);
    return PX_OK;
}

static px_status learn_observe(void *state, const px_rows *rows, px_error *err)
{
    learn *s = state;
    PX_TRY(learn_room(s, (size_t)rows->count, err));
    for (int64_t i = 0; i < rows->count; i++) {
        const px_input_facts *facts = &rows->facts[i];
        if (rows->rejected[i] || facts->predicted < 0 || facts->predicted >= s->classes ||
            facts->label != facts->predicted)
            continue;
        const float *row = rows->values + i * rows->width;
        const size_t at = s->count * (size_t)s->neurons;
        pxi_npc_path(s->layers, s->layer_count, row, s->alpha, s->paths + at, s->heap);
        if (s->activations)
            memcpy(s->values + at, row + s->neurons, (size_t)s->neurons * sizeof *s->values);
        s->members[s->count] =
            (learn_member){.index = facts->index, .klass = facts->predicted, .at = s->count};
        s->count++;
    }
    return PX_OK;
}

static px_status learn_merge(void *state, void *other, px_error *err)
{
    learn *s = state;
    const learn *o = other;
    if (o->count == 0)
        return PX_OK;
    PX_TRY(learn_room(s, o->count, err));
    const size_t neurons = (size_t)s->neurons, at = s->count * neurons;
    memcpy(s->paths + at, o->paths, o->count * neurons * sizeof *s->paths);
    if (s->activations)
        memcpy(s->values + at, o->values, o->count * neurons * sizeof *s->values);
    for (size_t i = 0; i < o->count; i++) {
        s->members[s->count + i] = o->members[i];
        s->members[s->count + i].at += s->count;
    }
    s->count += o->count;
    return PX_OK;
}

/* Members as index and class. */
static px_status learn_save(const void *state, px_npz_writer *to, const char *prefix, px_error *err)
{
    const learn *s = state;
    const px_shape members = {.rank = 2, .dim = {(int64_t)s->count, 2}};
    const px_shape rows = {.rank = 2, .dim = {(int64_t)s->count, s->neurons}};
    int64_t *pairs = NULL;
    PX_TRY(PX_NEW(pairs, 2 * s->count + 1, err));
    for (size_t i = 0; i < s->count; i++) {
        pairs[2 * i] = s->members[i].index;
        pairs[2 * i + 1] = s->members[i].klass;
    }
    px_status status = px_npz_put(to, prefix, "members", PX_INT64, &members, pairs, err);
    free(pairs);
    if (status == PX_OK)
        status = px_npz_put(to, prefix, "paths", PX_UINT8, &rows, s->paths, err);
    if (status == PX_OK && s->activations)
        status = px_npz_put(to, prefix, "values", PX_FLOAT32, &rows, s->values, err);
    return status;
}

static px_status learn_load(void *state, const px_npz *from, const char *prefix, px_error *err)
{
    learn *s = state;
    const void *members, *paths, *values = NULL;
    px_shape found;
    PX_TRY(px_npz_take(from, prefix, "members", PX_INT64, &(px_shape){.rank = 2, .dim = {-1, 2}},
                       &members, &found, err));
    const px_shape rows = {.rank = 2, .dim = {found.dim[0], s->neurons}};
    const size_t count = (size_t)found.dim[0], floats = count * (size_t)s->neurons;
    PX_TRY(px_npz_take(from, prefix, "paths", PX_UINT8, &rows, &paths, NULL, err));
    if (s->activations)
        PX_TRY(px_npz_take(from, prefix, "values", PX_FLOAT32, &rows, &values, NULL, err));
    if (count == 0)
        return PX_OK;
    PX_TRY(learn_room(s, count, err));
    memcpy(s->paths, paths, floats * sizeof *s->paths);
    if (s->activations)
        memcpy(s->values, values, floats * sizeof *s->values);
    const int64_t *pairs = members;
    for (size_t i = 0; i < count; i++)
        s->members[i] =
            (learn_member){.index = pairs[2 * i], .klass = (int)pairs[2 * i + 1], .at = i};
    s->count = count;
    return PX_OK;
}

/* --- from members to abstract paths ---------------------------------------------------------- */

static int member_order(const void *a, const void *b)
{
    const learn_member *x = a, *y = b;
    if (x->klass != y->klass)
        return x->klass < y->klass ? -1 : 1;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Members [first, end) are of one class, in the order of the data set. */
static px_status class_cluster(learn *s, size_t first, size_t end, px_error *err)
{
    const size_t n = end - first, d = (size_t)s->neurons;
    if (s->k < 2 || n < 2)
        return PX_OK;
    double *x = n <= SIZE_MAX / sizeof *x / d ? pxi_calloc(n * d, sizeof *x) : NULL;
    if (!x)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            x[i * d + j] = (double)s->paths[s->members[first + i].at * d + j];
    const pxi_kmeans_options options = {.k = s->k,
                                        .restarts = npc_restarts,
                                        .iterations = npc_iterations,
                                        .seed = s->seed,
                                        .item = (uint32_t)s->members[first].klass};
    pxi_kmeans fit = {0};
    const px_status status = pxi_kmeans_fit(x, n, d, &options, NULL, &fit, err);
    for (size_t i = 0; status == PX_OK && i < n; i++)
        s->members[first + i].cluster = fit.label[i];
    pxi_kmeans_done(&fit);
    free(x);
    return status;
}

static size_t class_end(const learn *s, size_t first)
{
    size_t end = first;
    while (end < s->count && s->members[end].klass == s->members[first].klass &&
           s->members[end].cluster == s->members[first].cluster)
        end++;
    return end;
}

static px_status learn_abstract(learn *s, uint8_t *paths, int64_t *sizes, px_error *err)
{
    if (s->count > 1)
        qsort(s->members, s->count, sizeof *s->members, member_order);
    for (size_t first = 0; first < s->count;) { /* clusters are all 0 here: whole classes */
        const size_t end = class_end(s, first);
        PX_TRY(class_cluster(s, first, end, err));
        first = end;
    }
    if (s->count > 1)
        qsort(s->members, s->count, sizeof *s->members, member_order);
    const size_t neurons = (size_t)s->neurons;
    int64_t *counts = pxi_calloc(neurons, sizeof *counts);
    if (!counts)
        return no_memory(err);
    for (size_t first = 0; first < s->count;) {
        const size_t end = class_end(s, first);
        const size_t slot = (size_t)(s->members[first].klass * s->k + s->members[first].cluster);
        memset(counts, 0, neurons * sizeof *counts);
        for (size_t i = first; i < end; i++)
            for (size_t n = 0; n < neurons; n++)
                counts[n] += s->paths[s->members[i].at * neurons + n];
        sizes[slot] = (int64_t)(end - first);
        for (size_t l = 0; l < s->layer_count; l++) {
            const px_row_layer *layer = &s->layers[l];
            pxi_npc_abstract(counts + layer->offset, sizes[slot], layer->count, s->beta, s->compat,
                             paths + slot * neurons + (size_t)layer->offset);
        }
        first = end;
    }
    free(counts);
    return PX_OK;
}

/* --- members' activations -------------------------------------------------------------------- */

typedef struct learn_cluster { /* of the packed activations */
    const float *rows;
    int64_t count, width;
} learn_cluster;

/* The largest distance from a member to its nearest fellow, over neurons [first, end) of the packed
 * rows, if above *limit. A member is given up as soon as it cannot raise the limit. */
static void cluster_limit(const learn_cluster *cluster, int64_t first, int64_t end, double *limit)
{
    double most = *limit * *limit;
    for (int64_t i = 0; i < cluster->count && cluster->count > 1; i++) {
        const float *a = cluster->rows + i * cluster->width;
        double least = INFINITY;
        for (int64_t j = 0; j < cluster->count && least > most; j++) {
            const float *b = cluster->rows + j * cluster->width;
            double sum = j == i ? INFINITY : 0.0;
            for (int64_t n = first; n < end && sum < least; n++)
                sum += ((double)a[n] - (double)b[n]) * ((double)a[n] - (double)b[n]);
            least = PX_MIN(least, sum);
        }
        most = PX_MAX(most, least);
    }
    *limit = sqrt(most);
}

static size_t learn_packed(const learn *s, const uint8_t *paths, const int64_t *sizes)
{
    size_t total = 0;
    for (size_t slot = 0; slot < (size_t)(s->classes * s->k); slot++) {
        size_t width = 0;
        for (int64_t n = 0; n < s->neurons; n++)
            width += paths[slot * (size_t)s->neurons + (size_t)n];
        total += width * (size_t)sizes[slot];
    }
    return total;
}

static void learn_pack(const learn *s, const uint8_t *paths, const int64_t *sizes, float *packed,
                       double *limits)
{
    const size_t neurons = (size_t)s->neurons;
    size_t member = 0;
    for (size_t slot = 0; slot < (size_t)(s->classes * s->k); slot++) {
        const uint8_t *path = paths + slot * neurons;
        learn_cluster cluster = {.rows = packed, .count = sizes[slot]};
        for (int64_t i = 0; i < sizes[slot]; i++, member++) {
            const float *values = s->values + s->members[member].at * neurons;
            cluster.width = 0;
            for (size_t n = 0; n < neurons; n++)
                if (path[n]) {
                    *packed++ = values[n];
                    cluster.width++;
                }
        }
        int64_t at = 0;
        for (size_t l = 0; l < s->layer_count; l++) {
            const int64_t first = at;
            for (int64_t n = 0; n < s->layers[l].count; n++)
                at += path[s->layers[l].offset + n];
            cluster_limit(&cluster, first, at, &limits[l]);
        }
    }
}

static px_status learn_finish(void *state, px_profile *to, const char *section, px_error *err)
{
    learn *s = state;
    const px_shape of_paths = {.rank = 3, .dim = {s->classes, s->k, s->neurons}};
    const px_shape of_sizes = {.rank = 2, .dim = {s->classes, s->k}};
    const px_shape of_limits = {.rank = 1, .dim = {(int64_t)s->layer_count}};
    px_tensor paths = {0}, sizes = {0}, members = {0}, limits = {0};
    px_status status = px_tensor_init(&paths, PX_UINT8, &of_paths, err);
    PX_THEN(status, px_tensor_init(&sizes, PX_INT64, &of_sizes, err));
    PX_THEN(status, learn_abstract(s, paths.data, sizes.data, err));
    if (status == PX_OK && s->activations) {
        const px_shape flat = {.rank = 1,
                               .dim = {(int64_t)learn_packed(s, paths.data, sizes.data)}};
        status = px_tensor_init(&members, PX_FLOAT32, &flat, err);
        PX_THEN(status, px_tensor_init(&limits, PX_FLOAT64, &of_limits, err));
        if (status == PX_OK) {
            learn_pack(s, paths.data, sizes.data, members.data, limits.data);
            status = px_profile_put(to, section, "members", &members, err);
        }
        PX_THEN(status, px_profile_put(to, section, "limits", &limits, err));
    }
    PX_THEN(status, px_profile_put(to, section, "paths", &paths, err));
    PX_THEN(status, px_profile_put(to, section, "sizes", &sizes, err));
    px_tensor_done(&paths);
    px_tensor_done(&sizes);
    px_tensor_done(&members);
    px_tensor_done(&limits);
    return status;
}

const px_learner pxi_learner_paths = {
    .id = "paths",
    .help = "the decision paths that correctly classified training inputs of a class share",
    .bytes = paths_bytes,
    .key = learn_key,
    .open = paths_open,
    .close = learn_close,
    .observe = learn_observe,
    .merge = learn_merge,
    .save = learn_save,
    .load = learn_load,
    .finish = learn_finish,
};

const px_learner pxi_learner_members = {
    .id = "path-members",
    .help = "decision paths, and the activations of the training inputs behind them",
    .bytes = members_bytes,
    .key = learn_key,
    .open = members_open,
    .close = learn_close,
    .observe = learn_observe,
    .merge = learn_merge,
    .save = learn_save,
    .load = learn_load,
    .finish = learn_finish,
};
