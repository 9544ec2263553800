/* fuzz/fuzz_csv.c - CSV manifests: rows are texts with a path */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pxi_manifest_row *rows = NULL;
    size_t count = 0;
    px_error err = {0};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, bytes, size);
    if (pxi_manifest_parse(text, size, "fuzz", &rows, &count, &err) != PX_OK) {
        if (!strstr(err.message, "'fuzz'"))
            abort();
    } else {
        for (size_t i = 0; i < count; i++)
            if (!rows[i].path[0] ||
                strlen(rows[i].path) + strlen(rows[i].label) + strlen(rows[i].split) > size)
                abort();
        free(rows);
    }
    free(text);
    return 0;
}
