/* src/cli/cmd_doctor.c - plexor doctor MODEL --data SPEC: do the network and the data fit together
 */
#include "cli/cli_doctor.h"
#include "cli/cli_net.h"

#include <plexor/store.h>
#include <stdio.h>

static void doctor_print(const px_doctor *doctor)
{
    for (size_t i = 0; i < px_doctor_count(doctor); i++) {
        const px_finding *f = px_doctor_get(doctor, i);
        printf("%-8s %s\n", px_finding_level_name(f->level), f->sentence);
        if (f->advice)
            printf("         %s\n", f->advice);
        for (size_t k = 0; k < f->input_count; k++)
            printf("         %s\n", f->inputs[k]);
    }
    if (px_doctor_count(doctor) == 0)
        puts("nothing found");
}

static int doctor_report(const cli_command *self, const px_doctor *doctor, const px_model *model,
                         const cli_inputs *inputs, bool as_json, int argc, char **argv)
{
    if (!as_json) {
        doctor_print(doctor);
        return CLI_DONE;
    }
    px_json json = {0};
    px_json_object(&json, NULL);
    cli_json_origin(&json, model, inputs->set, argc, argv);
    cli_inputs_json(inputs, &json);
    px_json_object(&json, "doctor");
    px_doctor_json(doctor, &json);
    px_json_end(&json);
    px_json_end(&json);
    return cli_print_json(self, &json);
}

/* Whether something was found that --strict stops at: what is only good to know is not. */
static bool doctor_strict(const px_doctor *doctor)
{
    const px_finding *first = px_doctor_get(doctor, 0); /* errors and warnings come first */
    return first && first->level >= PX_FINDING_WARNING;
}

static int doctor_run(const cli_command *self, int argc, char **argv)
{
    cli_data data = CLI_DATA_DEFAULT;
    cli_workers workers = {0};
    cli_output output = {0};
    bool strict = false;
    const char *path = NULL;
    const cli_option options[] = {
        CLI_DATA_OPTIONS(&data),
        CLI_FLAG(0, "strict", &strict, "exit with 1 where a warning or an error was found"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "data", data.spec))
        return CLI_BAD_INPUT;
    px_error err = {0};
    px_model *model = NULL;
    px_doctor *doctor = NULL;
    cli_inputs inputs = {0};
    cli_catch_signals();
    data.skip_damaged = true; /* they are a finding */
    px_status status = cli_model_load(self, path, &model, &err);
    if (status == PX_OK)
        status = cli_inputs_open(model, &data, &inputs, &err);
    if (status == PX_OK) {
        cli_progress progress = cli_progress_start("doctor");
        px_doctor_options o = px_doctor_options_default();
        o.model = model;
        o.set = inputs.set;
        o.pre = &inputs.pre;
        o.failures = px_campaign_part_fails(data.spec, data.split);
        o.threads = (int)workers.threads;
        o.progress = cli_progress_tick;
        o.context = &progress;
        status = px_doctor_new(&o, &doctor, &err);
        cli_progress_end(&progress);
    }
    int rc = status == PX_OK ? doctor_report(self, doctor, model, &inputs, output.json, argc, argv)
                             : cli_fail(self, &err);
    if (rc == CLI_DONE && strict && doctor_strict(doctor))
        rc = CLI_CHECK_FAILED;
    px_doctor_free(doctor);
    cli_inputs_close(&inputs);
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
                "plexor doctor net.onnx --data photos/ --strict --json\n",
    .run = doctor_run,
};
