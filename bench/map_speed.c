/* bench/map_speed.c - px_tsne() alone, for bench/map
 *
 *     map_speed POINTS.npy exact|tree|auto THREADS [ITERATIONS [COMPONENTS [OUT.npy]]]
 *
 * Prints one line: seconds, KL divergence, iterations, trustworthiness (5 neighbours).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/tsne.h>
#include <plexor/data.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static px_status save(const char *path, const px_tsne_map *map, px_error *err)
{
    const px_tensor y = {
        .dtype = PX_FLOAT64, .shape = {.rank = 2, .dim = {(int64_t)map->count, 2}}, .data = map->y};
    return px_npy_save(path, &y, err);
}

int main(int argc, char **argv)
{
    px_error err = {0};
    px_tensor x = {0};
    px_tsne_map map = {0};
    px_tsne_options options = px_tsne_options_default();
    if (argc < 4) {
        fputs("usage: map_speed POINTS.npy exact|tree|auto THREADS [ITERATIONS [COMPONENTS "
              "[OUT.npy]]]\n",
              stderr);
        return 2;
    }
    options.method = strcmp(argv[2], "exact") == 0  ? PX_TSNE_ALL_PAIRS
                     : strcmp(argv[2], "tree") == 0 ? PX_TSNE_BARNES_HUT
                                                    : PX_TSNE_AUTO;
    options.threads = atoi(argv[3]);
    options.iterations = argc > 4 ? atoi(argv[4]) : options.iterations;
    options.components = argc > 5 ? atoi(argv[5]) : options.components;
    px_status status = px_npy_load(argv[1], &x, &err);
    if (status == PX_OK && (x.dtype != PX_FLOAT32 || x.shape.rank != 2))
        status = px_fail(&err, PX_E_INPUT, "'%s': expected float32 of two axes", argv[1]);
    if (status == PX_OK) {
        const size_t n = (size_t)x.shape.dim[0], d = (size_t)x.shape.dim[1];
        double trust = 0.0;
        const double start = px_clock_s();
        status = px_tsne(x.data, n, d, &options, &map, &err);
        const double seconds = px_clock_s() - start;
        if (status == PX_OK)
            status = px_trustworthiness(x.data, n, d, map.y, 5, 0, options.threads, &trust, &err);
        if (status == PX_OK && argc > 6)
            status = save(argv[6], &map, &err);
        if (status == PX_OK)
            printf("%.3f %.6f %d %.6f\n", seconds, map.kl, map.iterations, trust);
    }
    if (status != PX_OK)
        fprintf(stderr, "map_speed: %s\n", err.message);
    px_tsne_map_done(&map);
    px_tensor_done(&x);
    return status == PX_OK ? 0 : 2;
}
