/* studies/fuzz/fuzz_network.c - the networks that are fuzzed: given, fine-tuned, or trained
 *
 * ResNet-20 on CIFAR-10 is fine-tuned first: its published weights are of the original pictures,
 * and lose ten points on a copy in JPEG. All others are taken as given. The paper does not tell the
 * accuracies of its networks to be anything but what they came to, so there is none to stop at.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_training.h"
#include "fuzz/fuzz_study.h"

px_status fz_make_network(px_study *study, size_t subject, px_error *err)
{
    const study_network network = fz_network(subject);
    study_training training = {.arch = fz_subjects[subject].arch,
                               .start = pxi_study_model(study, fz_subjects[subject].model),
                               .as_given = subject != FZ_RESNET,
                               .seed = 1};
    if (training.start) { /* other pictures, not a few new ones: larger steps, as in training */
        training.lr = 0.01;
        training.epochs = FZ_TUNE_EPOCHS;
        training.colour_augment = "crop:4,flip";
    }
    return pxi_training_make(study, &network, &training, err);
}
