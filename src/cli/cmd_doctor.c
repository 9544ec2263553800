/* src/cli/cmd_doctor.c - plexor doctor MODEL --data SPEC: do the network and the data fit together
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_doctor.h"
#include "cli/cli_fields.h"
#include "cli/cli_train.h"

#include <internal/store.h>
#include <plexor/onnx.h>
#include <stdio.h>
#include <string.h>

typedef struct doctor_report {
    cli_origin origin;
    cli_inputs inputs;
    px_doctor *found;
} doctor_report;

static const px_field doctor_fields[] = {
    PX_OBJECT(doctor_report, origin, cli_origin_fields, ""),
    PX_OBJECT(doctor_report, inputs, cli_inputs_fields, ""),
    PX_OBJECT_AT(doctor_report, found, px_doctor_fields, "doctor", "what speaks against them"),
    PX_FIELDS_END,
};

static void doctor_print(const void *of)
{
    const px_doctor *doctor = ((const doctor_report *)of)->found;
    for (size_t i = 0; i < px_doctor_count(doctor); i++) {
        const px_finding *f = px_doctor_get(doctor, i);
        cli_print("%-8s %s\n", px_finding_level_name(f->level), f->sentence);
        if (f->advice)
            cli_print("         %s\n", f->advice);
        for (size_t k = 0; k < f->input_count; k++)
            cli_print("         %s\n", f->inputs[k]);
    }
    if (px_doctor_count(doctor) == 0)
        cli_print("nothing found\n");
}

/* Whether something was found that --strict stops at: what is only good to know is not. */
static bool doctor_strict(const px_doctor *doctor)
{
    const px_finding *first = px_doctor_get(doctor, 0); /* errors and warnings come first */
    return first && first->level >= PX_FINDING_WARNING;
}

/* Into the network's metadata: preprocessing as it is advised, else as it was given, and the names
 * of classes where all are known. */
static px_status doctor_write(const cli_command *self, const char *path, const px_doctor *doctor,
                              const px_model *model, const cli_inputs *inputs, px_error *err)
{
    const px_preprocess *advised = px_doctor_preprocess(doctor);
    px_scores scores;
    px_properties properties = {.count = 0};
    px_text said = {0};
    PX_TRY(px_model_scores(model, &scores, err));
    const px_preprocess *pre = advised ? advised : &inputs->pre;
    if (strcmp(pre->mean_from, "default") != 0 || strcmp(pre->std_from, "default") != 0 ||
        strcmp(pre->scale_from, "default") != 0)
        px_properties_preprocess(&properties, pre, inputs->set,
                                 /* scale= */ px_dataset_is_8bit(inputs->set) ||
                                     pre->range != 1.0f); /* else the data's */
    const bool named =
        px_model_class_name(model, 0) || (px_dataset_class_count(inputs->set) == scores.classes &&
                                          px_dataset_class_name(inputs->set, 0));
    px_status status = PX_OK;
    if (named)
        status = px_properties_classes(&properties, model, inputs->set, scores.classes, err);
    PX_THEN(status, px_properties_end(&properties, err));
    if (status == PX_OK && properties.count == 0)
        status = px_fail(err, PX_E_USAGE,
                         "--write: there is nothing to write; no preprocessing was advised, and "
                         "neither --preprocess nor --classes is given");
    PX_THEN(status,
            px_model_annotate(px_model_path(model), path, properties.item, properties.count, err));
    for (size_t i = 0; i < properties.count; i++)
        px_text_format(&said, "%s%s %.100s", i ? ", " : "",
                       properties.item[i].key + strlen("plexor."),
                       px_text_get(&properties.text[i]));
    if (status == PX_OK)
        cli_note(self, "'%s' says now: %s", path, px_text_get(&said));
    px_text_done(&said);
    px_properties_done(&properties);
    return status;
}

static int doctor_run(const cli_command *self, int argc, char **argv)
{
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    bool strict = false, write = false;
    const char *path = NULL, *to = NULL, *train_spec = NULL;
    px_dataset *train = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&data),
        CLI_STRING(0, "train", &train_spec, "SPEC",
                   "training data, to look for inputs that are among them; their train part"),
        CLI_FLAG(0, "strict", &strict, "exit with 1 where a warning or an error was found"),
        CLI_FLAG(0, "write", &write,
                 "put the preprocessing that was advised, else given, and class names into the "
                 "network's metadata"),
        CLI_STRING('o', "output", &to, "FILE", "with --write: into a copy of the network"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    CLI_TRY(cli_require(self, "data", data.spec));
    if (to && !write)
        return cli_usage_error(self, "-o '%s' goes with --write", to);
    px_error err = {0};
    px_model *model = NULL;
    doctor_report d = {0};
    data.skip_damaged = data.any_classes = true; /* both are findings */
    px_status status = cli_model_load(self, path, &model, &err);
    PX_THEN(status, cli_inputs_open(model, &data, &d.inputs, &err));
    if (status == PX_OK && train_spec) {
        px_data_options part = px_model_data_options(model);
        px_preprocess pre = d.inputs.pre;
        part.split = "train";
        part.skip_damaged = part.any_classes = true;
        status =
            cli_part_open(model, &pre, train_spec, &part, /* may_be_whole= */ true, &train, &err);
    }
    if (status == PX_OK) {
        px_doctor_options o = px_doctor_options_default();
        o.model = model;
        o.set = d.inputs.set;
        o.train = train;
        o.pre = &d.inputs.pre;
        o.failures = px_campaign_part_fails(data.spec, data.split);
        o.threads = (int)workers.threads;
        o.progress = cli_tick;
        o.context = CLI_WORDS("doctor");
        status = px_doctor_new(&o, &d.found, &err);
    }
    PX_THEN_IF(status, write, doctor_write(self, to ? to : path, d.found, model, &d.inputs, &err));
    d.origin = cli_origin_of(model, d.inputs.set);
    int rc = cli_answer(self, status, &err, &d, doctor_print);
    if (rc == CLI_DONE && strict && doctor_strict(d.found))
        rc = CLI_CHECK_FAILED;
    px_doctor_free(d.found);
    px_dataset_close(train);
    cli_inputs_close(&d.inputs);
    px_model_free(model);
    return rc;
}

const cli_command cli_command_doctor = {
    .name = "doctor",
    .usage = "MODEL --data SPEC [options]",
    .help = "whether a network and its data are put together rightly",
    .details = "Runs the network on up to 1,000 inputs and says what speaks against the "
               "preprocessing or the data. Where answers look wrong and mean or std are defaults, "
               "ways that are in wide use are tried on the same inputs, and one is advised where "
               "chance does not explain that it does better. docs/doctor.md has the findings and "
               "their thresholds.",
    .examples = "plexor doctor net.onnx --data photos/\n"
                "plexor doctor net.onnx --data photos/ --strict --json\n"
                "plexor doctor net.onnx --data photos/ --write -o net-ready.onnx\n",
    .run = doctor_run,
    .ranks = true,
    .result = doctor_fields,
};
