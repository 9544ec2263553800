/* src/check/stage_localize.c - which neurons are active when the network is wrong (DeepFault) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_suspects.h"

#include <internal/field.h>
#include <internal/localize.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LOCALIZE_LISTED = 60, LOCALIZE_PER_CLASS = 10, BY_CLASS_MOST = 1000 };
static const char measure[] = "ochiai";

static px_status localize_spectrum(px_check *c, px_spectrum **out, px_error *err)
{
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum_run_options run = {
        .batch = c->o.batch, .progress = pxi_check_tick, .progress_context = c};
    char *path = pxi_check_path(c, PXI_SPECTRUM_FILE);
    options.threads = c->o.threads;
    px_status status =
        path ? px_spectrum_new(c->model, &c->shape, &options, out, err) : pxi_no_memory(err);
    PX_THEN(status, px_spectrum_run(*out, c->set, &c->pre, &run, err));
    PX_THEN(status, px_spectrum_save(*out, path, err));
    free(path);
    return status;
}

px_status pxi_suspects_rank(const px_spectrum *spectrum, bool pooled, int64_t k,
                            px_suspicious **out, px_error *err)
{
    px_rank_options options = px_rank_options_default();
    options.measure = measure;
    options.k = k;
    options.pooled = pooled;
    const px_status status = px_suspicious_rank(spectrum, &options, out, err);
    if (status != PX_E_INPUT)
        return status;
    options.include_uninformative = true; /* none tells anything: stages behind need some */
    return px_suspicious_rank(spectrum, &options, out, err);
}

px_status pxi_spectrum_open(const px_check *c, px_spectrum **out, px_error *err)
{
    char *path = pxi_check_path(c, PXI_SPECTRUM_FILE);
    px_status status = path ? px_spectrum_open(path, out, err) : pxi_no_memory(err);
    if (status == PX_OK) {
        status = px_spectrum_check(*out, c->model, err);
        if (status != PX_OK) {
            px_spectrum_free(*out);
            *out = NULL;
        }
    }
    free(path);
    return status;
}

static px_datum suspect_low(const void *at, char *text)
{
    double low = 0.0, high = 1.0;
    (void)text;
    px_hits_interval(at, &low, &high);
    return px_datum_real(low);
}

static px_datum suspect_high(const void *at, char *text)
{
    double low = 0.0, high = 1.0;
    (void)text;
    px_hits_interval(at, &low, &high);
    return px_datum_real(high);
}

static px_datum suspect_is(const void *at, char *text)
{
    (void)text;
    return px_datum_bool(px_hits_suspect(at));
}

static px_datum suspect_tells(const void *at, char *text)
{
    (void)text;
    return px_datum_bool(px_hits_ranked(at));
}

static const px_field suspect_fields[] = {
    PX_INDEX(px_suspect, class_index, "class", "that it is suspicious for; null: all"),
    PX_FIELD(px_suspect, rank, "rank", "in its class, from 1"),
    PX_FIELD(px_suspect, layer, "layer", "its name"),
    PX_FIELD(px_suspect, position, "position", "of the layer in the network"),
    PX_FIELD(px_suspect, unit, "index", "in the layer"),
    PX_FIELD(px_suspect, score, "score", "suspiciousness; null: infinite"),
    PX_FIELD(px_suspect, hits.as, "as", "inputs that are right, with the neuron active"),
    PX_FIELD(px_suspect, hits.af, "af", "inputs that are wrong, with the neuron active"),
    PX_FIELD(px_suspect, hits.ns, "ns", "inputs that are right, with the neuron not active"),
    PX_FIELD(px_suspect, hits.nf, "nf", "inputs that are wrong, with the neuron not active"),
    PX_MADE_OF(REAL, suspect_low, px_suspect, hits, "low",
               "share of wrong answers while it is active, 95% interval: from", .unit = PX_SHARE),
    PX_MADE_OF(REAL, suspect_high, px_suspect, hits, "high", "to", .unit = PX_SHARE),
    PX_MADE_OF(BOOL, suspect_is, px_suspect, hits, "suspect",
               "that share is above the one over all inputs, beyond chance"),
    PX_MADE_OF(BOOL, suspect_tells, px_suspect, hits, "informative",
               "it is neither (almost) always nor (almost) never active"),
    PX_FIELDS_END,
};

typedef struct localize_result {
    const char *measure, *definition;
    double theta;
    int64_t neuron_count, always, never, silent, suspects, passed, failed;
    px_activity_counts active;
    const px_suspect *neurons, *by_class; /* by_class NULL: too many */
    size_t listed, by_class_count;
} localize_result;

static const px_field localize_fields[] = {
    PX_FIELD(localize_result, measure, "measure", "of suspiciousness"),
    PX_FIELD(localize_result, definition, "definition", "what a neuron is here"),
    PX_FIELD(localize_result, theta, "theta", "above which a neuron is active"),
    PX_FIELD(localize_result, neuron_count, "neuron_count", "neurons of all layers"),
    PX_FIELD(localize_result, always, "always_active", "neurons that are active on all inputs"),
    PX_FIELD(localize_result, never, "never_active", "neurons that are active on none"),
    PX_FIELD(localize_result, active.always, "almost_always_active",
             "neurons that are active on (almost) all inputs"),
    PX_FIELD(localize_result, active.never, "almost_never_active",
             "neurons that are active on (almost) none"),
    PX_FIELD(localize_result, silent, "uninformative", "both"),
    PX_FIELD(localize_result, suspects, "suspects", "neurons that are suspects over all classes"),
    PX_FIELD(localize_result, passed, "passed", "inputs that are right"),
    PX_FIELD(localize_result, failed, "failed", "inputs that are wrong"),
    PX_LIST(localize_result, neurons, listed, suspect_fields, "neurons",
            "the most suspicious over all classes"),
    PX_LIST(localize_result, by_class, by_class_count, suspect_fields, "by_class",
            "and of each class", PX_IF(localize_result, by_class)),
    PX_FIELDS_END,
};

static void localize_write(const px_spectrum *s, const px_suspicious *pooled,
                           const px_suspicious *classes, px_json *out)
{
    localize_result result = {
        .measure = measure,
        .definition = px_spectrum_definition(s),
        .theta = px_spectrum_theta(s),
        .neuron_count = px_spectrum_neuron_count(s),
        .active = px_spectrum_activity(s, PX_POOLED),
        .passed = px_spectrum_passed(s, PX_POOLED),
        .failed = px_spectrum_failed(s, PX_POOLED),
        .neurons = pooled->items,
        .listed = pooled->count,
        .by_class = classes->count <= BY_CLASS_MOST ? classes->items : NULL,
        .by_class_count = classes->count,
    };
    px_spectrum_extremes(s, &result.always, &result.never);
    result.silent = result.active.always + result.active.never;
    for (int64_t n = 0; n < result.neuron_count; n++) {
        const px_hits hits = px_spectrum_hits(s, PX_POOLED, n);
        result.suspects += px_hits_ranked(&hits) && px_hits_suspect(&hits);
    }
    px_fields_json(localize_fields, &result, out);
}

static px_status localize_run(px_check *c, px_json *out, px_error *err)
{
    px_spectrum *spectrum = NULL;
    px_suspicious *pooled = NULL, *classes = NULL;
    char *path = pxi_check_path(c, PXI_SUSPICIOUS_FILE);
    px_status status = path ? localize_spectrum(c, &spectrum, err) : pxi_no_memory(err);
    PX_THEN(status, pxi_suspects_rank(spectrum, true, LOCALIZE_LISTED, &pooled, err));
    PX_THEN(status, pxi_suspects_rank(spectrum, false, LOCALIZE_PER_CLASS, &classes, err));
    if (status == PX_E_INPUT && pooled) /* no class has both: one ranking is for all of them */
        status = pxi_suspects_rank(spectrum, true, LOCALIZE_PER_CLASS, &classes, err);
    PX_THEN(status, px_suspicious_save(classes, path, err));
    if (status == PX_OK)
        localize_write(spectrum, pooled, classes, out);
    px_suspicious_free(pooled);
    px_suspicious_free(classes);
    px_spectrum_free(spectrum);
    free(path);
    return status;
}

static void localize_line(const px_check *c, const px_json_value *result, px_text *out)
{
    enum { FIRST = 3 };
    const px_json_value *list = pxi_json_list(result, "neurons");
    const int64_t silent = pxi_json_int(result, "uninformative", 0);
    int shown = 0;
    (void)c;
    px_text_format(
        out, "most suspicious of %" PRId64 " neurons:", pxi_json_int(result, "neuron_count", 0));
    for (size_t i = 0; list && i < list->count && shown < FIRST; i++)
        if (pxi_json_true(&list->items[i], "suspect"))
            px_text_format(out, "%s %s:%" PRId64, shown++ ? "," : "",
                           pxi_json_words(&list->items[i], "layer"),
                           pxi_json_int(&list->items[i], "index", 0));
    if (shown == 0)
        px_text_add(out, " none beyond chance");
    if (silent > 0)
        px_text_format(out, "; %" PRId64 " are (almost) always or never active and say nothing",
                       silent);
}

static void localize_command(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)result;
    pxi_command(c, "localize", /* range= */ false, out);
    px_text_format(out, " --measure %s -k %d --pooled", measure, LOCALIZE_LISTED);
}

const pxi_stage pxi_stage_localize = {
    .public = {.entry = {.id = "localize", .title = "Suspicious neurons"},
               .help = "neurons that are active when the network is wrong",
               .labels = true},
    .version = 2,
    .passes = 1.2,
    .run = localize_run,
    .files = {{PXI_SPECTRUM_FILE, "hit counts of all neurons", false},
              {PXI_SUSPICIOUS_FILE, "suspicious neurons of every class, for plexor synthesize",
               false}},
    .line = localize_line,
    .command = localize_command,
    .page = pxi_page_localize,
};
