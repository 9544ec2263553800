/* studies/deepsensor/deepsensor_network.c - the networks: well trained, polluted, under- and
 * over-trained
 *
 * Table 2 and section 6.4; LGR B.7. A network that is given is the well-trained one, as it is. The
 * others are trained here, from nothing: with patches in a share of the training inputs, too short,
 * or too long. The paper's batches are kept, its optimisers are not told: those of the zoo's recipe
 * are taken, their rate by the size of the batch.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"
#include "frame/study_training.h"

#include "base/memory.h"

#include <internal/train.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t ds_seeds(const px_study *study)
{
    const int64_t limit = study->options.limit;
    return limit > 0 && limit < DS_SEEDS ? limit : DS_SEEDS;
}

int64_t ds_iterations(const px_study *study)
{
    return study->options.each_pieces ? study->options.each_pieces : DS_ITERATIONS;
}

bool ds_is_audio(size_t subject)
{
    return subject >= DS_PICTURES;
}

size_t ds_faulty_of(size_t subject)
{
    size_t f = 0;
    const size_t twin =
        subject == DS_FSDD_SPEAKER || subject == DS_FSDD_SMALL || subject == DS_FSDD_RESNET34
            ? DS_SPEAKER
            : subject;
    while (f < DS_FAULTY && ds_faulty_ways[f].subject != twin)
        f++;
    return f;
}

int64_t ds_polluted_class(size_t subject, size_t state)
{
    const size_t f = ds_faulty_of(subject);
    return ds_states[state].pollute > 0.0 && f < DS_FAULTY ? ds_faulty_ways[f].polluted_class : -1;
}

study_network ds_network(size_t subject, size_t state, char arch[DS_ARCH])
{
    snprintf(arch, DS_ARCH, "%s%s%s", ds_subjects[subject].arch, state == DS_CLEAN ? "" : "-",
             state == DS_CLEAN ? "" : ds_states[state].id);
    return (study_network){.dataset = ds_subjects[subject].dataset, .arch = arch, .number = 1};
}

/* Faulty networks that can be made here: small ones, and pollution where its class is known. */
static bool network_trains(size_t subject, size_t state)
{
    const ds_subject *s = &ds_subjects[subject];
    const size_t f = ds_faulty_of(subject);
    if (!s->zoo || state == DS_CLEAN)
        return s->zoo != NULL;
    return f < DS_FAULTY &&
           (!(ds_states[state].pollute > 0.0) || ds_faulty_ways[f].polluted_class >= 0);
}

bool ds_has_network(const px_study *study, size_t subject, size_t state)
{
    char arch[DS_ARCH];
    const study_network network = ds_network(subject, state, arch);
    return network_trains(subject, state) || pxi_network_done(study, &network) ||
           (state == DS_CLEAN && pxi_study_model(study, ds_subjects[subject].model));
}

const char *ds_missing(const px_study *study, size_t subject, size_t state, char buffer[STUDY_NOTE])
{
    char words[64], arch[DS_ARCH];
    const ds_subject *s = &ds_subjects[subject];
    if (!pxi_study_spec(study, s->dataset) &&
        strcmp(pxi_study_missing(study, s->dataset, words), "not run") != 0) /* nor was it */
        snprintf(buffer, STUDY_NOTE, "%s", words);
    else if ((subject == DS_FSDD_RESNET34 || subject == DS_FSDD_SPEAKER) && !study->options.arch)
        snprintf(buffer, STUDY_NOTE, "not run: takes days, and is run where --arch %s says so",
                 s->arch);
    else if (!ds_has_network(study, subject, state) && state == DS_CLEAN)
        snprintf(buffer, STUDY_NOTE, "not run: needs --model %s=PATH", s->model);
    else if (!ds_has_network(study, subject, state))
        snprintf(buffer, STUDY_NOTE,
                 "not run: needs models/%s_%s_1.onnx, which takes days to train", s->dataset,
                 ds_network(subject, state, arch).arch);
    else
        return NULL;
    return buffer;
}

double ds_network_seconds(const px_study *study, size_t subject, size_t state)
{
    if (state == DS_CLEAN && pxi_study_model(study, ds_subjects[subject].model))
        return 10.0;
    if (ds_is_audio(subject))
        return subject == DS_FSDD_SMALL ? 120.0 : 1800.0;
    return subject == DS_RESNET20 ? 1500.0
           : state == DS_UNDER    ? 15.0
           : state == DS_OVER     ? 300.0
           : state == DS_CLEAN    ? 90.0
                                  : 120.0;
}

/* The recipe's rate is for batches of 128; Adam's does not go by them. */
static double network_rate(const char *arch, double batch)
{
    const px_recipe recipe = px_recipe_get(arch, 1);
    return strncmp(recipe.optimizer, "sgd", 3) == 0 ? recipe.lr * fmin(batch / 128.0, 1.0)
                                                    : recipe.lr;
}

/* Spoken digits last half a second; VCTK's sentences have Deep Speaker's own length. */
static const char *network_audio(size_t subject)
{
    return strcmp(ds_subjects[subject].dataset, "fsdd") == 0 ? "frames=64" : NULL;
}

px_status ds_make_network(px_study *study, size_t subject, size_t state, px_error *err)
{
    const ds_subject *s = &ds_subjects[subject];
    char arch[DS_ARCH];
    const study_network network = ds_network(subject, state, arch);
    study_training training = {.arch = s->zoo, .seed = 1, .audio = network_audio(subject)};
    if (state == DS_CLEAN) {
        training.start = pxi_study_model(study, s->model);
        training.as_given = true;
    } else {
        const ds_faulty *f = &ds_faulty_ways[ds_faulty_of(subject)];
        const bool polluted = ds_states[state].pollute > 0.0;
        const double epochs = polluted            ? f->epochs
                              : state == DS_UNDER ? f->under_epochs
                                                  : f->over_epochs;
        const double batch = polluted            ? f->batch
                             : state == DS_UNDER ? f->under_batch
                                                 : f->over_batch;
        training.epochs = (int64_t)epochs;
        training.batch = (int64_t)batch;
        training.lr = network_rate(s->zoo, batch);
        training.pollute = ds_states[state].pollute;
        if (polluted) {
            training.polluted_class = f->polluted_class;
            training.patch_min = (int)f->patch_min;
            training.patch_max = (int)f->patch_max;
        }
        if (state == DS_UNDER)
            training.until = f->under_accuracy / 100.0;
    }
    return pxi_training_make(study, &network, &training, err);
}

/* --- rivals of DeepXplore --------------------------------------------------------------------- */

static const struct {
    size_t subject;
    ds_rival rivals[DS_RIVALS];
} rival_lists[] = {
    {DS_LENET1, {{"lenet4", "lenet4", DS_LENET4}, {"lenet5", "lenet5", DS_LENET5}}},
    {DS_LENET4, {{"lenet1", "lenet1", DS_LENET1}, {"lenet5", "lenet5", DS_LENET5}}},
    {DS_LENET5, {{"lenet1", "lenet1", DS_LENET1}, {"lenet4", "lenet4", DS_LENET4}}},
    {DS_RESNET20,
     {{"resnet32", "resnet32", DS_SUBJECTS}, {"mobilenetv2", "mobilenetv2", DS_SUBJECTS}}},
    {DS_VGG16, {{"resnet20", "resnet20", DS_RESNET20}, {"resnet32", "resnet32", DS_SUBJECTS}}},
    {DS_MOBILENET, {{"resnet50", "imagenet/resnet50", DS_RESNET50}}},
    {DS_RESNET50, {{"mobilenet", "imagenet/mobilenet", DS_MOBILENET}}},
    {DS_RESNET34, {{"deepspeaker", "vctk/deepspeaker", DS_SPEAKER}}},
    {DS_SPEAKER, {{"resnet34", "vctk/resnet34", DS_RESNET34}}},
    {DS_FSDD_RESNET34, {{"speaker-small", "fsdd/speaker-small", DS_FSDD_SMALL}}},
    {DS_FSDD_SPEAKER, {{"speaker-small", "fsdd/speaker-small", DS_FSDD_SMALL}}},
    {DS_FSDD_SMALL, {{"speaker-small-rival", NULL, DS_SUBJECTS}}},
};

size_t ds_rivals(size_t subject, ds_rival out[DS_RIVALS])
{
    size_t i = 0, count = 0;
    while (i + 1 < PX_LEN(rival_lists) && rival_lists[i].subject != subject)
        i++;
    while (count < DS_RIVALS && rival_lists[i].rivals[count].arch) {
        out[count] = rival_lists[i].rivals[count];
        count++;
    }
    return count;
}

study_network ds_rival_network(size_t subject, const ds_rival *rival)
{
    return (study_network){
        .dataset = ds_subjects[subject].dataset, .arch = rival->arch, .number = 1};
}

/* A second one of the small networks is trained with other weights. */
static bool rival_is_second(const ds_rival *rival)
{
    return rival->subject == DS_SUBJECTS && !rival->model;
}

bool ds_has_rival(const px_study *study, size_t subject, const ds_rival *rival)
{
    const study_network network = ds_rival_network(subject, rival);
    return pxi_network_done(study, &network) || rival_is_second(rival) ||
           (rival->subject < DS_SUBJECTS ? ds_has_network(study, rival->subject, DS_CLEAN)
                                         : pxi_study_model(study, rival->model) != NULL);
}

px_status ds_make_rival(px_study *study, size_t subject, const ds_rival *rival, px_error *err)
{
    if (rival->subject < DS_SUBJECTS)
        return ds_make_network(study, rival->subject, DS_CLEAN, err);
    const study_network network = ds_rival_network(subject, rival);
    const study_training training = {
        .arch = rival_is_second(rival) ? ds_subjects[subject].zoo : rival->arch,
        .start = rival_is_second(rival) ? NULL : pxi_study_model(study, rival->model),
        .as_given = true,
        .seed = 2,
        .audio = network_audio(subject)};
    return pxi_training_make(study, &network, &training, err);
}
