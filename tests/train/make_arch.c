/* tests/train/make_arch.c - saves networks of the zoo, for tests in other languages
 *
 *     make_arch FOLDER [NAME CHANNELS HEIGHT WIDTH CLASSES]...
 *
 * Writes FOLDER/NAME.onnx and prints a line "NAME PARAMETERS STATISTICS" for each; 0 means what the
 * architecture was made for. Without names: counts all of the list.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/arch.h>
#include <plexor/onnx.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int count(const char *name, const px_arch_options *options)
{
    int64_t parameters, statistics;
    px_error err = {0};
    if (px_arch_parameters(name, options, &parameters, &statistics, &err) != PX_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%s %" PRId64 " %" PRId64 "\n", name, parameters, statistics);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2 || (argc - 2) % 5 != 0) {
        fputs("usage: make_arch FOLDER [NAME CHANNELS HEIGHT WIDTH CLASSES]...\n", stderr);
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < px_arch_count() && argc == 2; i++)
        failed |= count(px_arch_get(i)->entry.id, NULL);
    for (int a = 2; a < argc; a += 5) {
        px_arch_options options = px_arch_options_default();
        options.channels = atoi(argv[a + 1]);
        options.height = atoi(argv[a + 2]);
        options.width = atoi(argv[a + 3]);
        options.classes = atoi(argv[a + 4]);
        options.seed = 3;
        px_model *model = NULL;
        px_error err = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.onnx", argv[1], argv[a]);
        if (px_arch_build(argv[a], &options, &model, &err) != PX_OK ||
            px_model_save(model, path, &err) != PX_OK) {
            fprintf(stderr, "%s\n", err.message);
            failed = 1;
        }
        px_model_free(model);
        failed |= count(argv[a], &options);
    }
    return failed;
}
