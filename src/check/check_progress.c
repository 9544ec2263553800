/* src/check/check_progress.c - how far an examination is, and how long it will take
 *
 * A few inputs are timed before the first stage. What stages cost in such runs is from measurements
 * of LeNet-5, ResNet-20 and MobileNetV2; those that ran correct the rest.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <internal/ranks.h>
#include <math.h>
#include <plexor/predict.h>
#include <plexor/probe.h>
#include <plexor/system.h>

enum { PILOT_INPUTS = 48 };

/* Products that covariances (nlc) take in a second on a thread, about. */
static const double covariance_rate = 4e8;

double pxi_check_covariances(px_check *c)
{
    if (c->covariances > 0.0)
        return c->covariances;
    px_probe *probe = NULL;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    double products = 0.0;
    options.feeds = &feed;
    options.feed_count = 1;
    if (px_probe_new(c->model, &options, &probe, NULL) != PX_OK)
        return 0.0;
    for (size_t i = 0; i < px_probe_layer_count(probe); i++) {
        const double neurons = (double)px_probe_layer(probe, i)->neuron_count;
        products += neurons * neurons;
    }
    px_probe_free(probe);
    c->covariances = products;
    return products;
}

bool pxi_check_tick_before(void *check, int64_t done, int64_t total)
{
    (void)done;
    (void)total;
    return pxi_check_tell(check, 0, 0);
}

px_status pxi_check_pilot(px_check *c, px_error *err)
{
    int64_t indices[PILOT_INPUTS];
    const int64_t count = PX_MIN(c->count, (int64_t)PILOT_INPUTS);
    px_predictions said = {0};
    px_predict_options options = px_predict_options_default();
    if (c->pass_s > 0.0 || !c->o.progress)
        return PX_OK;
    for (int64_t i = 0; i < count; i++)
        indices[i] = i * c->count / count;
    options.indices = indices;
    options.index_count = count;
    options.any_labels = true;
    options.threads = c->o.threads;
    options.batch = c->o.batch;
    options.progress = pxi_check_tick_before;
    options.context = c;
    const double start = px_clock_s();
    const px_status status = px_predict(c->model, c->set, &c->pre, &options, &said, err);
    px_predictions_done(&said);
    if (status == PX_E_CANCELLED)
        return status;
    if (status == PX_OK) /* else the stage says what is wrong */
        c->pass_s = (px_clock_s() - start) / (double)count * (double)c->count;
    c->covariance_s =
        pxi_check_covariances(c) * (double)c->count / covariance_rate / pxi_check_threads(c);
    return PX_OK;
}

/* Seconds by what was timed: runs over the data, over a thousand inputs, over as many as the time
 * for failures is for, if it lasts. */
static double stage_seconds(const px_check *c, int stage)
{
    const pxi_stage *s = pxi_stages[stage];
    const double input_s = c->pass_s / (double)PX_MAX(c->count, 1);
    return s->passes * c->pass_s +
           s->thousands * (double)PX_MIN(c->count, (int64_t)1000) * input_s +
           s->covariances * c->covariance_s +
           fmin(s->share * 60.0, s->tries * input_s) * c->o.minutes;
}

/* How much longer stages took than was said, by those that ran. */
static double estimate_factor(const px_check *c)
{
    double took = 0.0, said = 0.0;
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        if (c->state[i] == PX_CHECK_DONE && pxi_stages[i]->share <= 0.0) {
            took += c->seconds[i];
            said += stage_seconds(c, i);
        }
    return said > 0.0 ? took / said : 1.0;
}

/* The time for failures ends them, however slow the machine is. */
static double stage_estimate(const px_check *c, int stage, double factor)
{
    const double seconds = factor * stage_seconds(c, stage), share = pxi_stages[stage]->share;
    return share > 0.0 ? fmin(seconds, share * c->o.minutes * 60.0) : seconds;
}

/* A stage that goes over the data again counts from 0 again; what it shows does not. */
static double stage_share(px_check *c, int64_t done, int64_t total)
{
    const int laps = c->at_stage >= 0 && c->at_stage < PXI_STAGE_COUNT
                         ? PX_MAX(pxi_stages[c->at_stage]->laps, 1)
                         : 1;
    if (done < c->stage_done && c->stage_lap + 1 < laps)
        c->stage_lap++;
    c->stage_done = done;
    const double lap = total > 0 ? (double)done / (double)total : 0.0;
    c->stage_share = PX_MAX(c->stage_share, (c->stage_lap + lap) / laps);
    return c->stage_share;
}

bool pxi_check_tell(px_check *c, int64_t done, int64_t total)
{
    if (!c->o.progress)
        return true;
    const double now = px_clock_s(), share = stage_share(c, done, total);
    const double factor = estimate_factor(c);
    double before = 0.0, left = 0.0;
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        if (!c->wanted[i] || c->state[i] == PX_CHECK_KEPT || c->state[i] == PX_CHECK_LEFT_OUT)
            continue;
        const double all = stage_estimate(c, i, factor);
        if (i < c->at_stage)
            before += all;
        else if (i > c->at_stage)
            left += all;
        else {
            const double past = now - c->stage_started;
            before += all * share;
            left += share > 0.02 ? past / share - past : all;
        }
    }
    const px_check_progress p = {
        .stage = c->at,
        .title = c->at_title,
        .index = c->at_index,
        .count = c->at_count,
        .done = done,
        .total = total,
        .stage_share = share,
        .share = before + left > 0.0 ? before / (before + left) : 0.0,
        .seconds = now - c->started,
        .seconds_left = c->pass_s > 0.0 ? left : (double)NAN,
    };
    return c->o.progress(c->o.context, &p);
}

px_status pxi_check_ask(px_check *c, int64_t done, int64_t total, double deadline, bool *late,
                        const char *before, px_error *err)
{
    enum { GO_ON = 1, LATE = 2 };
    uint64_t says = pxi_check_tell(c, done, total) ? GO_ON : 0;
    if (px_clock_s() > deadline)
        says |= LATE;
    PX_TRY(pxi_ranks_first("a step of the examination", PX_OK, 0, &says, err));
    if (late)
        *late = (says & LATE) != 0;
    return says & GO_ON ? PX_OK : px_fail(err, PX_E_CANCELLED, "stopped %s", before);
}

bool pxi_check_tick(void *check, int64_t done, int64_t total)
{
    px_check *c = check;
    if (c->at_stage == PXI_STAGE_eval && done > 0)
        c->pass_s = (px_clock_s() - c->stage_started) / (double)done * (double)total;
    return pxi_check_tell(c, done, total);
}
