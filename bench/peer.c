/* bench/peer.c - the line protocol and the timed loop that the C peers share */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <internal/engine.h>
#include <plexor/system.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void peer_fill(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t h = (uint32_t)i * 2654435761u;
        h ^= h >> 15;
        h *= 2246822519u;
        x[i] = (float)(h >> 8) * 0x1p-23f - 1.0f;
    }
}

void peer_append(char text[PEER_TEXT], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, PEER_TEXT - used, format, args);
    va_end(args);
}

void peer_append_values(char text[PEER_TEXT], const char *key, const float *values, size_t count)
{
    peer_append(text, " %s=", key);
    for (size_t i = 0; i < count; i++)
        peer_append(text, "%s%.6g", i ? "," : "", (double)values[i]);
}

/* "ref:any", but also "ip:ref:any" of a convolution that oneDNN hands on to another primitive. */
static bool is_reference(const char *kernel)
{
    return kernel && (strncmp(kernel, "ref", 3) == 0 || strstr(kernel, ":ref"));
}

void peer_append_kernels(char text[PEER_TEXT], const px_plan *plan)
{
    size_t reference = 0;
    for (size_t i = 0; i < px_plan_step_count(plan); i++)
        reference += is_reference(px_plan_step_get(plan, i).kernel);
    peer_append(text, " reference=%zu", reference);
    for (size_t i = 0, listed = 0; i < px_plan_step_count(plan) && reference; i++) {
        const px_plan_step step = px_plan_step_get(plan, i);
        if (is_reference(step.kernel))
            peer_append(text, "%s%s:%s", listed++ ? "," : " reference_steps=", step.type,
                        step.kernel);
    }
}

/* --- the timed loop --- */

typedef struct team {
    const peer *self;
    const peer_net *net;
    double seconds;
    pthread_barrier_t start;
    atomic_bool failed; /* set by any worker, read by all */
} team;

typedef struct member {
    team *team;
    int worker;
    int64_t steps;
    double elapsed;
    char text[PEER_TEXT];
} member;

static void *member_run(void *argument)
{
    member *const m = argument;
    team *const t = m->team;
    pthread_barrier_wait(&t->start);
    const double start = px_clock_s();
    do {
        if (!t->self->step(t->net, m->worker, m->text)) {
            atomic_store(&t->failed, true);
            break;
        }
        m->steps++;
        m->elapsed = px_clock_s() - start;
    } while (m->elapsed < t->seconds && !atomic_load(&t->failed));
    return NULL;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Images per second of all workers together; each worker's own rate counts up to its own last
 * batch, so that a batch which overruns the time does not cost anything. 0 on failure. */
static double team_rate(const peer *self, const peer_net *net, double seconds, double *by_cpu,
                        char text[PEER_TEXT])
{
    static member members[PEER_WORKERS];
    pthread_t threads[PEER_WORKERS];
    team t = {.self = self, .net = net, .seconds = seconds};
    const int workers = net->workers;
    pthread_barrier_init(&t.start, NULL, (unsigned)workers);
    for (int i = 0; i < workers; i++) {
        members[i] = (member){.team = &t, .worker = i};
        if (i > 0 && pthread_create(&threads[i], NULL, member_run, &members[i]) != 0) {
            fputs("peer: cannot start a thread\n", stderr);
            exit(3); /* the others wait at the barrier for ever */
        }
    }
    const double cpu = cpu_seconds();
    member_run(&members[0]);
    for (int i = 1; i < workers; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&t.start);
    const double used = cpu_seconds() - cpu;
    int64_t images = 0;
    double rate = 0.0;
    for (int i = 0; i < workers; i++) {
        if (atomic_load(&t.failed)) {
            if (members[i].text[0])
                memcpy(text, members[i].text, PEER_TEXT);
            continue;
        }
        images += members[i].steps * net->batch;
        rate += (double)(members[i].steps * net->batch) / members[i].elapsed;
    }
    *by_cpu = (double)images * net->threads / used;
    return rate;
}

/* --- requests --- */

typedef struct table {
    peer_net net;
    bool used;
} table;

static void reply_error(const char *text)
{
    fputs("error ", stdout);
    for (const char *c = text; *c; c++)
        putchar(*c == '\n' ? ' ' : *c);
    putchar('\n');
}

static void answer_open(const peer *self, table *nets, const char *line)
{
    peer_request request = {0};
    char text[PEER_TEXT] = "";
    int id = -1;
    long long batch = 0;
    if (sscanf(line, "open %d %1023s %15s %lld %d %15s", &id, request.model, request.kind, &batch,
               &request.threads, request.layout) != 6 ||
        id < 0 || id >= PEER_NETS || nets[id].used || request.threads < 1 ||
        request.threads > PEER_WORKERS || batch < 0) {
        reply_error("malformed request");
        return;
    }
    request.batch = batch;
    nets[id].net = (peer_net){.threads = request.threads};
    if (self->open(&request, &nets[id].net, text)) {
        nets[id].used = true;
        printf("ready batch=%lld%s\n", (long long)nets[id].net.batch, text);
    } else {
        self->close(&nets[id].net);
        reply_error(text);
    }
}

static void answer(const peer *self, table *nets, const char *line)
{
    int id = -1;
    double seconds = 0.0, by_cpu = 0.0;
    char text[PEER_TEXT] = "";
    if (strncmp(line, "open ", 5) == 0) {
        answer_open(self, nets, line);
    } else if (strncmp(line, "peak", 4) == 0) {
        px_error err = {0};
        double gflops = 0.0;
        if (px_peak_gflops(1, &gflops, &err) == PX_OK)
            printf("peak %.1f\n", gflops);
        else
            reply_error(err.message);
    } else if (sscanf(line, "run %d %lf", &id, &seconds) == 2 && id >= 0 && id < PEER_NETS &&
               nets[id].used) {
        const double rate = team_rate(self, &nets[id].net, seconds, &by_cpu, text);
        if (rate > 0.0)
            printf("rate %.2f %.2f\n", rate, by_cpu);
        else
            reply_error(text);
    } else if (sscanf(line, "close %d", &id) == 1 && id >= 0 && id < PEER_NETS && nets[id].used) {
        self->close(&nets[id].net);
        nets[id].used = false;
        puts("closed");
    } else {
        reply_error("malformed request");
    }
    fflush(stdout);
}

int peer_serve(const peer *self)
{
    static table nets[PEER_NETS];
    char line[2048];
    while (fgets(line, sizeof line, stdin))
        answer(self, nets, line);
    for (int i = 0; i < PEER_NETS; i++)
        if (nets[i].used)
            self->close(&nets[i].net);
    return 0;
}
