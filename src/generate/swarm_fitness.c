/* src/generate/swarm_fitness.c - excitable neurons of many places at once */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/swarm_fitness.h"

#include "base/memory.h"
#include "generate/swarm_corner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t EXCITE_BYTES = (size_t)64 << 20; /* that a chunk of rows may take */
enum { EXCITE_LEAST = 16, EXCITE_MOST = 4096 };

struct pxi_excite {
    px_fuzz *fuzz;
    pxi_excite_rule rule;
    px_shapley *shapley;
    pxi_corner *corner; /* NULL: not the code's objective */
    size_t size, neurons;
    int64_t chunk;             /* rows that are looked at together */
    float *inputs;             /* [chunk][size] */
    double *values;            /* [chunk][neurons] */
    int64_t *labels, *answers; /* [chunk] */
    double *corners, *losses;  /* [chunk] */
    float *starts;             /* inputs of the seeds, */
    double *befores;           /* and what belongs to them alone: [seeds][neurons] values, */
    double *loss_befores;      /* or [seeds] losses */
    size_t seed_room;          /* seeds that there is room for */
};

int64_t pxi_excite_neurons(const pxi_excite *excite)
{
    return (int64_t)excite->neurons;
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status excite_init(pxi_excite *e, px_error *err)
{
    px_fuzz *fuzz = e->fuzz;
    px_shapley_options options = px_shapley_options_default();
    options.threads = pxi_pass_lanes(fuzz->pass);
    if (e->rule.objective == PXI_OBJECTIVE_SHAPLEY)
        PX_TRY(px_shapley_check_lambda(e->rule.norm, e->rule.lambda, err));
    PX_TRY(px_shapley_new(fuzz->models[0], &fuzz->feed_shape, &options, &e->shapley, err));
    e->neurons = (size_t)px_shapley_neuron_count(e->shapley);
    e->size = (size_t)px_shapley_input_size(e->shapley);
    if (e->size != fuzz->size)
        return px_fail(err, PX_E_MISMATCH, "the network takes %zu numbers, and the data have %zu",
                       e->size, fuzz->size);
    if (e->rule.objective == PXI_OBJECTIVE_CODE)
        PX_TRY(pxi_corner_open(fuzz, px_shapley_probe(e->shapley), &e->corner, err));
    const size_t row = e->size * sizeof *e->inputs + e->neurons * sizeof *e->values;
    e->chunk =
        PX_MIN(PX_MAX((int64_t)(EXCITE_BYTES / row), (int64_t)EXCITE_LEAST), (int64_t)EXCITE_MOST);
    const size_t chunk = (size_t)e->chunk;
    e->inputs = pxi_calloc(chunk, e->size * sizeof *e->inputs);
    e->values = pxi_calloc(chunk, e->neurons * sizeof *e->values);
    e->labels = pxi_calloc(chunk, sizeof *e->labels);
    e->answers = pxi_calloc(chunk, sizeof *e->answers);
    e->corners = pxi_calloc(chunk, sizeof *e->corners);
    e->losses = pxi_calloc(chunk, sizeof *e->losses);
    return e->inputs && e->values && e->labels && e->answers && e->corners && e->losses
               ? PX_OK
               : pxi_no_memory_for(err, "%zu neurons", e->neurons);
}

px_status pxi_excite_open(px_fuzz *fuzz, const pxi_excite_rule *rule, pxi_excite **out,
                          px_error *err)
{
    pxi_excite *e = NULL;
    PX_TRY(PX_NEW(e, 1, err));
    e->fuzz = fuzz;
    e->rule = *rule;
    const px_status status = excite_init(e, err);
    return PX_GIVE(status, e, out, pxi_excite_close);
}

void pxi_excite_close(pxi_excite *e)
{
    if (!e)
        return;
    px_shapley_free(e->shapley);
    pxi_corner_close(e->corner);
    free(e->inputs);
    free(e->values);
    free(e->labels);
    free(e->answers);
    free(e->corners);
    free(e->losses);
    free(e->starts);
    free(e->befores);
    free(e->loss_befores);
    free(e);
}

/* --- rows as the network takes them ---------------------------------------------------------- */

typedef struct load_run {
    pxi_excite *e;
    const pxi_excite_row *rows;
    float *inputs;
} load_run;

static px_status load_row(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    (void)lane;
    const load_run *run = context;
    const px_fuzz *fuzz = run->e->fuzz;
    float *input = run->inputs + (size_t)index * run->e->size;
    memcpy(input, run->rows[index].levels, run->e->size * sizeof *input);
    return px_preprocess_apply(&fuzz->pre, &fuzz->shape, input, err);
}

static px_status excite_load(pxi_excite *e, const pxi_excite_row *rows, int64_t count,
                             float *inputs, px_error *err)
{
    load_run run = {e, rows, inputs};
    return pxi_pass_each(e->fuzz->pass, count, NULL, load_row, &run, err);
}

px_status pxi_excite_learn(pxi_excite *e, px_error *err)
{
    const px_fuzz *fuzz = e->fuzz;
    for (size_t i = 0; e->corner && i < fuzz->seed_count; i++) {
        const size_t at = i % (size_t)e->chunk;
        PX_TRY(pxi_fuzz_input(fuzz, fuzz->seeds[i].pixels, e->inputs + at * e->size, err));
        if (at + 1 == (size_t)e->chunk || i + 1 == fuzz->seed_count)
            PX_TRY(pxi_corner_learn(e->corner, e->inputs, (int64_t)at + 1, err));
    }
    return PX_OK;
}

px_status pxi_excite_seeds(pxi_excite *e, const pxi_excite_row *seeds, size_t count, px_error *err)
{
    if (count > e->seed_room) {
        free(e->starts);
        free(e->befores);
        free(e->loss_befores);
        e->seed_room = 0;
        e->starts = pxi_calloc(count, e->size * sizeof *e->starts);
        e->befores = pxi_calloc(count, e->neurons * sizeof *e->befores);
        e->loss_befores = pxi_calloc(count, sizeof *e->loss_befores);
        if (!e->starts || !e->befores || !e->loss_befores)
            return pxi_no_memory_for(err, "%zu seeds", count);
        e->seed_room = count;
    }
    PX_TRY(excite_load(e, seeds, (int64_t)count, e->starts, err));
    for (size_t first = 0; first < count; first += (size_t)e->chunk) {
        const size_t part = PX_MIN(count - first, (size_t)e->chunk);
        const float *starts = e->starts + first * e->size;
        for (size_t i = 0; i < part; i++)
            e->labels[i] = seeds[first + i].label;
        if (e->rule.objective == PXI_OBJECTIVE_SHAPLEY)
            PX_TRY(px_shapley_integrate(e->shapley, &e->rule.diagonal, starts, e->labels,
                                        (int64_t)part, e->befores + first * e->neurons, err));
        if (e->rule.objective == PXI_OBJECTIVE_LOSS)
            PX_TRY(px_shapley_judge(e->shapley, starts, e->labels, (int64_t)part, NULL,
                                    e->loss_befores + first, err));
    }
    return PX_OK;
}

/* --- measuring ------------------------------------------------------------------------------- */

typedef struct measure_run {
    pxi_excite *e;
    const pxi_excite_row *rows;
    pxi_excited *out;
} measure_run;

/* Of one row, whose values are there. */
static px_status measure_row(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    (void)lane, (void)err;
    const measure_run *run = context;
    const pxi_excite *e = run->e;
    const pxi_excite_row *row = &run->rows[index];
    double *values = e->values + (size_t)index * e->neurons;
    const double *before = e->befores + row->seed * e->neurons;
    pxi_excited out = {.neurons = -1, .answer = e->answers[index]};
    switch (e->rule.objective) {
    case PXI_OBJECTIVE_SHAPLEY:
        for (size_t n = 0; n < e->neurons; n++)
            values[n] -= before[n];
        out.fitness = px_shapley_fitness(e->shapley, e->rule.norm, e->rule.lambda, values);
        out.neurons = llround(out.fitness * (double)e->neurons);
        break;
    case PXI_OBJECTIVE_CODE:
        out.fitness = px_shapley_fitness(e->shapley, PX_SHAPLEY_RAW, e->rule.sense, values);
        out.neurons = llround(out.fitness * (double)e->neurons);
        out.fitness += e->corners[index];
        break;
    case PXI_OBJECTIVE_LOSS:
        out.fitness = e->losses[index] - e->loss_befores[row->seed];
        if (!isfinite(out.fitness)) /* nothing can be said */
            out.fitness = 0.0;
        break;
    case PXI_OBJECTIVE_CHANCE:
        out.fitness = row->chance;
        break;
    }
    run->out[index] = out;
    return PX_OK;
}

/* The code's two shares: differences are from one seed to its rows. */
static px_status measure_code(pxi_excite *e, const pxi_excite_row *rows, int64_t count,
                              px_error *err)
{
    for (int64_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && rows[next].seed == rows[first].seed;)
            next++;
        PX_TRY(px_shapley_differences(e->shapley, e->starts + rows[first].seed * e->size,
                                      e->inputs + (size_t)first * e->size, next - first,
                                      e->values + (size_t)first * e->neurons, err));
    }
    return pxi_corner_measure(e->corner, e->inputs, count, e->corners, err);
}

static px_status measure_chunk(pxi_excite *e, const pxi_excite_row *rows, int64_t count,
                               pxi_excited *out, px_error *err)
{
    measure_run run = {e, rows, out};
    PX_TRY(excite_load(e, rows, count, e->inputs, err));
    for (int64_t i = 0; i < count; i++)
        e->labels[i] = rows[i].label;
    if (e->rule.objective == PXI_OBJECTIVE_CODE)
        PX_TRY(measure_code(e, rows, count, err));
    if (e->rule.objective == PXI_OBJECTIVE_SHAPLEY)
        PX_TRY(px_shapley_integrate(e->shapley, &e->rule.diagonal, e->inputs, e->labels, count,
                                    e->values, err));
    PX_TRY(px_shapley_judge(e->shapley, e->inputs, e->labels, count, e->answers, e->losses, err));
    return pxi_pass_each(e->fuzz->pass, count, NULL, measure_row, &run, err);
}

px_status pxi_excite_measure(pxi_excite *e, const pxi_excite_row *rows, int64_t count,
                             pxi_excited *out, px_error *err)
{
    for (int64_t first = 0; first < count; first += e->chunk)
        PX_TRY(measure_chunk(e, rows + first, PX_MIN(e->chunk, count - first), out + first, err));
    return PX_OK;
}
