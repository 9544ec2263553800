/* fuzz/fuzz_threshold.c - files of tau: what loads has sound numbers, and saves as the same */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/decision_path.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char path[64];
    px_threshold first = {0}, again = {0};
    px_error err = {0};
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/fuzz_threshold.%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0)
        abort();
    if (px_threshold_load(path, &first, &err) == PX_OK) {
        for (int m = 0; m < PX_PATH_MODE_COUNT; m++)
            if (first.of[m].known && !isfinite(first.of[m].tau))
                abort();
        if (px_threshold_save(&first, path, &err) != PX_OK ||
            px_threshold_load(path, &again, &err) != PX_OK || again.pairs != first.pairs ||
            again.model != first.model ||
            memcmp(&again.of[0].tau, &first.of[0].tau, sizeof again.of[0].tau) != 0)
            abort();
    } else if (!err.message[0]) {
        abort();
    }
    remove(path);
    return 0;
}
