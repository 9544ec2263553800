/* src/cli/cmd_bench.c - plexor bench MODEL */
#include "cli/cli_net.h"

#include <internal/engine.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int bench_run(const cli_command *self, int argc, char **argv)
{
    cli_output output = {0};
    cli_workers workers = {0};
    int64_t rounds = 5;
    double seconds = 1.0;
    const char *path = NULL, *size = NULL;
    const cli_option options[] = {
        CLI_STRING(0, "size", &size, "HxW", "of the pictures, where the network leaves it open"),
        CLI_INT(0, "rounds", &rounds, "N", 1, 1000, "the best of this many counts"),
        CLI_REAL(0, "seconds", &seconds, "S", 0.01, 3600, "length of a round"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    const int stop = cli_parse(self, argc, argv, options, &path, 1, 1);
    if (stop != CLI_GO)
        return stop;
    px_error err = {0};
    px_model *model = NULL;
    px_shape open = {.rank = 0};
    double peak = 0.0;
    const int threads = workers.threads > 0 ? (int)workers.threads : px_cpu_count();
    px_bench_options how = {.open = &open,
                            .threads = threads,
                            .batch = workers.batch,
                            .rounds = rounds,
                            .seconds = seconds};
    px_bench_result forward = {0}, grad = {.per_s = (double)NAN};
    px_error why = {0};
    int rc = CLI_DONE;
    if (cli_model_load(self, path, &model, &err) != PX_OK ||
        cli_open_shape(model, size, &open, &err) != PX_OK ||
        px_peak_gflops(threads, &peak, &err) != PX_OK ||
        px_bench(model, &how, &forward, &err) != PX_OK) {
        rc = cli_fail(self, &err);
        goto done;
    }
    how.backward = true;
    const px_status status = px_bench(model, &how, &grad, &why);
    if (status == PX_E_CANCELLED) {
        rc = cli_fail(self, &why);
        goto done;
    }
    if (status != PX_OK)
        cli_note(self, "no gradient: %s", why.message);
    const double gflops = forward.per_s * forward.flops * 1e-9;
    const double rss_mib = (double)px_peak_rss_bytes() / 1048576.0;
    if (output.json) {
        px_json json = {0};
        px_json_object(&json, NULL);
        cli_json_origin(&json, model, NULL, argc, argv);
        px_json_real(&json, "forward_per_s", forward.per_s);
        px_json_real(&json, "grad_per_s", grad.per_s);
        px_json_real(&json, "forward_gflops", gflops);
        px_json_real(&json, "sgemm_gflops", peak);
        px_json_int(&json, "threads", threads);
        px_json_int(&json, "batch", forward.batch);
        px_json_int(&json, "grad_batch", grad.batch);
        px_json_int(&json, "rounds", rounds);
        px_json_real(&json, "peak_rss_mib", rss_mib);
        px_json_end(&json);
        rc = cli_print_json(self, &json);
    } else {
        cli_print("%s, %d thread%s, best of %" PRId64 " rounds\n", path, threads,
                  threads == 1 ? "" : "s", rounds);
        cli_print("forward     %10.0f inputs per second, %" PRId64
                  " at a time: %.1f GFLOP/s, %.0f%% of sgemm's %.1f\n",
                  forward.per_s, forward.batch, gflops, 100.0 * gflops / peak, peak);
        if (status == PX_OK)
            cli_print("+ gradient  %10.0f inputs per second, %" PRId64 " at a time\n", grad.per_s,
                      grad.batch);
        cli_print("peak memory %10.1f MiB\n", rss_mib);
    }
done:
    px_model_free(model);
    return rc;
}

const cli_command cli_command_bench = {
    .name = "bench",
    .usage = "MODEL [--threads N] [--batch N] [options]",
    .help = "throughput forward and with input gradient, and peak memory",
    .details = "Inputs are random numbers. The share of the machine's peak is against dnnl_sgemm "
               "on as many threads.",
    .examples = "plexor bench net.onnx --threads 1\n",
    .run = bench_run,
};
