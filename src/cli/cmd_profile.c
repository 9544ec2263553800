/* src/cli/cmd_profile.c - plexor profile MODEL --train SPEC -o FILE */
#include "cli/cli_cover.h"

#include <inttypes.h>
#include <plexor/system.h>
#include <stdio.h>

static void profile_print(const px_profile *profile, const char *to, double seconds)
{
    char a[CLI_NUMBER_TEXT];
    printf("%s: %s training inputs in %.1f s\n", to, cli_number(px_profile_count(profile), a),
           seconds);
    cli_table *table = cli_table_new("ll");
    cli_table_cell(table, "LEARNED");
    cli_table_cell(table, "NEURONS");
    for (size_t i = 0; i < px_profile_section_count(profile); i++) {
        const char *key = px_profile_section(profile, i);
        int length = 0;
        while (key[length] && key[length] != ' ')
            length++;
        cli_table_cell(table, "%.*s", length, key);
        cli_table_cell(table, "%s", px_profile_definition(profile, i));
    }
    cli_table_print_free(table, "  ");
}

static void profile_json(const px_profile *profile, const char *to, double seconds, px_json *json)
{
    px_json_string(json, "output", to);
    px_json_int(json, "count", px_profile_count(profile));
    px_json_int(json, "rejected", px_profile_rejected(profile));
    px_json_real(json, "seconds", seconds);
    px_json_array(json, "sections");
    for (size_t i = 0; i < px_profile_section_count(profile); i++) {
        px_json_object(json, NULL);
        px_json_string(json, "learned", px_profile_section(profile, i));
        px_json_string(json, "neurons", px_profile_definition(profile, i));
        px_json_end(json);
    }
    px_json_end(json);
    px_json_array(json, "per_class");
    for (int c = 0; c < px_profile_classes(profile); c++) {
        px_json_object(json, NULL);
        if (px_profile_labelled(profile, c) >= 0)
            px_json_int(json, "labelled", px_profile_labelled(profile, c));
        px_json_int(json, "predicted", px_profile_predicted(profile, c));
        px_json_end(json);
    }
    px_json_end(json);
}

static int profile_run(const cli_command *self, int argc, char **argv)
{
    static cli_criteria criteria; /* large: lists */
    cli_data data = CLI_DATA_DEFAULT;
    cli_neurons neurons = {0};
    cli_training training = {0};
    cli_workers workers = {0};
    cli_output output = {0};
    const char *path = NULL, *to = NULL;
    criteria = (cli_criteria){.list = "all"};
    const cli_option options[] = {
        CLI_TRAINING_OPTIONS(&training),
        CLI_CRITERIA_OPTIONS(&criteria),
        CLI_NEURON_OPTIONS(&neurons),
        CLI_INT(0, "seed", &data.seed, "N", 0, 9e15, "of everything random"),
        CLI_PIXEL_OPTIONS(&data.pixels),
        CLI_CLASSES_OPTION,
        CLI_SKIP_OPTION(&data),
        CLI_STRING('o', "output", &to, "FILE", "the profile, an NPZ"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "train", training.spec) || !cli_require(self, "output", to))
        return CLI_BAD_INPUT;
    px_error err = {0};
    px_model *model = NULL;
    px_profile *profile = NULL;
    px_cover_options cover = px_cover_options_default();
    cover.criteria = criteria.list;
    cover.preset = criteria.preset;
    cover.settings = criteria.settings.item;
    cover.setting_count = (size_t)criteria.settings.count;
    cover.layers = neurons.layers;
    cover.tap = neurons.tap;
    cover.neurons = neurons.view;
    cover.seed = (uint64_t)data.seed;
    const double start = px_clock_s();
    px_status status = cli_model_load(self, path, &model, &err);
    if (status == PX_OK)
        status =
            cli_profile_make(self, model, &data, &training, &workers, NULL, &cover, &profile, &err);
    if (status == PX_OK && !profile)
        status = px_fail(&err, PX_E_USAGE, "'%s' learn nothing from training data", criteria.list);
    if (status == PX_OK)
        status = px_profile_save(profile, to, &err);
    const double seconds = px_clock_s() - start;
    int rc = CLI_DONE;
    if (status != PX_OK) {
        rc = cli_fail(self, &err);
    } else if (output.json) {
        px_json json = {0};
        px_json_object(&json, NULL);
        cli_json_origin(&json, model, NULL, argc, argv);
        px_json_string(&json, "train", training.spec);
        profile_json(profile, to, seconds, &json);
        px_json_end(&json);
        rc = cli_print_json(self, &json);
    } else {
        profile_print(profile, to, seconds);
    }
    px_profile_free(profile);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_profile = {
    .name = "profile",
    .usage = "MODEL --train SPEC -o FILE [options]",
    .help = "learn ranges and traces from training data, once",
    .details = "Coverage criteria measure against training data: the range of every neuron, traces "
               "of some layers, statistics of classes. This learns what the chosen criteria need "
               "and writes it to a file for 'plexor cover --profile'. The file remembers its "
               "network and its neurons, and is refused where they are others.",
    .examples = "plexor profile net.onnx --train digits -o net.profile\n"
                "plexor profile net.onnx --train digits --train-limit 1000 --criteria kmnc -o "
                "small.profile\n",
    .run = profile_run,
};
