/* studies/fuzz/fuzz_study.h - the study of coverage criteria as guides, between its files */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_FUZZ_STUDY_H
#define PXI_STUDY_FUZZ_STUDY_H

#include "frame/study_internal.h"
#include "fuzz/fuzz_paper.h"

/* The paper's: seeds, training inputs that ranges are of, picks or seconds of a campaign. */
enum { FZ_SEEDS = 1000, FZ_PROFILE = 1000, FZ_PICKS = 10000, FZ_SECONDS = 6 * 3600 };
enum { FZ_TUNE_EPOCHS = 5 };
/* Table 12: outputs of a campaign; coverage is forgotten after so many picks without one, and a
 * campaign that needs so many picks for an output is ended. */
enum { FZ_OUTPUT_COUNT = 1000, FZ_RESET = 10, FZ_OUTPUT_PICKS = 20 };

/* What a cell was given: that many picks, or seconds; or, in the study of NSGen, outputs. Figures
 * of different ones are never mixed. */
typedef enum fz_measure {
    FZ_BY_PICKS,
    FZ_BY_SECONDS,
    FZ_MEASURES, /* of the study `fuzz` */
    FZ_BY_OUTPUTS
} fz_measure;
const char *fz_unit(fz_measure measure);                    /* "picks" */
int64_t fz_size(const px_study *study, fz_measure measure); /* that is asked for */

extern const px_study_dataset fz_datasets[FZ_DATASETS];

/* What --model can name. */
#define FZ_MODELS                                                                \
    "resnet20", "vgg16", "mobilenetv2", "cifar-100/resnet50", "cifar-100/vgg16", \
        "cifar-100/mobilenetv2", "flowers-102/resnet50", "flowers-102/vgg16",    \
        "flowers-102/mobilenetv2", "imagenet/resnet50", "imagenet/vgg16", "imagenet/mobilenetv2"

static inline size_t fz_dataset(size_t subject)
{
    return subject / FZ_NETWORKS;
}

int64_t fz_seeds(const px_study *study); /* fewer with --limit */
study_network fz_network(size_t subject);
/* What it needs and is not given: "not run: needs CIFAR-100", "... --model vgg16"; NULL: nothing.
 */
const char *fz_missing(const px_study *study, size_t subject, char buffer[96]);

/* "cifar-10 resnet20 fuzz kmnc picks", " seeds=N" behind it where they are not the paper's. */
void fz_prefix(const px_study *study, size_t subject, size_t guide, fz_measure measure,
               char key[CELL_KEY]);

/* One that is not in the cells yet: job kind "cell". */
px_status fz_plan_network(px_study *study, size_t subject, px_error *err);
px_status fz_plan_cell(px_study *study, size_t subject, size_t guide, fz_measure measure,
                       int64_t run, px_error *err);
/* FOLDER/campaigns/..., whether it is there or not; the caller frees it, NULL: out of memory. */
char *fz_campaign_path(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                       int64_t run);
size_t fz_guide_find(const char *id); /* FZ_ALL_GUIDES: there is none */

px_status fz_make_network(px_study *study, size_t subject, px_error *err);
px_status fz_run_cell(px_study *study, const study_job *job, px_error *err);

void fz_report(const px_study *study, study_document *doc);
void fz_claims(const px_study *study, study_document *doc);
/* Of the longest campaigns; of those of `size`. */
study_figure fz_figure(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                       const char *name, double paper);
study_figure fz_figure_of(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                          int64_t size, const char *name, double paper);
/* The size that the most of these guides have, the larger of equals; -1: none was run. Only cells
 * of one size can be compared. */
int64_t fz_common_size(const px_study *study, size_t subject, fz_measure measure,
                       const size_t *guides, size_t guide_count);
/* Its mean; NaN: none was run. */
double fz_value(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                const char *name);
double fz_value_of(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                   int64_t size, const char *name);
/* By picks where there are such cells, else in equal time if there are. */
fz_measure fz_measure_of(const px_study *study, size_t subject);
/* "; cifar-10 resnet20: " as the beginning of a case's evidence. */
void fz_claim_subject(px_text *evidence, size_t subject);
/* Tables 3, 4 and 12 of these guides, and what the faults are made of. */
void fz_report_guides(const px_study *study, study_document *doc, size_t subject,
                      fz_measure measure, const size_t *guides, size_t guide_count,
                      const char *what);
void fz_report_networks(const px_study *study, study_document *doc);
bool fz_was_run(const px_study *study, size_t subject, fz_measure measure);

#endif
