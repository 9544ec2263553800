/* src/cli/cli_paths.c - what commands share that look at decision paths */
#include "cli/cli_paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cli_paths_args cli_paths_default(void)
{
    const px_paths_options usual = px_paths_options_default();
    return (cli_paths_args){.rule = px_path_rule_name(usual.rule),
                            .target = px_path_target_name(usual.target),
                            .baseline = px_path_baseline_name(usual.baseline),
                            .steps = usual.steps,
                            .most_steps = usual.most_steps,
                            .classes = px_path_words_default().classes};
}

static px_status tools_names(cli_path_tools *tools, const px_model *model, const px_dataset *set,
                             int classes, px_error *err)
{
    cli_classes known = cli_classes_of(model, set);
    px_status status = PX_OK;
    tools->names = calloc((size_t)classes, sizeof *tools->names);
    tools->name_count = tools->names ? (size_t)classes : 0;
    for (int c = 0; c < classes && tools->names && status == PX_OK; c++) {
        char buffer[CLI_NUMBER_TEXT];
        const char *name = cli_class_name(&known, c, buffer);
        if (name == buffer)
            continue; /* a number is no name */
        tools->names[c] = strdup(name);
        if (!tools->names[c])
            status = px_fail(err, PX_E_NOMEM, "out of memory");
    }
    return tools->names ? status : px_fail(err, PX_E_NOMEM, "out of memory");
}

static px_status tools_words(const cli_command *self, cli_path_tools *tools,
                             const cli_paths_args *args, px_error *err)
{
    if (!tools->bank) {
        cli_note(self, "no --bank: units are called by layer and number, and paths are compared "
                       "by the units they share");
        return px_path_judge_new(tools->paths, NULL, (const char *const *)tools->names,
                                 tools->name_count, &tools->words, &tools->judge, err);
    }
    if (px_bank_verdict(tools->bank) == PX_NOT_VALIDATED)
        cli_note(self, "%s", px_bank_validation(tools->bank));
    px_text_encoder_options options = px_text_encoder_options_default();
    options.spec = args->encoder;
    PX_TRY(px_path_encoder_open(tools->bank, (const char *const *)tools->names, tools->name_count,
                                &options, &tools->encoder, err));
    return px_path_judge_new(tools->paths, tools->encoder, (const char *const *)tools->names,
                             tools->name_count, &tools->words, &tools->judge, err);
}

px_status cli_path_tools_open(const cli_command *self, const cli_paths_args *args,
                              const px_model *model, const cli_inputs *inputs, int threads,
                              int64_t batch, cli_path_tools *out, px_error *err)
{
    px_paths_options options = px_paths_options_default();
    const px_shape sample = px_dataset_shape(inputs->set);
    *out = (cli_path_tools){.words = px_path_words_default()};
    out->words.classes = (int)args->classes;
    PX_TRY(px_path_rule_parse(args->rule, &options.rule, err));
    PX_TRY(px_path_target_parse(args->target, &options.target, err));
    PX_TRY(px_path_baseline_parse(args->baseline, &options.baseline, err));
    if (args->encoder && !args->bank)
        return px_fail(err, PX_E_USAGE,
                       "--encoder compares words, and without a --bank units "
                       "have none");
    if (args->bank)
        PX_TRY(px_bank_load(args->bank, &out->bank, err));
    options.layers = args->layers;
    options.tap = args->tap;
    options.least_layers = (int)args->depth;
    options.steps = (int)args->steps;
    options.most_steps = (int)args->most_steps;
    options.bank = out->bank;
    options.threads = threads;
    options.batch = batch;
    PX_TRY(px_paths_new(model, &sample, &inputs->pre, &options, &out->paths, err));
    PX_TRY(tools_names(out, model, inputs->set, px_paths_scores(out->paths)->classes, err));
    return tools_words(self, out, args, err);
}

void cli_path_tools_close(cli_path_tools *tools)
{
    px_path_judge_free(tools->judge);
    px_text_encoder_free(tools->encoder);
    px_paths_free(tools->paths);
    px_bank_free(tools->bank);
    for (size_t i = 0; i < tools->name_count; i++)
        free(tools->names[i]);
    free(tools->names);
    *tools = (cli_path_tools){0};
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

void cli_paths_json(const cli_path_tools *tools, px_json *json)
{
    const px_paths_sums sums = px_paths_get_sums(tools->paths);
    px_json_object(json, "paths");
    px_json_string(json, "settings", px_paths_describe(tools->paths));
    px_json_int(json, "inputs", sums.inputs);
    px_json_int(json, "doubled", sums.doubled);
    px_json_int(json, "incomplete", sums.incomplete);
    px_json_int(json, "rows", sums.rows);
    px_json_end(json);
    px_json_string(json, "validation", tools->bank ? px_bank_validation(tools->bank) : NULL);
    px_json_string(json, "encoder",
                   tools->encoder ? px_text_encoder_describe(tools->encoder) : NULL);
}
