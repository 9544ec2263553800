/* src/cli/cmd_bench.c - plexor bench MODEL */
#include "cli/cli_net.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/rng.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    const px_plan *plan;
    bool backward;
    px_scores scores;
    void **inputs;   /* one micro-batch per feed */
    size_t *bytes;   /* per feed */
    int64_t *labels; /* of one micro-batch */
} bench;

static px_status bench_batch(void *context, px_session *session, int64_t first, int64_t samples,
                             px_error *err)
{
    const bench *b = context;
    (void)first;
    for (size_t f = 0; f < px_plan_feed_count(b->plan); f++)
        memcpy(px_session_input(session, f), b->inputs[f], b->bytes[f]);
    PX_TRY(px_session_forward(session, err));
    if (!b->backward)
        return PX_OK;
    PX_TRY(px_session_seed_clear(session, err));
    PX_TRY(px_session_seed_loss(session, &b->scores, b->labels, samples, NULL, err));
    return px_session_backward(session, err);
}

static bool bench_tick(void *context, int64_t done, int64_t total)
{
    (void)context, (void)done, (void)total;
    return !cli_interrupted();
}

/* Inputs per second, the best of `rounds` rounds of about `seconds` each. */
static px_status bench_measure(const bench *b, int threads, double seconds, int64_t rounds,
                               double *out, px_error *err)
{
    const int64_t batch = px_plan_batch(b->plan),
                  least = batch * (threads > 0 ? threads : px_cpu_count());
    double best = 0.0;
    int64_t count = least;
    for (int64_t round = 0; round < rounds;) {
        const double start = px_clock_s();
        PX_TRY(px_plan_run(b->plan, threads, count, bench_batch, (void *)b, bench_tick, NULL, err));
        const double took = px_clock_s() - start;
        const double rate = (double)count / took;
        if (took < 0.5 * seconds && round == 0) { /* not yet long enough to count */
            const double more = fmin(10.0, fmax(1.5, 1.1 * seconds / took));
            count = ((int64_t)((double)count * more) + least - 1) / least * least;
            continue;
        }
        best = fmax(best, rate);
        round++;
    }
    *out = best;
    return PX_OK;
}

/* Standard normal numbers where the input is float32, zeros elsewhere: every index is valid then.
 */
static px_status bench_prepare(bench *b, px_error *err)
{
    const size_t feeds = px_plan_feed_count(b->plan);
    const px_graph *graph = px_model_graph(px_plan_model(b->plan));
    const int64_t batch = px_plan_batch(b->plan);
    b->inputs = calloc(feeds, sizeof *b->inputs);
    b->bytes = calloc(feeds, sizeof *b->bytes);
    b->labels = calloc((size_t)batch, sizeof *b->labels);
    if (!b->inputs || !b->bytes || !b->labels)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (int64_t i = 0; i < batch && b->scores.classes > 0; i++)
        b->labels[i] = i % b->scores.classes;
    for (size_t f = 0; f < feeds; f++) {
        const px_shape shape = px_plan_feed_shape(b->plan, f);
        const px_dtype declared = graph->values[graph->inputs[f]].dtype;
        const px_dtype dtype = declared == PX_NONE ? PX_FLOAT32 : declared;
        const bool real = dtype == PX_FLOAT32 || dtype == PX_FLOAT16 || dtype == PX_BFLOAT16;
        const size_t count = (size_t)px_shape_count(&shape);
        b->bytes[f] = count * (real ? sizeof(float) : px_dtype_size(dtype));
        b->inputs[f] = calloc(1, b->bytes[f] ? b->bytes[f] : 1);
        if (!b->inputs[f])
            return px_fail(err, PX_E_NOMEM, "out of memory");
        px_random r = px_rng(0, PX_RNG_BENCH, (uint32_t)f, 0);
        for (size_t i = 0; real && i < count; i++)
            ((float *)b->inputs[f])[i] = (float)px_rng_normal(&r);
    }
    return PX_OK;
}

static void bench_done(bench *b)
{
    for (size_t f = 0; b->plan && b->inputs && f < px_plan_feed_count(b->plan); f++)
        free(b->inputs[f]);
    free(b->inputs);
    free(b->bytes);
    free(b->labels);
}

typedef struct bench_result {
    double per_s;  /* NaN: could not be measured */
    int64_t batch; /* that the plan has */
    double flops;  /* per input, forward */
    px_error why;
} bench_result;

static px_status bench_one(const px_model *model, const px_shape *open, bool backward,
                           const cli_workers *workers, double seconds, int64_t rounds,
                           bench_result *out, px_error *err)
{
    px_plan_options options = px_plan_options_default();
    px_plan *plan = NULL;
    bench b = {.backward = backward};
    options.batch = workers->batch;
    options.input_grad = backward;
    px_status status = backward ? px_model_scores(model, &b.scores, err) : PX_OK;
    if (status == PX_OK)
        status = cli_plan_open(model, open, options, &plan, err);
    b.plan = plan;
    if (status == PX_OK)
        status = bench_prepare(&b, err);
    if (status == PX_OK)
        status = bench_measure(&b, (int)workers->threads, seconds, rounds, &out->per_s, err);
    if (status == PX_OK) {
        out->batch = px_plan_batch(plan);
        out->flops = (double)px_plan_flops(plan) / (double)out->batch;
    }
    bench_done(&b);
    px_plan_free(plan);
    return status;
}

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
    bench_result forward = {0}, grad = {.per_s = (double)NAN};
    int rc = CLI_DONE;
    if (cli_model_load(self, path, &model, &err) != PX_OK ||
        cli_open_shape(model, size, &open, &err) != PX_OK ||
        px_peak_gflops(threads, &peak, &err) != PX_OK ||
        bench_one(model, &open, false, &workers, seconds, rounds, &forward, &err) != PX_OK) {
        rc = cli_fail(self, &err);
        goto done;
    }
    const px_status status =
        bench_one(model, &open, true, &workers, seconds, rounds, &grad, &grad.why);
    if (status == PX_E_CANCELLED) {
        rc = cli_fail(self, &grad.why);
        goto done;
    }
    if (status != PX_OK) {
        grad.per_s = (double)NAN;
        cli_note(self, "no gradient: %s", grad.why.message);
    }
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
        printf("%s, %d thread%s, best of %" PRId64 " rounds\n", path, threads,
               threads == 1 ? "" : "s", rounds);
        printf("forward     %10.0f inputs per second, %" PRId64
               " at a time: %.1f GFLOP/s, %.0f%% of sgemm's %.1f\n",
               forward.per_s, forward.batch, gflops, 100.0 * gflops / peak, peak);
        if (status == PX_OK)
            printf("+ gradient  %10.0f inputs per second, %" PRId64 " at a time\n", grad.per_s,
                   grad.batch);
        printf("peak memory %10.1f MiB\n", rss_mib);
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
