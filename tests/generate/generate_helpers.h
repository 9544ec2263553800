/* tests/generate/generate_helpers.h - networks, data and lists of neurons for the tests here */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GENERATE_HELPERS_H
#define TESTS_GENERATE_HELPERS_H

#include "cmocka_all.h"
#include <internal/build.h>
#include <internal/synthesize.h>

#define GENERATE_PATH 300

typedef struct scene { /* a network, its data, and a probe */
    px_model *model;
    px_preprocess pre;
    px_dataset *set;
    px_probe *probe;
} scene;

/* models/raise.onnx and raise.npz of make_golden.py, and the lists that its rows take in turn. */
scene raise_scene(const char *tap);
extern const px_synthesis_list raise_lists[3];
enum { RAISE_ROWS = 12 };
/* Row i has list i % 3. */
px_synthesis_job raise_job(const scene *s);

/* The network of LGR A.11, with two classes behind it, and float data: rows of two values, and
 * their labels. `spoil` makes the named weight NaN; NULL: none. */
scene dense_scene(const char *tap, const float (*rows)[2], const int64_t *labels, int64_t count,
                  const char *spoil);
void scene_close(scene *s);

/* In a folder for this test's files. Returns `buffer`. */
const char *test_path(const char *name, char buffer[GENERATE_PATH]);
void test_folder_remove(void);

/* Fails the test, with the message, where there is an error. */
px_synthesis *synthesize_well(const px_synthesis_job *job, const px_synthesis_options *options);

/* For px_synthesis_options.emit: keeps what is handed out. `context` is a pixels_kept. */
typedef struct pixels_kept {
    size_t width; /* values of an input */
    float *exact; /* [count][width]; the caller's */
    uint8_t *bytes;
    int64_t next; /* the place that must come next */
} pixels_kept;
px_status keep_pixels(void *context, const px_synthesis_made *made, px_error *err);

#endif
