/* studies/revisit/revisit_rounds.c - arms of Algorithm 1 between rounds, kept on disk */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit_rounds.h"

#include "base/memory.h"

#include <inttypes.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void rv_round_done(rv_round *r)
{
    px_model_free(r->model);
    free(r->items);
    *r = (rv_round){.model = NULL};
}

bool rv_round_same(const rv_round *a, const rv_round *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, (size_t)a->count * sizeof *a->items) == 0);
}

static char *round_path(const rv_bench *b, rv_rule rule, rv_arm arm, int k, const char *end,
                        px_error *err)
{
    const rv_subject *s = &rv_subjects[b->subject];
    px_text path = {0};
    px_text_format(&path, "%s/models/%s_%s_1_rq2_%s_%s_run%" PRId64 "_n%" PRId64 "_%d.%s",
                   b->study->folder, s->dataset, s->arch, rv_rule_ids[rule], rv_arm_ids[arm],
                   b->run, rv_count(b->study), k, end);
    char *taken = px_text_take(&path);
    if (!taken)
        pxi_no_memory(err);
    return taken;
}

static bool round_is_there(const rv_bench *b, rv_rule rule, int k)
{
    bool there = true;
    for (size_t arm = 0; arm < RV_ARMS && there; arm++) {
        char *path = round_path(b, rule, (rv_arm)arm, k, "onnx", NULL);
        there = path && access(path, R_OK) == 0;
        free(path);
    }
    return there;
}

int rv_rounds_last(const rv_bench *b, rv_rule rule)
{
    int k = RV_STEPS;
    while (k > 0 && !round_is_there(b, rule, k))
        k--;
    return k;
}

/* The list first: where there is a network, its list is there. It is never empty: its length comes
 * first. */
px_status rv_round_save(const rv_bench *b, rv_rule rule, rv_arm arm, int k, const rv_round *r,
                        px_error *err)
{
    char *list = round_path(b, rule, arm, k, "npy", err);
    char *network = list ? round_path(b, rule, arm, k, "onnx", err) : NULL;
    px_tensor tensor = {0};
    const px_shape shape = {.rank = 1, .dim = {r->count + 1}};
    px_status status =
        network ? px_tensor_init(&tensor, PX_INT64, &shape, err) : (px_status)PX_E_NOMEM;
    if (status == PX_OK)
        status = pxi_study_own(b->study, list, err);
    if (status == PX_OK)
        status = pxi_study_own(b->study, network, err);
    if (status == PX_OK) {
        int64_t *values = tensor.data;
        values[0] = r->count;
        if (r->count > 0)
            memcpy(values + 1, r->items, (size_t)r->count * sizeof *values);
        status = px_npy_save(list, &tensor, err);
    }
    if (status == PX_OK)
        status = px_model_save(r->model, network, err);
    px_tensor_done(&tensor);
    free(list);
    free(network);
    return status;
}

/* A list of candidates, none twice. */
static bool list_is_sound(const px_tensor *tensor, int64_t candidates)
{
    const int64_t *values = tensor->data;
    if (tensor->dtype != PX_INT64 || tensor->shape.rank != 1 || tensor->shape.dim[0] < 1 ||
        values[0] != tensor->shape.dim[0] - 1 || values[0] > candidates)
        return false;
    for (int64_t i = 1; i <= values[0]; i++)
        if (values[i] < 0 || values[i] >= candidates || (i > 1 && values[i] <= values[i - 1]))
            return false;
    return true;
}

px_status rv_round_load(const rv_bench *b, rv_rule rule, rv_arm arm, int k, rv_round *r,
                        px_error *err)
{
    char *list = round_path(b, rule, arm, k, "npy", err);
    char *network = list ? round_path(b, rule, arm, k, "onnx", err) : NULL;
    px_tensor tensor = {0};
    px_status status = network ? px_npy_load(list, &tensor, err) : (px_status)PX_E_NOMEM;
    if (status == PX_OK && !list_is_sound(&tensor, b->inputs.count))
        status = px_fail(err, PX_E_INPUT,
                         "'%s' is no list of %" PRId64 " candidates; remove it and '%s'", list,
                         b->inputs.count, network);
    if (status == PX_OK)
        status = px_model_load(network, &r->model, err);
    if (status == PX_OK) {
        const int64_t *values = tensor.data;
        r->count = values[0];
        if (r->count > 0)
            memcpy(r->items, values + 1, (size_t)r->count * sizeof *values);
    }
    px_tensor_done(&tensor);
    free(list);
    free(network);
    return status;
}

void rv_rounds_remove(const rv_bench *b, rv_rule rule, int k)
{
    static const char *const ends[] = {"onnx", "npy"};
    for (size_t arm = 0; arm < RV_ARMS; arm++)
        for (size_t e = 0; e < PX_LEN(ends); e++) {
            char *path = round_path(b, rule, (rv_arm)arm, k, ends[e], NULL);
            if (path)
                unlink(path);
            free(path);
        }
}
