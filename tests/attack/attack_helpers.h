/* tests/attack/attack_helpers.h - networks and data for the tests here */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ATTACK_ATTACK_HELPERS_H
#define TESTS_ATTACK_ATTACK_HELPERS_H

#include "cmocka_all.h"

#include <plexor/attack.h>
#include <plexor/onnx.h>

typedef struct scene {
    px_model *model;
    px_preprocess pre;
    px_dataset *set;
} scene;

void check(px_status status, const px_error *err);

/* models/net.onnx and models/data.npz of make_golden.py: 8-bit pictures. */
enum { NET_ROWS = 6, NET_WRONG = 4, NET_CLASSES = 5, NET_SIZE = 192 };
scene net_scene(void);

/* LGR E.8: z = W x + b on float data in 0..1; `wrap`: an operator between x and the dense one
 * (NULL: none). A label below 0 for all: the data have none. */
extern const float affine_w[6], affine_b[3];
scene affine_scene(const float (*rows)[2], const int64_t *labels, int64_t count, const char *wrap);
void scene_close(scene *s);
void test_folder_remove(void);

px_attack *attack_well(const scene *s, const px_attack_options *options);
px_attack_summary sum_of(const px_attack *attack);

/* For px_attack_options.emit. */
typedef struct results {
    int64_t next;
    size_t width;
    float *original, *exact; /* [count][width] */
    uint8_t *bytes;
} results;
results results_new(int64_t count, size_t width);
px_status results_keep(void *context, const px_attack_made *made, px_error *err);
void results_free(results *r);

#endif
