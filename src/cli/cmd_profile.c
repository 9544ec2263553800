/* src/cli/cmd_profile.c - plexor profile MODEL --train SPEC -o FILE */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_cover.h"

#include <internal/profile.h>
#include <inttypes.h>
#include <plexor/system.h>
#include <stdio.h>
#include <string.h>

typedef struct profile_result {
    cli_origin origin;
    const px_profile *profile;
    const char *train, *to;
    int64_t count, rejected;
    double seconds;
} profile_result;

typedef struct section_row {
    const char *key, *definition;
    char what[64]; /* the first word of the key */
} section_row;

static const void *section_get(const void *of, size_t i, void *place)
{
    const px_profile *profile = ((const profile_result *)of)->profile;
    section_row *row = place;
    if (i >= px_profile_section_count(profile))
        return NULL;
    *row = (section_row){.key = px_profile_section(profile, i),
                         .definition = px_profile_definition(profile, i)};
    snprintf(row->what, sizeof row->what, "%.*s", (int)strcspn(row->key, " "), row->key);
    return row;
}

typedef struct class_row {
    int64_t labelled, predicted;
} class_row;

static const void *class_get(const void *of, size_t i, void *place)
{
    const px_profile *profile = ((const profile_result *)of)->profile;
    if (i >= (size_t)px_profile_classes(profile))
        return NULL;
    *(class_row *)place =
        (class_row){px_profile_labelled(profile, (int)i), px_profile_predicted(profile, (int)i)};
    return place;
}

static const px_field section_fields[] = {
    PX_CHARS(section_row, what, NULL, NULL, .title = "LEARNED"),
    PX_FIELD(section_row, key, "learned", "what, with its settings"),
    PX_FIELD(section_row, definition, "neurons", "of which ones", .title = "NEURONS"),
    PX_FIELDS_END,
};

static const px_field class_fields[] = {
    PX_INDEX(class_row, labelled, "labelled", "inputs of the class", .optional = true),
    PX_FIELD(class_row, predicted, "predicted", "inputs that are taken for it"),
    PX_FIELDS_END,
};

static const px_field profile_fields[] = {
    PX_OBJECT(profile_result, origin, cli_origin_fields, ""),
    PX_FIELD(profile_result, train, "train", "the training data, as given"),
    PX_FIELD(profile_result, to, "output", "the file"),
    PX_FIELD(profile_result, count, "count", "inputs"),
    PX_FIELD(profile_result, rejected, "rejected", "inputs with values that are not finite"),
    PX_FIELD(profile_result, seconds, "seconds", "in all", .unit = "s"),
    PX_LIST_MADE(section_get, section_fields, "sections", "of the profile"),
    PX_LIST_MADE(class_get, class_fields, "per_class", "in the network's order"),
    PX_FIELDS_END,
};

static void profile_print(const void *of)
{
    const profile_result *r = of;
    char number[CLI_NUMBER_TEXT];
    cli_print("%s: %s training inputs in %.1f s\n", r->to, cli_number(r->count, number),
              r->seconds);
    cli_print_list(profile_fields, "sections", r, "  ", 0);
}

static int profile_run(const cli_command *self, int argc, char **argv)
{
    cli_criteria criteria = {.list = "all"};
    cli_data data = CLI_DATA_DEFAULT;
    cli_neurons neurons = {0};
    cli_training training = {0};
    cli_workers workers = {0};
    const char *path = NULL, *to = NULL;
    const cli_option options[] = {
        CLI_TRAINING_OPTIONS(&training),
        CLI_CRITERIA_OPTIONS(&criteria),
        CLI_NEURON_OPTIONS(&neurons),
        CLI_INT(0, "seed", &data.seed, "N", 0, 9e15, "of everything random"),
        CLI_PIXEL_OPTIONS(&data.pixels),
        CLI_NETWORK_OPTIONS,
        CLI_SKIP_OPTION(&data),
        CLI_STRING('o', "output", &to, "FILE", "the profile, an NPZ"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "train", training.spec));
    CLI_TRY(cli_require(self, "output", to));
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
    PX_THEN(status,
            cli_profile_make(model, &data, &training, &workers, NULL, &cover, &profile, &err));
    if (status == PX_OK && !profile)
        status = px_fail(&err, PX_E_USAGE, "'%s' learn nothing from training data", criteria.list);
    PX_THEN(status, px_profile_save(profile, to, &err));
    const double seconds = px_clock_s() - start;
    profile_result r = {.origin = cli_origin_of(model, NULL),
                        .profile = profile,
                        .train = training.spec,
                        .to = to,
                        .seconds = seconds};
    if (status == PX_OK) {
        r.count = px_profile_count(profile);
        r.rejected = px_profile_rejected(profile);
    }
    const int rc = cli_answer(self, status, &err, &r, profile_print);
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
    .ranks = true,
    .result = profile_fields,
};
