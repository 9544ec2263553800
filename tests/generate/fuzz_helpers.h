/* tests/generate/fuzz_helpers.h - campaigns on the procedural digits */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GENERATE_FUZZ_HELPERS_H
#define TESTS_GENERATE_FUZZ_HELPERS_H

#include <plexor/fuzz.h>
#include <plexor/onnx.h>

enum { FUZZ_TEXTS = 8 };

typedef struct fuzz_case { /* {0} with a policy is a valid start */
    const char *folder, *model, *data, *guide, *engine, *preset, *policy, *mutations;
    const char *settings[FUZZ_TEXTS]; /* NULL-terminated */
    int64_t limit, seeds;             /* of the data; 0: 200 and 20 */
    uint64_t seed;
    int threads;
    bool resume, store_float;
    bool (*progress)(void *context, const px_fuzz_report *report);
    void *context;
} fuzz_case;

typedef struct fuzz_scene {
    px_campaign *campaign;
    px_model *model;
    px_preprocess pre;
    px_dataset *set;
    px_profile *profile;
    px_cover *cover;
    /* Of guides "nsgen...": words that name units by their numbers, in four colours. */
    px_bank *bank;
    px_paths *paths;
    px_text_encoder *encoder;
    px_path_judge *judge;
    px_threshold threshold;
    px_fuzz_paths by_paths;
    bool has_paths;
    px_fuzz *fuzz;
} fuzz_scene;

/* Everything up to px_fuzz_new(). On failure what was opened is closed. */
px_status fuzz_scene_open(const fuzz_case *c, fuzz_scene *out, px_error *err);
void fuzz_scene_close(fuzz_scene *s);

/* The same, a run to the limits, and closing; the report's texts are gone. */
px_status fuzz_case_run(const fuzz_case *c, const px_fuzz_limits *limits, px_fuzz_report *report,
                        px_error *err);
/* Of a campaign that nobody writes. */
px_status fuzz_digest(const char *folder, uint64_t *out, px_error *err);

#endif
