/* studies/revisit/revisit_rq3.c - RQ3: how often each generator makes the original network fail
 *
 * As the paper's text has it: one test case per held-out input and generator; the share that the
 * network gets wrong, beside that of the inputs themselves.
 *
 * As its package makes them (fuzzing_testset.py): the mutant of *training* input i takes the place
 * of *test* input i where it covers more than that one, each alone (NC of values scaled per layer
 * and input, above 0.75, before and after activations); the other test inputs stay; all are judged
 * by the label of the test input. What is put in has that label by chance only: of ten classes,
 * about one in ten times. The same pictures by their own labels stand beside it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include "base/memory.h"

#include <plexor/system.h>
#include <stdlib.h>
#include <string.h>

const char *const rv_rq3_keys[RV_CASES] = {"rq3", "rq3 package"};

static px_status rates_put(const rv_bench *b, cell_list *list, px_error *err)
{
    for (int set = RV_BENIGN; set < RV_SETS; set++) {
        rv_pictures cases = {.set = NULL};
        double rate = 0.0;
        px_status status = PX_OK;
        if (set != RV_BENIGN)
            status = rv_generate(b, b->model, set, &b->test, &cases, err);
        if (status == PX_OK)
            status = rv_error_rate(b, b->model, set == RV_BENIGN ? &b->test : &cases, &rate, err);
        rv_pictures_done(&cases);
        PX_TRY(status);
        pxi_cell_put(list, rate, "mr_%s", rv_set_ids[set]);
    }
    return PX_OK;
}

/* --- as the package makes them ---------------------------------------------------------------- */

enum { RV_PARTS = 2 }; /* of the package's neurons: before activations, and after */

/* Puts mutants of training inputs into the places of the test inputs that cover less; *put says
 * how many. Labels stay. */
static px_status exchange(const rv_bench *b, px_cover *const covers[RV_PARTS],
                          const rv_pictures *mutants, rv_pictures *cases, int64_t *lead,
                          int64_t *put, px_error *err)
{
    for (int p = 0; p < RV_PARTS; p++)
        PX_TRY(rv_covers_more(b, covers[p], mutants, &b->test, mutants->count, lead, err));
    *put = 0;
    for (int64_t i = 0; i < mutants->count; i++) {
        if (lead[i] <= 0)
            continue;
        memcpy(cases->bytes + (size_t)i * cases->size, mutants->bytes + (size_t)i * mutants->size,
               cases->size);
        ++*put;
    }
    return PX_OK;
}

static px_status package_put(const rv_bench *b, px_cover *const covers[RV_PARTS], int set,
                             cell_list *list, px_error *err)
{
    rv_pictures mutants = {.set = NULL}, cases = {.set = NULL};
    int64_t *lead = NULL;
    double rate = 0.0, own = 0.0;
    int64_t put = 0;
    px_status status = rv_mutants(b, set, &b->inputs, b->test.count, &mutants, err);
    if (status == PX_OK)
        status = rv_pictures_copy(&b->test, &cases, err);
    if (status == PX_OK)
        status = PX_NEW(lead, mutants.count, err);
    if (status == PX_OK)
        status = exchange(b, covers, &mutants, &cases, lead, &put, err);
    if (status == PX_OK)
        status = rv_error_rate(b, b->model, &cases, &rate, err);
    for (int64_t i = 0; status == PX_OK && i < mutants.count; i++)
        if (lead[i] > 0)
            cases.labels[i] = mutants.labels[i];
    if (status == PX_OK)
        status = rv_error_rate(b, b->model, &cases, &own, err);
    if (status == PX_OK) {
        pxi_cell_put(list, rate, "mr_%s", rv_set_ids[set]);
        pxi_cell_put(list, own, "own_%s", rv_set_ids[set]);
        pxi_cell_put(list, (double)put / (double)cases.count, "put_%s", rv_set_ids[set]);
    }
    free(lead);
    rv_pictures_done(&mutants);
    rv_pictures_done(&cases);
    return status;
}

static px_status package_rates_put(const rv_bench *b, cell_list *list, px_error *err)
{
    px_cover *covers[RV_PARTS] = {NULL};
    px_status status = rv_cover_new(b, b->model, RV_SCALED_IN, &covers[0], err);
    if (status == PX_OK)
        status = rv_cover_new(b, b->model, RV_SCALED, &covers[1], err);
    for (int set = RV_DHD; set <= RV_DH && status == PX_OK; set++)
        status = package_put(b, covers, set, list, err);
    for (int p = 0; p < RV_PARTS; p++)
        px_cover_free(covers[p]);
    return status;
}

px_status rv_run_rq3(px_study *study, const study_job *job, px_error *err)
{
    const double start = px_clock_s();
    rv_bench b = {.study = study};
    cell_list list = {.count = 0};
    char key[CELL_KEY];
    px_status status = rv_bench_open(study, job, &b, err);
    if (status == PX_OK)
        status = (job->a == RV_OF_PACKAGE ? package_rates_put : rates_put)(&b, &list, err);
    if (status == PX_OK) {
        pxi_cell_put(&list, (double)b.test.count, "cases");
        rv_key(study, job->subject, job->run, key, "%s", rv_rq3_keys[job->a]);
        status = pxi_study_put(study, key, px_clock_s() - start, &list, err);
    }
    rv_bench_close(&b);
    return status;
}
