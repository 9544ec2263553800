/* src/predict/run_plan.c - what a long run would take, from two short ones */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/run_plan.h>

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <internal/system.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the model ------------------------------------------------------------------------------- */

/* As src/engine/pass_ranks.c and src/base/ranks.c take memory while ranks exchange. */
#define ROUND_BYTES ((double)(16 << 20)) /* that a rank sends at a time */
#define PIECE_BYTES ((double)(64 << 20)) /* that arrive at a time */
enum { BLOCK = 256 };                    /* inputs that go to a rank at a time, at most */

static px_run_line line_through(double few, double more, const px_run_sample *a,
                                const px_run_sample *b)
{
    const double slope = fmax((more - few) / (double)(b->inputs - a->inputs), 0.0);
    return (px_run_line){.base = fmax(more - slope * (double)b->inputs, 0.0), .slope = slope};
}

px_run_cost px_run_cost_fit(const px_run_sample *few, const px_run_sample *more)
{
    return (px_run_cost){
        .divided_s = line_through(few->divided_s, more->divided_s, few, more),
        .own_s = line_through(few->own_s, more->own_s, few, more),
        .processor_s = line_through(few->processor_s, more->processor_s, few, more),
        .memory = line_through(few->memory, more->memory, few, more),
        .traffic = line_through(few->traffic, more->traffic, few, more),
    };
}

static double line_at(px_run_line line, double inputs)
{
    return line.base + line.slope * inputs;
}

static double predict_seconds(const px_run_cost *cost, const px_run_aim *aim, int ranks,
                              px_run_prediction *out)
{
    const double images = (double)aim->images, blocks = ceil(images / BLOCK);
    const double share = ceil(blocks / ranks) / blocks; /* of the rank that has most */
    const double traffic = line_at(cost->traffic, images);
    out->divided_s = line_at(cost->divided_s, images) * share;
    out->own_s = line_at(cost->own_s, images);
    if (cost->open_inputs > 0)
        out->own_s += cost->open_s * (images / (double)cost->open_inputs - 1.0);
    out->traffic = traffic * (ranks - 1) / ranks;
    out->network_s = aim->network > 0.0 ? out->traffic / aim->network : 0.0;
    return out->divided_s + out->own_s + out->network_s;
}

px_run_prediction px_run_predict(const px_run_cost *cost, const px_run_aim *aim)
{
    px_run_prediction p = {0}, alone = {0};
    const double traffic = line_at(cost->traffic, (double)aim->images);
    p.seconds = predict_seconds(cost, aim, aim->ranks, &p);
    /* What each does by itself takes as much of a processor on each of them. */
    const double processor = line_at(cost->processor_s, (double)aim->images);
    const double own = p.own_s / (line_at(cost->divided_s, (double)aim->images) + p.own_s);
    p.processor_s = processor * (1.0 + own * (aim->ranks - 1));
    p.speedup = predict_seconds(cost, aim, 1, &alone) / p.seconds;
    p.efficiency = p.speedup / aim->ranks;
    p.memory = line_at(cost->memory, (double)aim->images);
    if (aim->ranks > 1) /* what a rank sends, what arrives, and the piece that is arriving */
        p.memory += fmin(traffic / aim->ranks, ROUND_BYTES) +
                    fmin(traffic, ROUND_BYTES * aim->ranks) + fmin(traffic, PIECE_BYTES);
    return p;
}

/* --- measuring ------------------------------------------------------------------------------- */

static px_status measure_trouble(int number, const char *what, px_error *err)
{
    errno = number;
    return pxi_file_fail(err, what, "run");
}

/* The last line that it wrote, without its name. */
static px_status measure_failed(FILE *said, px_error *err)
{
    char line[400], last[400] = "";
    rewind(said);
    while (fgets(line, sizeof line, said))
        if (line[0] != '\n')
            strcpy(last, line);
    last[strcspn(last, "\n")] = '\0';
    const char *colon = strncmp(last, "plexor ", 7) == 0 ? strstr(last, ": ") : NULL;
    return px_fail(err, PX_E_INPUT, "%s", *last ? (colon ? colon + 2 : last) : "it says nothing");
}

static px_status measure_spawn(const char *program, char *const *words, int tell, FILE *said,
                               pid_t *out, px_error *err)
{
    char rehearsal[64];
    size_t count = 0, used = 0;
    posix_spawn_file_actions_t actions;
    while (environ[count])
        count++;
    char **environment = NULL;
    PX_TRY(PX_NEW(environment, count + 2, err));
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], PXI_REHEARSAL "=", strlen(PXI_REHEARSAL) + 1) != 0)
            environment[used++] = environ[i];
    snprintf(rehearsal, sizeof rehearsal, PXI_REHEARSAL "=%d", STDERR_FILENO + 1);
    environment[used] = rehearsal;
    int number = posix_spawn_file_actions_init(&actions);
    if (number == 0) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, fileno(said), STDERR_FILENO);
        posix_spawn_file_actions_adddup2(&actions, tell, STDERR_FILENO + 1);
        number = posix_spawn(out, program, &actions, NULL, words, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    return number == 0 ? PX_OK : measure_trouble(number, program, err);
}

static px_status measure_told(FILE *told, double seconds, const struct rusage *used,
                              px_run_sample *out, px_error *err)
{
    uint64_t bytes, buffers;
    double divided_s;
    rewind(told);
    if (fscanf(told, "%" SCNu64 " %" SCNu64 " %lf", &bytes, &buffers, &divided_s) != 3)
        return px_fail(err, PX_E_INTERNAL, "the run did not say what it did");
    out->divided_s = divided_s;
    out->own_s = fmax(seconds - divided_s, 0.0);
    out->processor_s = 1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) +
                       (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec);
    out->traffic = (double)bytes;
    /* Without what goes between ranks, which grows otherwise: px_run_predict() adds that. */
    out->memory = 1024.0 * (double)used->ru_maxrss - (double)buffers;
    return PX_OK;
}

px_status px_run_measure(const char *program, char *const *words, int64_t inputs,
                         px_run_sample *out, px_error *err)
{
    struct rusage used = {0};
    pid_t child = 0;
    int status = 0;
    FILE *told = tmpfile(), *said = tmpfile();
    px_status result = PX_OK;
    if (!told || !said) {
        result = pxi_file_fail(err, "a temporary file", "write");
        goto done;
    }
    const double start = px_clock_s();
    /* Above all descriptors that the child is given, so that no copy lands on another. */
    const int tell = fcntl(fileno(told), F_DUPFD, 10);
    result = tell >= 0 ? measure_spawn(program, words, tell, said, &child, err)
                       : pxi_file_fail(err, "a temporary file", "write");
    if (tell >= 0)
        close(tell);
    if (result != PX_OK)
        goto done;
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
        if (px_cancelled())
            kill(child, SIGTERM);
    *out = (px_run_sample){.inputs = inputs};
    if (px_cancelled())
        result = px_fail(err, PX_E_CANCELLED, "stopped while it was measured");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) /* 1: a gate that did not hold */
        result = measure_failed(said, err);
    else
        result = measure_told(told, px_clock_s() - start, &used, out, err);
done:
    if (told)
        fclose(told);
    if (said)
        fclose(said);
    return result;
}
