/* studies/frame/study_claim.h - a claim that is looked at case by case
 *
 *     study_claim c = {.unit = "subjects"};
 *     pxi_claim_case(&c, ours > theirs, "%s: %.1f against %.1f", title, ours, theirs);
 *     pxi_claim_end(&c, doc, "NSS finds more faults than every other method");
 *
 * It holds where all cases do, in part where some do, and is open without any.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_CLAIM_H
#define PXI_STUDY_CLAIM_H

#include "frame/document.h"

typedef struct study_claim { /* {0} is one without cases */
    const char *unit;        /* what a case is, "subjects"; NULL: not said */
    int held, run;           /* cases */
    px_text evidence;        /* a few words for each */
} study_claim;

/* Words of evidence, behind a semicolon where they are not the first. */
void pxi_claim_say(study_claim *claim, const char *format, ...) PX_PRINTF(2, 3);
/* A case and its evidence. */
void pxi_claim_case(study_claim *claim, bool held, const char *format, ...) PX_PRINTF(3, 4);
/* Puts the verdict of all cases, with its evidence, and frees that. */
void pxi_claim_end(study_claim *claim, study_document *doc, const char *text);

#endif
