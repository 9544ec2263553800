/* tests/generate/minimize_helpers.c - a campaign with real faults, made without a fuzzer */
/* SPDX-License-Identifier: Apache-2.0 */
#include "minimize_helpers.h"

#include <internal/mutate.h>
#include <internal/rng.h>
#include <internal/store.h>
#include <plexor/onnx.h>
#include <stdlib.h>
#include <string.h>

static void check(px_status status, const px_error *err)
{
    if (status != PX_OK)
        fail_msg("%s", err->message);
}

static const px_shape *judge_shape(const judge *j)
{
    const px_graph *graph = px_model_graph(j->model);
    return &graph->values[graph->inputs[0]].shape;
}

judge judge_open(void)
{
    judge j = {0};
    px_error err = {0};
    check(px_model_load(DIGITS, &j.model, &err), &err);
    check(px_preprocess_init(&j.pre, px_model_properties(j.model), px_model_property_count(j.model),
                             judge_shape(&j), NULL, &err),
          &err);
    check(px_model_scores(j.model, &j.scores, &err), &err);
    px_plan_options options = px_plan_options_default();
    options.batch = 1;
    options.keep = &j.scores.value;
    options.keep_count = 1;
    check(px_plan_new(j.model, &options, &j.plan, &err), &err);
    check(px_session_new(j.plan, &j.session, &err), &err);
    px_dataset_close(campaign_set(&j, "digits", NULL)); /* completes the preprocessing */
    return j;
}

void judge_close(judge *j)
{
    px_session_free(j->session);
    px_plan_free(j->plan);
    px_model_free(j->model);
    *j = (judge){0};
}

int64_t judge_answer(const judge *j, const uint8_t *pixels)
{
    const px_shape shape = {3, {1, DIGIT_SIDE, DIGIT_SIDE}};
    float *input = px_session_input(j->session, 0);
    px_error err = {0};
    int64_t answer = -1;
    for (int i = 0; i < DIGIT_SIZE; i++)
        input[i] = (float)pixels[i];
    check(px_preprocess_apply(&j->pre, &shape, input, &err), &err);
    check(px_session_forward(j->session, &err), &err);
    check(px_session_judge(j->session, &j->scores, NULL, 1, &answer, NULL, &err), &err);
    return answer;
}

px_dataset *campaign_set(judge *j, const char *spec, const char *split)
{
    px_data_options options = px_data_options_default();
    px_dataset *set = NULL;
    px_error err = {0};
    options.split = split;
    check(px_dataset_open_for(&j->pre, judge_shape(j), spec, &options, &set, &err), &err);
    return set;
}

static int64_t put_mutant(const judge *j, px_campaign *campaign, int64_t root, int64_t label,
                          const uint8_t *seed, int number)
{
    px_mutations from;
    px_drawn links[4];
    uint8_t now[DIGIT_SIZE], next[DIGIT_SIZE];
    px_error err = {0};
    px_random random = px_rng(3, PX_RNG_MUTATE, (uint32_t)root, PX_MUTATE_FREE + (uint32_t)number);
    const size_t count = 1 + px_rng_u32(&random) % 4;
    check(px_mutations_parse("deephunter", &from, &err), &err);
    memcpy(now, seed, sizeof now);
    for (size_t i = 0; i < count; i++) {
        links[i] = px_mutation_draw(&from, &random);
        check(px_mutation_apply_near(&links[i], seed, now, next, DIGIT_SIDE, DIGIT_SIDE, 1, &err),
              &err);
        memcpy(now, next, sizeof now);
    }
    const int64_t answer = judge_answer(j, now);
    if (answer == label && number % 3)
        return 0;
    char *chain = px_chain_text(links, count);
    assert_non_null(chain);
    const px_campaign_input in = {.kind = answer == label ? PX_INPUT_KEPT : PX_INPUT_FAULT,
                                  .parent = root,
                                  .root = root,
                                  .data_index = root,
                                  .label = label,
                                  .prediction = answer,
                                  .confidence = 0.5,
                                  .chain = chain};
    int64_t id = 0;
    check(px_campaign_put(campaign, &in, now, &id, &err), &err);
    free(chain);
    return id;
}

void faulty_campaign(const judge *j, const char *folder, int seeds, int tries)
{
    px_campaign *campaign = NULL;
    px_dataset *set = NULL;
    px_error err = {0};
    float *values = calloc(DIGIT_SIZE, sizeof *values);
    const px_campaign_identity identity = {.model_hash = px_model_hash(j->model),
                                           .data_hash = 1,
                                           .seed = 3,
                                           .dtype = PX_UINT8,
                                           .shape = {3, {1, DIGIT_SIDE, DIGIT_SIDE}},
                                           .classes = j->scores.classes,
                                           .settings = "{\"guide\":\"nc\"}"};
    assert_non_null(values);
    check(px_dataset_open("digits", NULL, &set, &err), &err);
    check(px_campaign_open(folder, PX_CAMPAIGN_CREATE, &campaign, &err), &err);
    check(px_campaign_identify(campaign, &identity, &err), &err);
    for (int64_t i = 0; seeds > 0; i++) {
        uint8_t pixels[DIGIT_SIZE];
        check(px_dataset_pixels(set, i, values, &err), &err);
        for (int k = 0; k < DIGIT_SIZE; k++)
            pixels[k] = (uint8_t)values[k];
        const int64_t label = px_dataset_label(set, i);
        if (judge_answer(j, pixels) != label)
            continue;
        const px_campaign_input in = {.kind = PX_INPUT_SEED,
                                      .data_index = i,
                                      .label = label,
                                      .prediction = label,
                                      .confidence = 0.9};
        int64_t root = 0;
        check(px_campaign_put(campaign, &in, pixels, &root, &err), &err);
        for (int k = 0; k < tries; k++)
            put_mutant(j, campaign, root, label, pixels, k);
        seeds--;
    }
    check(px_campaign_commit(campaign, &err), &err);
    px_campaign_close(campaign);
    px_dataset_close(set);
    free(values);
}
