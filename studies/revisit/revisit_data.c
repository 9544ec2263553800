/* studies/revisit/revisit_data.c - a network with its inputs, and test cases made of inputs
 *
 * Pictures are decoded once and kept as bytes: 50,000 of CIFAR-10 are 150 MB, and everything that
 * follows goes through them dozens of times.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include "base/memory.h"
#include "base/worker_pool.h"
#include <internal/source.h>

#include <internal/mutate.h>
#include <internal/train.h>
#include <inttypes.h>
#include <plexor/attack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES_PER_JOB = 64 };

/* --- a data set over them --------------------------------------------------------------------- */

typedef struct picture_source {
    pxi_source base;
    const rv_pictures *pictures;
} picture_source;

static px_status picture_values(const pxi_source *source, int64_t index, float *out, px_error *err)
{
    (void)err;
    const rv_pictures *p = ((const picture_source *)source)->pictures;
    const uint8_t *bytes = p->bytes + (size_t)index * p->size;
    for (size_t i = 0; i < p->size; i++)
        out[i] = (float)bytes[i];
    return PX_OK;
}

static int64_t picture_label(const pxi_source *source, int64_t index)
{
    return ((const picture_source *)source)->pictures->labels[index];
}

static void picture_free(pxi_source *source)
{
    free(source);
}

static const pxi_source_type picture_type = {
    .values = picture_values,
    .label = picture_label,
    .free = picture_free,
};

void rv_pictures_done(rv_pictures *p)
{
    px_dataset_close(p->set);
    free(p->bytes);
    free(p->labels);
    *p = (rv_pictures){.set = NULL};
}

/* Room for the first `count` of the pictures of `like`, with its labels. */
static px_status pictures_init(rv_pictures *p, const px_dataset *like, int64_t count,
                               const px_preprocess *pre, px_error *err)
{
    const px_shape shape = px_dataset_shape(like);
    if (shape.rank != 3 || !px_dataset_is_8bit(like))
        return px_fail(err, PX_E_MISMATCH, "the study takes 8-bit pictures; there is %s",
                       px_dataset_describe(like));
    *p = (rv_pictures){.pre = *pre, .count = PX_MIN(count, px_dataset_count(like))};
    p->size = (size_t)px_shape_count(&shape);
    p->bytes = pxi_calloc((size_t)p->count, p->size);
    p->labels = pxi_calloc((size_t)p->count, sizeof *p->labels);
    picture_source *source = pxi_calloc(1, sizeof *source);
    if (!p->bytes || !p->labels || !source) {
        free(source);
        return pxi_no_memory_for(err, "%" PRId64 " pictures", p->count);
    }
    for (int64_t i = 0; i < p->count; i++)
        p->labels[i] = px_dataset_label(like, i);
    source->base = (pxi_source){.type = &picture_type,
                                .count = p->count,
                                .is_8bit = true,
                                .shape = shape,
                                .class_count = px_dataset_class_count(like)};
    snprintf(source->base.kind, sizeof source->base.kind, "pictures in memory");
    source->pictures = p;
    return pxi_dataset_make(&source->base, "pictures in memory", NULL, &p->set, err);
}

px_status rv_pictures_copy(const rv_pictures *from, rv_pictures *out, px_error *err)
{
    PX_TRY(pictures_init(out, from->set, from->count, &from->pre, err));
    memcpy(out->bytes, from->bytes, (size_t)from->count * from->size);
    return PX_OK;
}

/* --- filling it from another ------------------------------------------------------------------ */

typedef struct filling {
    const px_dataset *from;
    rv_pictures *to;
    float **room; /* per worker: a picture */
} filling;

static px_status filling_work(void *context, int worker, int64_t job, px_error *err)
{
    const filling *f = context;
    float *values = f->room[worker];
    const int64_t first = job * PICTURES_PER_JOB;
    const int64_t end = PX_MIN(first + PICTURES_PER_JOB, f->to->count);
    for (int64_t i = first; i < end; i++) {
        uint8_t *bytes = f->to->bytes + (size_t)i * f->to->size;
        PX_TRY(px_dataset_pixels(f->from, i, values, err));
        for (size_t j = 0; j < f->to->size; j++)
            bytes[j] = (uint8_t)values[j]; /* whole levels: 8-bit data are read as such */
    }
    return PX_OK;
}

static px_status pictures_fill(const px_study *study, const px_dataset *from, int64_t count,
                               const px_preprocess *pre, rv_pictures *to, px_error *err)
{
    px_pool *pool = NULL;
    filling f = {.from = from, .to = to};
    PX_TRY(pictures_init(to, from, count, pre, err));
    PX_TRY(pxi_pool_new(study->options.threads, &pool, err));
    const size_t threads = (size_t)pxi_pool_threads(pool);
    px_status status = PX_NEW(f.room, threads, err);
    for (size_t t = 0; t < threads && status == PX_OK; t++) {
        f.room[t] = pxi_calloc(to->size, sizeof **f.room);
        if (!f.room[t])
            status = pxi_no_memory(err);
    }
    if (status == PX_OK)
        status =
            pxi_pool_run(pool, (to->count + PICTURES_PER_JOB - 1) / PICTURES_PER_JOB, filling_work,
                         &f, study->options.progress, study->options.context, err);
    for (size_t t = 0; f.room && t < threads; t++)
        free(f.room[t]);
    free(f.room);
    pxi_pool_free(pool);
    return status;
}

/* --- the bench -------------------------------------------------------------------------------- */

static px_status bench_load(rv_bench *b, const char *part, int64_t limit, rv_pictures *out,
                            px_error *err)
{
    study_data data = {.set = NULL};
    PX_TRY(pxi_study_open(b->study, b->model, rv_subjects[b->subject].dataset, part, 0.0, limit,
                          &data, err));
    const px_status status = pictures_fill(b->study, data.set, INT64_MAX, &data.pre, out, err);
    pxi_study_close(&data);
    return status;
}

px_status rv_bench_open(px_study *study, const study_job *job, rv_bench *b, px_error *err)
{
    const study_network network = rv_network(study, job->subject, job->run);
    const int64_t count = rv_count(study);
    *b = (rv_bench){.study = study, .subject = job->subject, .run = job->run};
    PX_TRY(pxi_network_load(study, &network, &b->model, err));
    PX_TRY(bench_load(b, "train", count, &b->inputs, err));
    if (b->inputs.count < count)
        return px_fail(err, PX_E_MISMATCH,
                       "'%s' has %" PRId64 " training inputs, not the %" PRId64
                       " that its cells are said to be of; --limit %" PRId64 " takes all",
                       pxi_study_spec(study, network.dataset), b->inputs.count, count,
                       b->inputs.count);
    return bench_load(b, "test", study->options.limit, &b->test, err);
}

void rv_bench_close(rv_bench *b)
{
    rv_pictures_done(&b->inputs);
    rv_pictures_done(&b->test);
    px_model_free(b->model);
    b->model = NULL;
}

/* --- test cases ------------------------------------------------------------------------------- */

/* DeepHunter's transformations: all nine, or the halves that the paper makes of them. */
px_status rv_mutants(const rv_bench *b, int set, const rv_pictures *from, int64_t count,
                     rv_pictures *out, px_error *err)
{
    static const char *const texts[RV_SETS] = {[RV_DHD] = "deephunter:differentiable",
                                               [RV_DHN] = "deephunter:non-differentiable",
                                               [RV_DH] = "deephunter"};
    const uint64_t seed = b->study->options.seed + (uint64_t)b->run;
    /* one iteration per generator and origin: no two share numbers */
    const uint32_t iteration = PX_MUTATE_FREE + 2 * (uint32_t)set + (from == &b->test);
    px_mutations mutations;
    px_mutant_set *mutants = NULL;
    PX_TRY(px_mutations_parse(texts[set], &mutations, err));
    PX_TRY(px_mutant_set_new(from->set, &mutations, seed, iteration, &mutants, err));
    const px_status status =
        pictures_fill(b->study, px_mutant_set_data(mutants), count, &from->pre, out, err);
    px_mutant_set_free(mutants);
    if (status != PX_OK)
        rv_pictures_done(out);
    return status;
}

static px_status attack_keep(void *context, const px_attack_made *made, px_error *err)
{
    rv_pictures *out = context;
    if (!made->bytes)
        return px_fail(err, PX_E_INTERNAL, "an attack on 8-bit pictures made none");
    memcpy(out->bytes + (size_t)made->place * out->size, made->bytes, out->size);
    return PX_OK;
}

/* One step of eps; or all steps of PGD, from the input itself, as CSM E.2 restates it. The paper's
 * text speaks of a random start, and what the package's calls ask for is not known to us. */
static px_status generate_attack(const rv_bench *b, const px_model *model, int set,
                                 const rv_pictures *from, rv_pictures *out, px_error *err)
{
    const rv_subject *s = &rv_subjects[b->subject];
    const px_attack_job job = {.model = model, .set = from->set, .pre = &from->pre};
    px_attack *attack = NULL;
    px_attack_options o = px_attack_options_default();
    o.method = rv_set_ids[set];
    o.norm = PX_NORM_LINF;
    o.eps = s->eps;
    o.stop_early = set != RV_PGD;
    if (set == RV_PGD) {
        o.step_size = s->step;
        o.steps = s->steps;
        o.no_random = true;
    }
    o.seed = b->study->options.seed + (uint64_t)b->run;
    o.threads = b->study->options.threads;
    o.emit = attack_keep;
    o.emit_context = out;
    o.progress = b->study->options.progress;
    o.progress_context = b->study->options.context;
    PX_TRY(pictures_init(out, from->set, from->count, &from->pre, err));
    const px_status status = px_attack_run(&job, &o, &attack, err);
    px_attack_free(attack);
    return status;
}

px_status rv_generate(const rv_bench *b, const px_model *model, int set, const rv_pictures *from,
                      rv_pictures *out, px_error *err)
{
    const px_status status = set == RV_FGSM || set == RV_PGD
                                 ? generate_attack(b, model, set, from, out, err)
                                 : rv_mutants(b, set, from, from->count, out, err);
    if (status != PX_OK)
        rv_pictures_done(out);
    return status;
}

px_status rv_error_rate(const rv_bench *b, const px_model *model, const rv_pictures *pictures,
                        double *out, px_error *err)
{
    px_eval_sum got;
    PX_TRY(pxi_study_eval(b->study, model, pictures->set, &pictures->pre, &got, err));
    *out = (double)(got.count - got.correct) / (double)got.count;
    return PX_OK;
}
