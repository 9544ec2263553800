/* src/cli/cli_paths.c - what commands share that look at decision paths */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_paths.h"

#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>
#include <inttypes.h>

cli_paths_args cli_paths_default(void)
{
    const px_paths_options usual = px_paths_options_default();
    return (cli_paths_args){.rule = (int)usual.rule,
                            .target = (int)usual.target,
                            .baseline = (int)usual.baseline,
                            .steps = usual.steps,
                            .most_steps = usual.most_steps,
                            .classes = px_path_words_default().classes};
}

static void paths_note(void *self, const char *sentence)
{
    cli_note(self, "%s", sentence);
}

px_status cli_path_tools_open(const cli_command *self, const cli_paths_args *args,
                              const px_model *model, const cli_inputs *inputs, int threads,
                              int64_t batch, px_path_tools *out, px_error *err)
{
    px_path_tools_options o = px_path_tools_options_default();
    *out = (px_path_tools){0};
    o.paths.rule = (px_path_rule)args->rule;
    o.paths.target = (px_path_target)args->target;
    o.paths.baseline = (px_path_baseline)args->baseline;
    o.paths.layers = args->layers;
    o.paths.tap = args->tap;
    o.paths.least_layers = (int)args->depth;
    o.paths.steps = (int)args->steps;
    o.paths.most_steps = (int)args->most_steps;
    o.paths.threads = threads;
    o.paths.batch = batch;
    o.bank = args->bank;
    o.encoder = args->encoder;
    o.classes = (int)args->classes;
    o.note = paths_note;
    o.context = (void *)(uintptr_t)self; /* const */
    return px_path_tools_open(model, inputs->set, &inputs->pre, &o, out, err);
}

void cli_paths_note(const cli_command *self, const px_paths *paths)
{
    const px_paths_sums sums = px_paths_get_sums(paths);
    if (sums.incomplete)
        cli_note(self,
                 "in %" PRId64 " of %" PRId64
                 " inputs contributions do not add up to the change of the score; --max-steps "
                 "allows more steps",
                 sums.incomplete, sums.inputs);
    if (sums.odd)
        cli_note(self, "%" PRId64 " inputs have class scores that are no numbers", sums.odd);
    if (px_paths_scores(paths)->probabilities)
        cli_note(self, "the network gives probabilities only: contributions are to these");
}

typedef struct paths_facts {
    const char *settings, *validation, *encoder;
    px_paths_sums sums;
} paths_facts;

static const px_field sums_fields[] = {
    PX_FIELD(paths_facts, settings, "settings", "of the paths"),
    PX_FIELD(paths_facts, sums.inputs, "inputs", "that were looked at"),
    PX_FIELD(paths_facts, sums.doubled, "doubled", "inputs with more steps"),
    PX_FIELD(paths_facts, sums.incomplete, "incomplete", "inputs that do not add up all the same"),
    PX_FIELD(paths_facts, sums.rows, "rows", "that the network was given"),
    PX_FIELDS_END,
};

static const px_field facts_fields[] = {
    PX_OBJECT_OF(sums_fields, "paths", "how they were found"),
    PX_FIELD(paths_facts, validation, "validation", "of the descriptions; null: there are none"),
    PX_FIELD(paths_facts, encoder, "encoder", "of their words; null: there is none"),
    PX_FIELDS_END,
};

static const void *facts_get(const void *of, size_t i, void *place)
{
    const px_path_tools *tools = of;
    *(paths_facts *)place =
        (paths_facts){.settings = px_paths_describe(tools->paths),
                      .sums = px_paths_get_sums(tools->paths),
                      .validation = tools->bank ? px_bank_validation(tools->bank) : NULL,
                      .encoder = tools->encoder ? px_text_encoder_describe(tools->encoder) : NULL};
    return i == 0 ? place : NULL;
}

const px_field cli_paths_fields[] = {
    PX_OBJECT_MADE(facts_get, facts_fields, ""),
    PX_FIELDS_END,
};
