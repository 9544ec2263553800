/* fuzz/fuzz_suspicious.c - lists of neurons that a stranger wrote: what loads saves as the same */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/localize.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use_list(const px_suspicious *list, const char *path)
{
    px_suspicious *again = NULL;
    px_error err = {0};
    size_t found = 0, count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const px_suspect *s = &list->items[i];
        if (s->rank < 1 || s->unit < 0 || !s->layer || s->hits.as < 0 || s->hits.nf < 0)
            abort();
        if (i == 0 || s->class_index != s[-1].class_index) {
            if (!px_suspicious_class(list, s->class_index, &count))
                abort();
            found += count;
        }
    }
    if (found != list->count) /* class after class, none twice */
        abort();
    char *layers = px_suspicious_layers(list);
    free(layers);
    if (px_suspicious_save(list, path, &err) != PX_OK ||
        px_suspicious_open(path, &again, &err) != PX_OK || again->count != list->count ||
        strcmp(again->measure, list->measure) != 0 || again->model_hash != list->model_hash)
        abort();
    px_suspicious_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char path[64];
    px_suspicious *list = NULL;
    px_error err = {0};
    if (!path[0])
        snprintf(path, sizeof path, "/tmp/fuzz_suspicious.%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0)
        abort();
    if (px_suspicious_open(path, &list, &err) == PX_OK)
        use_list(list, path);
    else if (!err.message[0])
        abort();
    px_suspicious_free(list);
    remove(path);
    return 0;
}
