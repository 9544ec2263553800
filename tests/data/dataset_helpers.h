/* tests/data/dataset_helpers.h - data sets opened, refused, and made of small pictures */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DATASET_HELPERS_H
#define TESTS_DATASET_HELPERS_H

#include "data/data_helpers.h"
#include <internal/picture.h>
#include <plexor/data.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static inline px_dataset *open_set(const char *spec, const px_data_options *options)
{
    px_dataset *set = NULL;
    px_error err = {0};
    if (px_dataset_open(spec, options, &set, &err) != PX_OK)
        fail_msg("%s", err.message);
    return set;
}

static inline void refuse(const char *spec, const px_data_options *options, px_status status,
                          const char *says)
{
    px_dataset *set = NULL;
    px_error err = {0};
    const px_status got = px_dataset_open(spec, options, &set, &err);
    if (got != status || !strstr(err.message, says))
        fail_msg("'%s': %s '%s'", spec, px_status_name(got), err.message);
}

/* A picture of one colour. */
static inline void write_picture(const char *path, int width, int height, int channels,
                                 uint8_t value)
{
    px_error err = {0};
    uint8_t pixels[64 * 64 * 3];
    memset(pixels, value, sizeof pixels);
    if (px_png_save(path, width, height, channels, pixels, &err) != PX_OK)
        fail_msg("%s", err.message);
}

/* set/{train,test}/{ant,bee,cat}; ant has three pictures, bee one, cat two. The value of a picture
 * is 10 * class + number, 100 more in train. */
static inline void write_folders(const char *root)
{
    static const char *const splits[] = {"test", "train"}, *const classes[] = {"ant", "bee", "cat"};
    static const int counts[] = {3, 1, 2};
    char path[256];
    mkdir(root, 0777);
    for (int s = 0; s < 2; s++) {
        snprintf(path, sizeof path, "%s/%s", root, splits[s]);
        mkdir(path, 0777);
        for (int c = 0; c < 3; c++) {
            snprintf(path, sizeof path, "%s/%s/%s", root, splits[s], classes[c]);
            mkdir(path, 0777);
            for (int i = 0; i < counts[c]; i++) {
                snprintf(path, sizeof path, "%s/%s/%s/%d.png", root, splits[s], classes[c], i);
                write_picture(path, 4, 3, 1, (uint8_t)(100 * s + 10 * c + i));
            }
        }
    }
    snprintf(path, sizeof path, "%s/test/ant/notes.txt", root);
    write_text(path, "not a picture");
    snprintf(path, sizeof path, "%s/test/.hidden", root);
    mkdir(path, 0777);
}

#endif
