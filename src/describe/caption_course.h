/* src/describe/caption_course.h - teaching one of a captioner's networks
 *
 *     PX_TRY(pxi_course_new(&plan, &course, err));
 *     for (epoch = 0; ...; epoch++)
 *         PX_TRY(pxi_course_epoch(course, epoch, &loss, err));
 *
 * A batch is cut into blocks of a fixed number of captions, longest first; workers take blocks,
 * each of which has gradients of its own, and these are added in the order of blocks. So nothing
 * depends on the number of workers.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTION_COURSE_H
#define PXI_DESCRIBE_CAPTION_COURSE_H

#include "base/worker_pool.h"
#include "describe/caption_net.h"

#include <internal/captioner.h>

typedef struct pxi_course pxi_course;

typedef struct pxi_course_plan { /* all borrowed */
    const pxi_net *net;
    bool language;  /* the language model; the decoder otherwise */
    float *weights; /* of the network: what is taught */
    int32_t start;  /* the word that captions begin with */
    size_t steps;   /* of the longest caption */
    const pxi_sample *samples;
    size_t count;
    const float *features; /* as given, by unit; the decoder's */
    const pxi_standard *standard;
    const px_captioner_options *options;
    px_pool *pool;
    int64_t progress_base, progress_total; /* captions done before, and in all */
} pxi_course_plan;

px_status pxi_course_new(const pxi_course_plan *plan, pxi_course **out, px_error *err);
void pxi_course_free(pxi_course *course); /* NULL is fine */

/* All samples once, in an order of the epoch's own. The loss is that of the words, per word, and
 * the penalties, as they were trained on. */
px_status pxi_course_epoch(pxi_course *course, int64_t epoch, double *loss, px_error *err);

/* One batch of at most options->batch samples: forward, backward, and a step of AdamW. Adds to the
 * sums. */
typedef struct pxi_course_sums {
    double losses, penalties; /* over words; over captions, each the mean over vectors */
    int64_t words, captions;
} pxi_course_sums;
px_status pxi_course_step(pxi_course *course, const pxi_sample **batch, size_t count, int64_t epoch,
                          pxi_course_sums *sums, px_error *err);

/* The loss per word of other samples, nothing dropped. */
px_status pxi_course_judge(pxi_course *course, const pxi_sample *samples, size_t count,
                           double *loss, px_error *err);

#endif
