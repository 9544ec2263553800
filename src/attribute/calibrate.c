/* src/attribute/calibrate.c - below which similarity two paths differ
 *
 * NSGen: the lower quartile of the similarities of images with everything that its 95 mutations
 * make of them, valid or not. All modes are served by the same paths: only their texts differ.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attribute/paths_internal.h"

#include "base/arena.h"
#include "base/memory.h"

#include <internal/bank.h>
#include <internal/data.h>
#include <internal/decision_path.h>
#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/stats.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

px_calibration px_calibration_default(void)
{
    return (px_calibration){.images = 50};
}

/* --- which images ---------------------------------------------------------------------------- */

typedef struct image_choice {
    int64_t *order;  /* [count] indices, class by class, permuted within each */
    int64_t *start;  /* [classes + 1] */
    int64_t classes; /* one where there are no labels */
} image_choice;

static px_status choice_sort(image_choice *choice, const px_dataset *set, int64_t classes,
                             uint64_t seed, px_error *err)
{
    const int64_t count = px_dataset_count(set);
    if (px_dataset_has_labels(set))
        PX_TRY(px_dataset_check_labels(set, (int)classes, err));
    else
        classes = 1;
    if (count > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "too many images to choose from; see --limit");
    int64_t *places = pxi_calloc((size_t)PX_MAX(count, classes), sizeof *places);
    int64_t *copy = pxi_calloc((size_t)count, sizeof *copy);
    choice->order = pxi_calloc((size_t)count, sizeof *choice->order);
    choice->start = pxi_calloc((size_t)classes + 1, sizeof *choice->start);
    choice->classes = classes;
    const bool made = places && copy && choice->order && choice->start;
    for (int64_t i = 0; made && i < count; i++)
        choice->start[PX_MAX(px_dataset_label(set, i), (int64_t)0) + 1]++;
    for (int64_t c = 0; made && c < classes; c++)
        choice->start[c + 1] += choice->start[c];
    for (int64_t i = 0; made && i < count; i++) { /* `places` counts what a class has already */
        const int64_t c = PX_MAX(px_dataset_label(set, i), (int64_t)0);
        choice->order[choice->start[c] + places[c]++] = i;
    }
    for (int64_t c = 0; made && c < classes; c++) {
        const int64_t first = choice->start[c], own = choice->start[c + 1] - first;
        px_random random = px_rng(seed, PX_RNG_SAMPLE, (uint32_t)c, PX_RNG_PATH);
        px_rng_permutation(&random, places, (uint32_t)own);
        memcpy(copy, choice->order + first, (size_t)own * sizeof *copy);
        for (int64_t k = 0; k < own; k++)
            choice->order[first + k] = copy[places[k]];
    }
    free(copy);
    free(places);
    return made ? PX_OK : pxi_no_memory(err);
}

/* The chosen ones; the caller frees *out. */
static px_status images_choose(const px_dataset *set, int64_t classes,
                               const px_calibration *options, int64_t **out, int64_t *chosen,
                               px_error *err)
{
    const int64_t count = px_dataset_count(set);
    image_choice choice = {0};
    px_status status = choice_sort(&choice, set, classes, options->seed, err);
    int64_t *images = status == PX_OK ? pxi_calloc((size_t)count, sizeof *images) : NULL;
    int64_t n = 0;
    if (status == PX_OK && !images)
        status = pxi_no_memory(err);
    for (int64_t k = 0; status == PX_OK && k < count; k++) /* the k-th of every class */
        for (int64_t c = 0; c < choice.classes; c++) {
            const int64_t own = choice.start[c + 1] - choice.start[c];
            const int64_t share =
                PX_MAX((int64_t)llround(options->per_class * (double)own), (int64_t)1);
            const bool takes = options->per_class > 0.0 ? k < share : n < options->images;
            if (k < own && takes)
                images[n++] = choice.order[choice.start[c] + k];
        }
    free(choice.order);
    free(choice.start);
    if (status != PX_OK) {
        free(images);
        return status;
    }
    *out = images;
    *chosen = n;
    return PX_OK;
}

/* --- pairs ----------------------------------------------------------------------------------- */

typedef struct calibration {
    px_paths *paths;
    px_path_judge *judge;
    const px_dataset *set;
    const px_preprocess *pre;
    const px_calibration *options;
    px_mutations rules;
    int64_t rule_count, images, done;
    bool known[PX_PATH_MODE_COUNT];
    px_arena *memory;     /* of the arrays but the next */
    double *similarities; /* [modes][images * rules] */
    float *pixels, *inputs;
    int64_t *labels;
    px_path *found; /* [1 + rules]: the image and its mutants */
} calibration;

static bool calibration_tick(void *context, int64_t done, int64_t total)
{
    const calibration *c = context;
    (void)total;
    if (!c->options->progress)
        return true;
    const int64_t before = c->done + PX_MAX(done - 1, (int64_t)0);
    return c->options->progress(c->options->progress_context, before, c->images * c->rule_count);
}

static px_status calibration_image(calibration *c, int64_t image, int64_t index, px_error *err)
{
    const px_shape shape = px_dataset_shape(c->set);
    const size_t size = (size_t)px_paths_input_size(c->paths);
    PX_TRY(px_dataset_pixels(c->set, index, c->pixels, err));
    for (int64_t r = 0; r <= c->rule_count; r++) {
        float *row = c->inputs + (size_t)r * size;
        if (r == 0) {
            memcpy(row, c->pixels, size * sizeof *row);
        } else {
            const px_drawn rule = px_mutations_rule(&c->rules, (size_t)r - 1, /* seed= */ 0);
            PX_TRY(px_mutation_apply_values(&rule, &shape, !px_dataset_is_8bit(c->set), c->pixels,
                                            row, err));
        }
        PX_TRY(px_preprocess_apply(c->pre, &shape, row, err));
        c->labels[r] = px_dataset_label(c->set, index);
    }
    PX_TRY(px_paths_run(c->paths, c->inputs, c->labels, 1 + c->rule_count, c->found, NULL, err));
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++) {
        double *to = c->similarities + (m * c->images + image) * c->rule_count;
        for (int64_t r = 0; r < c->rule_count && c->known[m]; r++)
            PX_TRY(px_path_judge_similarity(c->judge, (px_path_mode)m, &c->found[0],
                                            &c->found[1 + r], &to[r], err));
    }
    c->done += c->rule_count;
    return PX_OK;
}

static px_status tau_of(const double *similarities, size_t count, px_tau *out, px_error *err)
{
    double *sorted = NULL;
    PX_TRY(PX_NEW(sorted, count, err));
    memcpy(sorted, similarities, count * sizeof *sorted);
    const double tau = px_quantile(sorted, count, 0.25); /* and sorts */
    *out = (px_tau){.known = true,
                    .tau = tau,
                    .least = sorted[0],
                    .median = px_quantile_sorted(sorted, count, 0.5),
                    .upper = px_quantile_sorted(sorted, count, 0.75),
                    .most = sorted[count - 1],
                    .mean = px_mean(sorted, count),
                    .at_most = tau <= sorted[0]};
    free(sorted);
    return PX_OK;
}

static px_status calibration_run(calibration *c, const int64_t *images, px_threshold *out,
                                 px_error *err)
{
    const px_progress_fn progress = c->paths->progress;
    void *const context = c->paths->progress_context;
    px_status status = PX_OK;
    px_paths_progress(c->paths, calibration_tick, c);
    for (int64_t i = 0; i < c->images && status == PX_OK; i++)
        status = calibration_image(c, i, images[i], err);
    px_paths_progress(c->paths, progress, context);
    const int64_t pairs = c->images * c->rule_count;
    for (int m = 0; m < PX_PATH_MODE_COUNT && status == PX_OK; m++)
        if (c->known[m])
            status = tau_of(c->similarities + m * pairs, (size_t)pairs, &out->of[m], err);
    return status;
}

static px_status calibration_room(calibration *c, px_error *err)
{
    const size_t size = (size_t)px_paths_input_size(c->paths), rows = 1 + (size_t)c->rule_count;
    const px_shape shape = px_dataset_shape(c->set);
    size_t pairs;
    if ((size_t)px_shape_count(&shape) != size)
        return px_fail(err, PX_E_MISMATCH, "the data do not have the shape of the network's input");
    if (__builtin_mul_overflow((size_t)c->images, (size_t)c->rule_count * PX_PATH_MODE_COUNT,
                               &pairs))
        return pxi_no_memory_for(err, "%lld images; see --limit", (long long)c->images);
    c->similarities = pxi_calloc(pairs, sizeof *c->similarities);
    c->memory = pxi_arena_new();
    c->pixels = pxi_arena_alloc(c->memory, size, sizeof *c->pixels);
    c->inputs = pxi_arena_alloc(c->memory, rows, size * sizeof *c->inputs);
    c->labels = pxi_arena_alloc(c->memory, rows, sizeof *c->labels);
    c->found = pxi_arena_alloc(c->memory, rows, sizeof *c->found);
    return c->similarities && pxi_arena_whole(c->memory)
               ? PX_OK
               : pxi_no_memory_for(err, "%lld images; see --limit", (long long)c->images);
}

px_status px_calibrate(px_paths *paths, px_path_judge *judge, const px_dataset *set,
                       const px_preprocess *pre, const px_calibration *options, px_threshold *out,
                       double **similarities, px_error *err)
{
    calibration c = {.paths = paths, .judge = judge, .set = set, .pre = pre, .options = options};
    int64_t *images = NULL;
    if (options->images < 1 || !(options->per_class >= 0.0 && options->per_class <= 1.0))
        return px_fail(err, PX_E_USAGE,
                       "a threshold needs one image or more, or a share of each class up to 1");
    PX_TRY(px_mutations_parse("nsgen", &c.rules, err));
    PX_TRY(px_mutations_check(&c.rules, set, err));
    c.rule_count = (int64_t)px_mutations_rules(&c.rules);
    for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
        c.known[m] = px_path_judge_check(judge, (px_path_mode)m, NULL) == PX_OK;
    px_threshold made = {.model = px_model_hash(paths->model),
                         .bank = paths->options.bank ? px_bank_id(paths->options.bank) : 0,
                         .encoder = pxi_path_judge_encoder(judge),
                         .paths = px_paths_id(paths),
                         .data = px_dataset_hash(set),
                         .seed = options->seed,
                         .rules = c.rule_count};
    px_status status = images_choose(set, paths->scores.classes, options, &images, &c.images, err);
    PX_THEN(status, calibration_room(&c, err));
    PX_THEN(status, calibration_run(&c, images, &made, err));
    made.images = c.images;
    made.pairs = c.images * c.rule_count;
    if (status == PX_OK) {
        *out = made;
        if (similarities) {
            *similarities = c.similarities;
            c.similarities = NULL;
        }
    }
    free(images);
    free(c.similarities);
    pxi_arena_free(c.memory);
    return status;
}

bool px_tau_keeps(const px_tau *tau, double similarity)
{
    if (similarity == 1.0)
        return false;
    return similarity < tau->tau || (tau->at_most && similarity == tau->tau);
}
