/* fuzz/fuzz_milan.c - exemplars and annotations in the layout of MILANNOTATIONS
 *
 * The first byte says which file of a small, otherwise sound folder the rest is. Whatever loads is
 * looked at: every mask and every picture.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/npy.h"
#include <internal/exemplars.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UNITS = 2, TOP = 3, SIDE = 4, PATH = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const names[] = {"layer/images.npy",      "layer/masks.npy", "layer/maps.npy",
                                    "layer/units.npy",       "layer/ids.csv",   "layer/levels.csv",
                                    "layer/activations.csv", "exemplars.json",  "annotations.csv"};
enum { NAMES = sizeof names / sizeof names[0] };
static char folder[PATH / 2];

static void put(int which, const void *bytes, size_t size)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, names[which]);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void put_array(int which, px_dtype dtype, px_shape shape)
{
    static uint8_t bytes[PXI_NPY_HEADER_MAX + UNITS * TOP * 3 * SIDE * SIDE];
    const size_t size = pxi_npy_format(dtype, &shape, bytes);
    put(which, bytes, size + (size_t)px_shape_count(&shape) * px_dtype_size(dtype));
}

/* What is sound. */
static void restore(int which)
{
    static const char *const texts[] = {"1,2,3\n4,5,6\n", "unit,level\n0,1,0,2,0,0\n1,1,0,2,0,0\n",
                                        "9,8,7\n6,5,4\n", "{\"version\":1,\"layers\":[\"layer\"]}",
                                        "layer,unit,summary\nlayer,0,words\n"};
    switch (which) {
    case 0:
        put_array(0, PX_UINT8, (px_shape){5, {UNITS, TOP, 3, SIDE, SIDE}});
        break;
    case 1:
        put_array(1, PX_UINT8, (px_shape){5, {UNITS, TOP, 1, SIDE, SIDE}});
        break;
    case 2:
        put_array(2, PX_FLOAT32, (px_shape){4, {UNITS, TOP, 2, 2}});
        break;
    case 3:
        put_array(3, PX_INT64, (px_shape){1, {UNITS}});
        break;
    default:
        put(which, texts[which - 4], strlen(texts[which - 4]));
    }
}

static void remove_all(void)
{
    char path[PATH];
    for (int i = 0; i < NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/layer", folder);
    rmdir(path);
    rmdir(folder);
}

static void start(void)
{
    const char *top = getenv("TMPDIR");
    char path[PATH];
    snprintf(folder, sizeof folder, "%s/plexor-milan-XXXXXX", top && *top ? top : "/tmp");
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/layer", folder);
    if (mkdir(path, 0700) != 0)
        abort();
    atexit(remove_all);
    for (int i = 0; i < NAMES; i++)
        restore(i);
}

static void look(const px_exemplars *e)
{
    const px_exemplar_facts f = px_exemplars_facts(e);
    const size_t plane = (size_t)f.height * (size_t)f.width;
    uint8_t *bytes = plane < 1 << 20 ? malloc(3 * plane) : NULL, mask[9];
    for (size_t l = 0; l < px_exemplars_layer_count(e); l++)
        for (int64_t u = 0; u < px_exemplars_layer(e, l)->units && u < 4; u++)
            for (int64_t j = 0; j < px_exemplars_unit(e, l, u).count; j++) {
                (void)px_exemplars_mask(e, l, u, j, 3, 3, mask, NULL);
                if (bytes)
                    (void)px_exemplars_picture(e, l, u, j, bytes, NULL);
            }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static bool started;
    if (!started)
        start();
    started = true;
    if (size == 0)
        return 0;
    const int which = bytes[0] % NAMES;
    char path[PATH];
    px_error err = {0};
    px_exemplars *e = NULL;
    px_milan_annotations *a = NULL;
    put(which, bytes + 1, size - 1);
    if (px_exemplars_load(folder, &e, &err) == PX_OK)
        look(e);
    else if (!strstr(err.message, "'"))
        abort();
    px_exemplars_free(e);
    snprintf(path, sizeof path, "%s/annotations.csv", folder);
    if (px_milan_annotations_load(path, &a, &err) == PX_OK)
        for (size_t i = 0; i < px_milan_annotations_count(a); i++)
            if (!px_milan_annotations_get(a, i)->summary[0])
                abort();
    px_milan_annotations_free(a);
    restore(which);
    return 0;
}
