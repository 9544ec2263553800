/* include/internal/doctor.h - what is wrong with how a network and its data are put together
 *
 *     px_doctor_options options = px_doctor_options_default();
 *     options.model = model;
 *     options.set = set;
 *     options.pre = &pre;
 *     if (px_doctor_new(&options, &doctor, &err) == PX_OK)
 *         for (size_t i = 0; i < px_doctor_count(doctor); i++)
 *             puts(px_doctor_get(doctor, i)->sentence);
 *     px_doctor_free(doctor);
 *
 * A finding is said only where it was measured: advice on preprocessing comes from running the
 * network on the same inputs both ways, and from a gain that chance does not explain.
 * docs/doctor.md has every finding, its threshold and its error.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_DOCTOR_H
#define PXI_INTERNAL_DOCTOR_H

#include <plexor/field.h>
#include <plexor/predict.h>

PX_BEGIN_DECLS

typedef struct px_doctor px_doctor;

typedef enum px_finding_level {
    PX_FINDING_INFO,    /* good to know */
    PX_FINDING_WARNING, /* results may not mean what they say */
    PX_FINDING_ERROR,   /* results do not mean what they say */
} px_finding_level;
const char *px_finding_level_name(px_finding_level level); /* "info", "warning", "error" */

typedef struct px_finding {
    const char *id; /* "preprocess", "values", "not-finite", "one-class", ... */
    px_finding_level level;
    const char *sentence;
    const char *advice; /* what to do about it; NULL: nothing is advised */
    int64_t count;      /* of inputs or classes that it is about; 0: of the whole */
    size_t input_count; /* names of the first of them */
    const char *const *inputs;
} px_finding;

typedef struct px_doctor_options { /* borrowed while px_doctor_new() runs */
    const px_model *model;
    const px_dataset *set;
    const px_preprocess *pre;          /* as px_dataset_open_for() left it */
    const px_dataset *train;           /* in the same shape; NULL: none */
    const px_predictions *predictions; /* of all of the set; NULL: they are made, of a sample */
    bool quick;                        /* beside an evaluation: without what is only good to know */
    bool failures; /* the data are failures of some network: accuracy says nothing of preprocessing
                    */
    int threads;   /* <= 0: one per core */
    px_progress_fn progress;
    void *context;
} px_doctor_options;
px_doctor_options px_doctor_options_default(void);

/* Examines; on PX_OK the caller owns *out, whose findings are in order of importance. */
px_status px_doctor_new(const px_doctor_options *options, px_doctor **out, px_error *err);
void px_doctor_free(px_doctor *doctor); /* NULL is fine */

size_t px_doctor_count(const px_doctor *doctor);
const px_finding *px_doctor_get(const px_doctor *doctor, size_t i); /* NULL beyond */
/* The first finding of that id; NULL: there is none. */
const px_finding *px_doctor_find(const px_doctor *doctor, const char *id);
/* Where answers are no better than guessing: the finding that explains it best, or what to look at
 * where none does. */
const char *px_doctor_why_guessing(const px_doctor *doctor);
/* The preprocessing that the finding "preprocess" advises; NULL without one. */
const px_preprocess *px_doctor_preprocess(const px_doctor *doctor);
extern const px_field px_doctor_fields[]; /* a member `findings`, a list of objects */

PX_END_DECLS
#endif
