/* src/study/fuzz_study.h - the study of coverage criteria as guides, between its files */
#ifndef PXI_STUDY_FUZZ_STUDY_H
#define PXI_STUDY_FUZZ_STUDY_H

#include "study/fuzz_paper.h"
#include "study/study_inside.h"

/* The paper's: seeds, training inputs that ranges are of, picks or seconds of a campaign. */
enum { FZ_SEEDS = 1000, FZ_PROFILE = 1000, FZ_PICKS = 10000, FZ_SECONDS = 6 * 3600 };
enum { FZ_TUNE_EPOCHS = 5 };

/* What a cell was given: that many picks, or seconds. Figures of the two are never mixed. */
typedef enum fz_measure { FZ_BY_PICKS, FZ_BY_SECONDS, FZ_MEASURES } fz_measure;

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

px_status fz_make_network(px_study *study, size_t subject, px_error *err);
px_status fz_run_cell(px_study *study, const study_job *job, px_error *err);

void fz_report(const px_study *study, study_document *doc);
void fz_claims(const px_study *study, study_document *doc);
study_figure fz_figure(const px_study *study, size_t subject, size_t guide, fz_measure measure,
                       const char *name, double paper);
bool fz_was_run(const px_study *study, size_t subject, fz_measure measure);

#endif
