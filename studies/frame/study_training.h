/* studies/frame/study_training.h - networks of studies that are given, tuned or trained in their
 * own ways
 *
 * Where pxi_network_make() stops at an accuracy, these have a recipe. FOLDER/models has the result
 * with all that is needed to feed it; a file that is there is used as it is.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_TRAINING_H
#define PXI_STUDY_TRAINING_H

#include "frame/study_internal.h"

typedef struct study_training {
    const char *arch;  /* of the zoo */
    const char *start; /* a network's file to begin with; NULL: a new one */
    bool as_given;     /* `start` is not trained */
    uint64_t seed;     /* of weights and shuffles */
    const char *audio; /* how recordings become features, as px_audio_parse() takes it; NULL: the
                          default */
    /* 0: the recipe's, which is that of the architecture, or of fine-tuning. */
    double lr;
    int64_t epochs, batch;
    const char *colour_augment; /* of pictures with three channels; NULL: the recipe's */
    double until;               /* accuracy to stop at; 0: none. Missing it is no failure */
    /* Faulty training: px_feeder_options has the meaning. */
    double pollute;
    int64_t polluted_class;
    int patch_min, patch_max;
} study_training;

/* Makes the network that `network` names, or takes the one that is there; judges it on the test
 * part and puts its cell: accuracy, epochs, steps, train_accuracy, polluted, hash. */
px_status pxi_training_make(px_study *study, const study_network *network,
                            const study_training *training, px_error *err);

#endif
