/* src/check/stage_localize.c - which neurons are active when the network is wrong (DeepFault) */
#include "check/check_suspects.h"

#include <math.h>
#include <stdlib.h>

enum { LOCALIZE_LISTED = 60, LOCALIZE_PER_CLASS = 10 };
static const char measure[] = "ochiai";

static px_status localize_spectrum(px_check *c, px_spectrum **out, px_error *err)
{
    px_spectrum_options options = px_spectrum_options_default();
    px_spectrum_run_options run = {
        .batch = c->o.batch, .progress = pxi_check_tick, .progress_context = c};
    char *path = pxi_check_path(c, PXI_SPECTRUM_FILE);
    options.threads = c->o.threads;
    px_status status =
        path ? px_spectrum_new(c->model, &c->shape, &options, out, err) : pxi_check_nomem(err);
    if (status == PX_OK)
        status = px_spectrum_run(*out, c->set, &c->pre, &run, err);
    if (status == PX_OK)
        status = px_spectrum_save(*out, path, err);
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
    px_status status = path ? px_spectrum_open(path, out, err) : pxi_check_nomem(err);
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

static void json_suspect(const px_suspect *s, px_json *out)
{
    double low = 0.0, high = 1.0;
    px_hits_interval(&s->hits, &low, &high);
    px_json_object(out, NULL);
    if (s->class_index == PX_POOLED)
        px_json_null(out, "class");
    else
        px_json_int(out, "class", s->class_index);
    px_json_int(out, "rank", s->rank);
    px_json_string(out, "layer", s->layer);
    px_json_int(out, "position", s->position);
    px_json_int(out, "index", s->unit);
    px_json_real(out, "score", s->score);
    px_json_int(out, "as", s->hits.as);
    px_json_int(out, "af", s->hits.af);
    px_json_int(out, "ns", s->hits.ns);
    px_json_int(out, "nf", s->hits.nf);
    px_json_real(out, "low", low);
    px_json_real(out, "high", high);
    px_json_bool(out, "suspect", px_hits_suspect(&s->hits));
    px_json_bool(out, "informative", px_hits_ranked(&s->hits));
    px_json_end(out);
}

static void json_list(const px_suspicious *list, const char *key, px_json *out)
{
    px_json_array(out, key);
    for (size_t i = 0; i < list->count; i++)
        json_suspect(&list->items[i], out);
    px_json_end(out);
}

static void json_spectrum(const px_spectrum *s, px_json *out)
{
    int64_t always = 0, never = 0, suspects = 0;
    px_spectrum_extremes(s, &always, &never);
    const px_activity_counts active = px_spectrum_activity(s, PX_POOLED);
    for (int64_t n = 0; n < px_spectrum_neuron_count(s); n++) {
        const px_hits hits = px_spectrum_hits(s, PX_POOLED, n);
        suspects += px_hits_ranked(&hits) && px_hits_suspect(&hits);
    }
    px_json_string(out, "measure", measure);
    px_json_string(out, "definition", px_spectrum_definition(s));
    px_json_real(out, "theta", px_spectrum_theta(s));
    px_json_int(out, "neuron_count", px_spectrum_neuron_count(s));
    px_json_int(out, "always_active", always);
    px_json_int(out, "never_active", never);
    px_json_int(out, "almost_always_active", active.always);
    px_json_int(out, "almost_never_active", active.never);
    px_json_int(out, "uninformative", active.always + active.never);
    px_json_int(out, "suspects", suspects);
    px_json_int(out, "passed", px_spectrum_passed(s, PX_POOLED));
    px_json_int(out, "failed", px_spectrum_failed(s, PX_POOLED));
}

static px_status localize_run(px_check *c, px_json *out, px_error *err)
{
    static const char *const files[] = {PXI_SPECTRUM_FILE, PXI_SUSPICIOUS_FILE};
    px_spectrum *spectrum = NULL;
    px_suspicious *pooled = NULL, *classes = NULL;
    char *path = pxi_check_path(c, PXI_SUSPICIOUS_FILE);
    px_status status = path ? localize_spectrum(c, &spectrum, err) : pxi_check_nomem(err);
    if (status == PX_OK)
        status = pxi_suspects_rank(spectrum, true, LOCALIZE_LISTED, &pooled, err);
    if (status == PX_OK)
        status = pxi_suspects_rank(spectrum, false, LOCALIZE_PER_CLASS, &classes, err);
    if (status == PX_E_INPUT && pooled) /* no class has both: one ranking is for all of them */
        status = pxi_suspects_rank(spectrum, true, LOCALIZE_PER_CLASS, &classes, err);
    if (status == PX_OK)
        status = px_suspicious_save(classes, path, err);
    if (status == PX_OK) {
        json_spectrum(spectrum, out);
        json_list(pooled, "neurons", out);
        if (classes->count <= 1000)
            json_list(classes, "by_class", out);
        status = pxi_check_files(c, files, PX_LEN(files), out, err);
    }
    px_suspicious_free(pooled);
    px_suspicious_free(classes);
    px_spectrum_free(spectrum);
    free(path);
    return status;
}

const pxi_stage pxi_stage_localize = {
    .public = {.id = "localize",
               .title = "Suspicious neurons",
               .help = "neurons that are active when the network is wrong",
               .labels = true},
    .version = 2,
    .passes = 1.2,
    .run = localize_run,
};
