/* examples/examine.c - what plexor can say about a classifier, from a C program
 *
 *     cc $(pkg-config --cflags plexor) examine.c $(pkg-config --libs plexor) -o examine
 *     ./examine net.onnx fashion-mnist
 *
 * Prints how many inputs the network gets right, how many of its neurons they excite, which of them
 * are most worth a second look, and how few survive a small change. docs/api.md goes through it.
 */
#include <inttypes.h>
#include <plexor/plexor.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 1000, LOOK_AT = 5, ATTACKED = 50 };

typedef struct examination { /* everything here belongs to it */
    px_model *model;
    px_dataset *set;
    px_preprocess pre; /* from pixels to what the network wants */
    px_shape shape;    /* of one input, with a batch axis */
} examination;

/* The network's metadata say how pixels are prepared; what they leave open, the data decide. */
static px_status examination_open(const char *model, const char *data, examination *e,
                                  px_error *err)
{
    PX_TRY(px_model_load(model, &e->model, err));
    const px_graph *graph = px_model_graph(e->model);
    const px_shape *input = &graph->values[graph->inputs[0]].shape;
    PX_TRY(px_preprocess_init(&e->pre, px_model_properties(e->model),
                              px_model_property_count(e->model), input, NULL, err));
    px_data_options options = px_data_options_default();
    options.limit = INPUTS;
    PX_TRY(px_dataset_open_for(&e->pre, input, data, &options, &e->set, err));
    const px_shape sample = px_dataset_shape(e->set);
    e->shape.rank = sample.rank + 1;
    e->shape.dim[0] = 1;
    for (int d = 0; d < sample.rank; d++)
        e->shape.dim[d + 1] = sample.dim[d];
    return PX_OK;
}

/* NC and TKNC need no training data, so there is no profile. */
static px_status examination_cover(const examination *e, px_error *err)
{
    px_cover_options options = px_cover_options_default();
    options.criteria = "nc,tknc";
    px_cover *cover = NULL;
    px_cover_tally tally = {0};
    PX_TRY(px_cover_new(e->model, &e->shape, &options, &cover, err));
    const px_cover_run_options run = px_cover_run_options_default();
    const px_status status = px_cover_run(cover, e->set, &e->pre, &run, &tally, err);
    if (status == PX_OK) {
        printf("right: %" PRId64 " of %" PRId64 " inputs\n", tally.labelled - tally.wrong,
               tally.labelled);
        for (size_t i = 0; i < px_cover_count(cover); i++) {
            const px_coverage now = px_cover_value(cover, i);
            printf("%s: %.1f%% (%" PRId64 " of %" PRId64 " %s)\n", px_cover_criterion(cover, i)->entry.id,
                   100.0 * now.value, now.covered, now.total, px_cover_criterion(cover, i)->unit);
        }
    }
    px_cover_free(cover);
    return status;
}

static px_status examination_select(const examination *e, px_error *err)
{
    px_select_options options = px_select_options_default();
    options.selectors = "gini";
    options.keep = LOOK_AT;
    px_select *select = NULL;
    PX_TRY(px_select_new(e->model, e->set, &e->pre, &options, &select, err));
    const px_status status = px_select_run(select, NULL, NULL, err);
    if (status == PX_OK) {
        int64_t count = 0;
        const px_ranked *best = px_select_ranked(select, 0, &count);
        for (int64_t i = 0; i < count; i++)
            printf("look at input %" PRId64 ": class %d with confidence %.2f\n", best[i].index,
                   best[i].predicted, (double)best[i].confidence);
    }
    px_select_free(select);
    return status;
}

static px_status examination_attack(const examination *e, px_error *err)
{
    int64_t inputs[ATTACKED];
    for (int64_t i = 0; i < ATTACKED; i++)
        inputs[i] = i;
    const int64_t available = px_dataset_count(e->set);
    const px_attack_job job = {.model = e->model,
                               .set = e->set,
                               .pre = &e->pre,
                               .inputs = inputs,
                               .count = available < ATTACKED ? available : ATTACKED};
    const px_attack_options options = px_attack_options_default(); /* PGD, 8 levels of 255 */
    px_attack *attack = NULL;
    px_attack_summary sum = {0};
    PX_TRY(px_attack_run(&job, &options, &attack, err));
    const px_status status = px_attack_sum(attack, &sum, err);
    if (status == PX_OK)
        printf("attacked: %" PRId64 " of %" PRId64 " right ones turned wrong\n", sum.stored.reached,
               sum.right);
    px_attack_free(attack);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: examine MODEL.onnx DATA\n");
        return 2;
    }
    px_error err = {0};
    examination e = {0};
    px_status status = examination_open(argv[1], argv[2], &e, &err);
    if (status == PX_OK)
        status = examination_cover(&e, &err);
    if (status == PX_OK)
        status = examination_select(&e, &err);
    if (status == PX_OK)
        status = examination_attack(&e, &err);
    if (status != PX_OK)
        fprintf(stderr, "examine: %s\n", err.message);
    px_dataset_close(e.set);
    px_model_free(e.model);
    return status == PX_OK ? 0 : status <= PX_E_MISMATCH ? 2 : 3;
}
