/* bench/mutate_speed.c - how many pictures a second a mutation makes
 *
 *     mutate_speed C H W SECONDS TEXT ...
 *
 * Pictures are random, 64 of them in turn; one thread. Prints one JSON object, text -> pictures
 * per second of wall clock and of CPU.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/mutate.h>
#include <internal/rng.h>
#include <plexor/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PICTURES = 64 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static px_status speed(const char *text, const uint8_t *in, uint8_t *out, const int shape[3],
                       double least, px_json *json, px_error *err)
{
    const size_t size = (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
    px_drawn drawn;
    PX_TRY(px_drawn_parse(text, &drawn, err));
    double wall = 0.0;
    const double start = seconds(CLOCK_MONOTONIC), start_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t count = 0;
    for (; wall < least; wall = seconds(CLOCK_MONOTONIC) - start)
        for (int i = 0; i < PICTURES; i++, count++)
            PX_TRY(px_mutation_apply(&drawn, in + (size_t)i * size, out, shape[1], shape[2],
                                     shape[0], err));
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
    px_json_object(json, text);
    px_json_real(json, "wall", (double)count / wall);
    px_json_real(json, "cpu", (double)count / cpu);
    px_json_end(json);
    return PX_OK;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fputs("usage: mutate_speed C H W SECONDS TEXT ...\n", stderr);
        return 2;
    }
    int shape[3];
    size_t size = 1;
    for (int i = 0; i < 3; i++) {
        shape[i] = atoi(argv[1 + i]);
        if (shape[i] < 1 || shape[i] > 4096)
            return 2;
        size *= (size_t)shape[i];
    }
    uint8_t *in = malloc(size * PICTURES), *out = malloc(size);
    px_error err = {0};
    px_json json = {0};
    px_status status = in && out ? PX_OK : px_fail(&err, PX_E_NOMEM, "out of memory");
    px_random random = px_rng(1, PX_RNG_BENCH, 0, 0);
    for (size_t i = 0; status == PX_OK && i < size * PICTURES; i++)
        in[i] = (uint8_t)(px_rng_u32(&random) >> 24);
    px_json_object(&json, NULL);
    for (int i = 5; i < argc && status == PX_OK; i++)
        status = speed(argv[i], in, out, shape, atof(argv[4]), &json, &err);
    px_json_end(&json);
    if (status == PX_OK)
        puts(px_json_text(&json));
    else
        fprintf(stderr, "mutate_speed: %s\n", err.message);
    px_json_done(&json);
    free(in);
    free(out);
    return status == PX_OK ? 0 : 3;
}
