/* studies/frame/study_claim.h - a claim that is looked at case by case */
#ifndef PXI_STUDY_CLAIM_H
#define PXI_STUDY_CLAIM_H

#include "frame/document.h"

typedef struct study_claim { /* {0} is one without cases */
    int held, run;           /* cases */
    px_text evidence;        /* a few words for each */
} study_claim;

/* Puts the verdict of all cases, with its evidence, and frees that. */
void pxi_claim_end(study_claim *claim, study_document *doc, const char *text);

#endif
