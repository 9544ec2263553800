/* examples/examine.c - which inputs a person should look at, and how many survive a small change
 *
 *     cc $(pkg-config --cflags plexor) examine.c $(pkg-config --libs plexor) -o examine
 *     ./examine net.onnx fashion-mnist
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/plexor.h>
#include <stdio.h>

enum { INPUTS = 200, LOOK_AT = 5 };

static px_status examine_select(const px_task *task, px_select **select, px_error *err)
{
    px_select_options options = px_select_options_default();
    int64_t count = 0;
    options.selectors = "gini";
    options.keep = LOOK_AT;
    PX_TRY(px_select_new(task->model, task->set, &task->pre, &options, select, err));
    PX_TRY(px_select_run(*select, NULL, NULL, err));
    const px_ranked *best = px_select_ranked(*select, 0, &count);
    for (int64_t i = 0; i < count; i++)
        printf("look at input %d: class %d with confidence %.2f\n", (int)best[i].index,
               best[i].predicted, (double)best[i].confidence);
    return PX_OK;
}

static px_status examine_attack(const px_task *task, px_attack **attack, px_error *err)
{
    const px_attack_options options = px_attack_options_default(); /* PGD, 8 levels of 255 */
    static px_attack_job job;
    px_attack_summary sum;
    job.model = task->model, job.set = task->set, job.pre = &task->pre;
    PX_TRY(px_attack_run(&job, &options, attack, err));
    PX_TRY(px_attack_sum(*attack, &sum, err));
    printf("attacked: %d of %d right ones turned wrong\n", (int)sum.stored.reached, (int)sum.right);
    return PX_OK;
}

int main(int argc, char **argv)
{
    px_error err = {PX_OK, "usage: examine MODEL.onnx DATA"};
    px_model *model = NULL;
    px_select *select = NULL;
    px_attack *attack = NULL;
    px_task_options options = px_task_options_default();
    static px_task task; /* empty */
    options.data.limit = INPUTS;
    const bool good = argc == 3 && px_model_load(argv[1], &model, &err) == PX_OK &&
                      px_task_open(model, argv[2], &options, &task, &err) == PX_OK &&
                      examine_select(&task, &select, &err) == PX_OK &&
                      examine_attack(&task, &attack, &err) == PX_OK;
    if (!good)
        fprintf(stderr, "%s\n", err.message);
    px_attack_free(attack);
    px_select_free(select);
    px_task_close(&task);
    px_model_free(model);
    return good ? 0 : err.status <= PX_E_MISMATCH ? 2 : 3;
}
