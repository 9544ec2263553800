/* src/cli/cmd_bench.c - plexor bench MODEL */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"
#include "cli/cli_net.h"

#include <internal/engine.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>

typedef struct bench {
    cli_origin origin;
    px_bench_result forward, grad;
    double gflops, peak, rss_mib;
    int threads;
    int64_t rounds;
} bench;

static const px_field bench_fields[] = {
    PX_OBJECT(bench, origin, cli_origin_fields, ""),
    PX_FIELD(bench, forward.per_s, "forward_per_s", "inputs"),
    PX_FIELD(bench, grad.per_s, "grad_per_s", "with the gradient; null: there is none"),
    PX_FIELD(bench, gflops, "forward_gflops", "of the network, per second"),
    PX_FIELD(bench, peak, "sgemm_gflops", "of a product of matrices"),
    PX_FIELD(bench, threads, "threads", "at work"),
    PX_FIELD(bench, forward.batch, "batch", "inputs at a time"),
    PX_FIELD(bench, grad.batch, "grad_batch", "inputs at a time with the gradient"),
    PX_FIELD(bench, rounds, "rounds", "of which the best counts"),
    PX_FIELD(bench, rss_mib, "peak_rss_mib", "most memory that the process had"),
    PX_FIELDS_END,
};

static int bench_run(const cli_command *self, int argc, char **argv)
{
    cli_workers workers = {0};
    int64_t rounds = 5;
    double seconds = 1.0;
    const char *path = NULL, *size = NULL;
    const cli_option options[] = {
        CLI_STRING(0, "size", &size, "HxW", "of the pictures, where the network leaves it open"),
        CLI_INT(0, "rounds", &rounds, "N", 1, 1000, "the best of this many counts"),
        CLI_REAL(0, "seconds", &seconds, "S", 0.01, 3600, "length of a round"),
        CLI_WORKER_OPTIONS(&workers),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, &path, 1, 1));
    px_error err = {0};
    px_model *model = NULL;
    px_shape open = {.rank = 0};
    bench b = {.grad = {.per_s = (double)NAN},
               .threads = workers.threads > 0 ? (int)workers.threads : px_cpu_count(),
               .rounds = rounds};
    px_bench_options how = {.open = &open,
                            .threads = b.threads,
                            .batch = workers.batch,
                            .rounds = rounds,
                            .seconds = seconds};
    px_error why = {0};
    int rc = CLI_DONE;
    if (cli_model_load_file(self, path, &model, &err) != PX_OK ||
        cli_open_shape(model, size, &open, &err) != PX_OK ||
        px_peak_gflops(b.threads, &b.peak, &err) != PX_OK ||
        px_bench(model, &how, &b.forward, &err) != PX_OK) {
        rc = cli_fail(self, &err);
        goto done;
    }
    how.backward = true;
    const px_status status = px_bench(model, &how, &b.grad, &why);
    if (status == PX_E_CANCELLED) {
        rc = cli_fail(self, &why);
        goto done;
    }
    if (status != PX_OK)
        cli_note(self, "no gradient: %s", why.message);
    b.origin = cli_origin_of(model, NULL);
    b.gflops = b.forward.per_s * b.forward.flops * 1e-9;
    b.rss_mib = (double)px_peak_rss_bytes() / 1048576.0;
    if (cli_now()->json) {
        rc = cli_print_result(self, bench_fields, &b);
    } else {
        cli_print("%s, %d thread%s, best of %" PRId64 " rounds\n", path, b.threads,
                  b.threads == 1 ? "" : "s", rounds);
        cli_print("forward     %10.0f inputs per second, %" PRId64
                  " at a time: %.1f GFLOP/s, %.0f%% of sgemm's %.1f\n",
                  b.forward.per_s, b.forward.batch, b.gflops, 100.0 * b.gflops / b.peak, b.peak);
        if (status == PX_OK)
            cli_print("+ gradient  %10.0f inputs per second, %" PRId64 " at a time\n", b.grad.per_s,
                      b.grad.batch);
        cli_print("peak memory %10.1f MiB\n", b.rss_mib);
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
    .result = bench_fields,
};
