/* studies/deepsensor/deepsensor_report.c - the study of DeepSensor as a document */
/* SPDX-License-Identifier: Apache-2.0 */
#include "deepsensor/deepsensor_study.h"
#include "deepsensor/deepsensor_tables.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void report_variants(study_document *doc)
{
    pxi_doc_paragraph(
        doc,
        "The row `DeepSensor` is by the paper's letter, preset `paper` of engine `deepsensor`: a "
        "neuron is excitable where its value is above lambda = 0.5, as it is (`norm=raw`, in "
        "nats), particles begin at random, and there is neither a bound nor a limit of speed. How "
        "far from the seed they begin, the paper does not say: 0.8 of the range was chosen because "
        "Table 3 comes out with it, so that this is weak evidence of what was run; radii of 0.1 to "
        "1 are below. `plexor's default` keeps within half of the range (`radius=0.5 bound=0.5`) "
        "and takes values layer by layer (`diagonal=layer`), where digits can still be read.");
    pxi_doc_paragraph(
        doc,
        "Players are channels of hidden layers. Inside the swarm values are Aumann-Shapley values "
        "along the diagonal with 8 nodes, never called Shapley values. The published code has "
        "none: it maximises NBC plus the share of neurons whose scaled difference is above 0.2 "
        "(`objective=code`). Swarm: 100 particles, %d iterations, c1 = c2 = 2, inertia from 0.4 to "
        "0.9 as printed, random factors per value, and epsilon = 1, which no fitness exceeds, so "
        "that all iterations are run.",
        DS_ITERATIONS);
    pxi_doc_paragraph(
        doc,
        "What is counted. One example per seed and iteration: of a swarm the best place so far; of "
        "its rivals the last fault so far, before the first fault what was kept last, before that "
        "the seed. Iterations of rivals: DeepXplore one climb of up to 50 steps from every seed "
        "(`one climb`: one of up to 20 steps, and a step is an iteration), compared with two other "
        "networks where there are two; DLFuzz one step; DeepHunter as many picks as there are "
        "seeds. Test errors are misclassified examples, error categories distinct wrong classes "
        "of a seed, summed, of a swarm over all its particles; E_any and E_pol are of the last "
        "examples, E_pol those taken for the "
        "polluted class. Seeds are drawn at random, of each class as many, and only what the "
        "network gets right. Since methods move inputs by very different amounts, all examples are "
        "also cut to one L∞ ball of %g (of 0 to 1) around their seeds and asked again; distances "
        "are in the same units.",
        DS_BOUND);
}

static void report_faulty(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Faulty training (Tables 4 and 5)");
    pxi_doc_paragraph(
        doc,
        "Polluted: a share of the training inputs gets a square of uniform noise (sides of 1 to 6 "
        "on MNIST), at a random place, and the polluted class as its label; then 10 epochs in "
        "batches of 32. Over-trained: 30 epochs. Under-trained: one epoch in batches of 512, ended "
        "at the accuracy that the paper tells. Optimisers are the zoo's recipe, the rate by the "
        "size of the batch. The paper's polluted counts (42 to 204 of its rivals, which find 513 "
        "to 906 errors in clean networks) make sense only as E_pol. Seeds of the polluted class "
        "cannot count, so that E_pol is 90%% at most. A polluted network takes nearly any noise "
        "for "
        "that class: where noise as large is misclassified as often as a method's own examples "
        "(below), E_pol says nothing about the method.");
    ds_table_polluted(study, doc);
    ds_table_trainings(study, doc, /* audio= */ false);
}

static void report_speakers(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Speakers (Tables 6 and 7)");
    pxi_doc_paragraph(
        doc, "VCTK is not at hand where it says so; spoken digits by speaker (FSDD: "
             "six speakers, all clips of the test part that are classified "
             "correctly, at most five wrong classes) take its place. Swarms and "
             "gradients move features, not the waveform; DeepHunter mutates recordings. The "
             "common bound is 0.1 of the range of all seeds' features.");
    for (size_t s = DS_PICTURES; s < DS_SUBJECTS; s++)
        if (s < DS_PAPER_SUBJECTS || s == DS_FSDD_SMALL ||
            ds_was_run(study, s, DS_CLEAN, DS_HUNTER) || ds_was_run(study, s, DS_CLEAN, DS_SENSOR))
            ds_table_methods(study, doc, s, s < DS_PAPER_SUBJECTS ? "Table 6" : "as Table 6");
    ds_table_trainings(study, doc, /* audio= */ true);
}

static void report_retrained(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Retrained networks (Figures 4 to 6)");
    pxi_doc_paragraph(
        doc,
        "500 seeds and what a method made of them in its last iteration, nothing else; 20 epochs "
        "in batches of 32, the network's own optimiser at a tenth of its rate (one that does not "
        "say how it was trained: fine-tuning's). PGD-AT: the same with what PGD made of the seeds. "
        "Attacks are computed anew on each network, on %d test inputs that are no seeds: PGD with "
        "eps 0.3 and 40 steps of eps/30, FGSM with eps 0.3, DeepFool and JSMA (gamma 0.1) without "
        "eps. Success is of all attacked inputs, as the paper has it, and of floats; rounded to 8 "
        "bits, "
        "much of what DeepFool finds is lost, and the cells have that too. "
        "DeepFool goes on until it succeeds, so that its success says little and its distance "
        "more. CLEVER: L2, radius 3, N_b = 500 batches of N_s = 1,024 drawn from a pool of ten "
        "times as many points, all other classes, the first 50 of these inputs, 0 for those that "
        "are misclassified. The paper's figures have no numbers. How large the changes are that "
        "are "
        "trained on is said at Table 3. A row's cost is with the campaign that its examples come "
        "from.",
        DS_ATTACKED);
    ds_table_retrained(study, doc);
}

static void report_excited(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 2, "Excitable neurons (Figures 1 and 7)");
    pxi_doc_paragraph(doc,
                      "Aumann-Shapley values along the diagonal, 8 nodes, all layers in one pass; "
                      "lambda 0.5. `noise as large` has every change at another place of the same "
                      "input. Figure 7: the %d neurons with the highest values, of the first %d "
                      "seeds.",
                      DS_TOP, DS_OVERLAP);
    ds_table_excited(study, doc);
    ds_table_overlap(study, doc);
    pxi_doc_paragraph(
        doc, "Figures 8 and 9 are pictures without numbers: t-SNE of seeds and examples, and "
             "examples beside ten times their changes. They are not drawn: `plexor map` of a "
             "campaign and `plexor export` of its examples, minutes each. What Figure 9 claims is "
             "tested above, by L∞.");
}

/* What a swarm finds, beside what nobody guides. */
typedef struct adds_row {
    double own, noise, chance, loss;
} adds_row;

static adds_row adds_of(const px_study *study, size_t subject, const char *id)
{
    char chance[32], loss[32];
    const bool paper = strcmp(id, "deepsensor") == 0;
    snprintf(chance, sizeof chance, "%schance", paper ? "" : "default-");
    snprintf(loss, sizeof loss, "%sloss", paper ? "" : "default-");
    const struct {
        const char *id, *name;
    } of[] = {{id, "errors"}, {id, "noise_errors"}, {chance, "errors"}, {loss, "errors"}};
    double v[PX_LEN(of)];
    for (size_t i = 0; i < PX_LEN(of); i++) {
        const size_t m = ds_method_find(of[i].id);
        v[i] = ds_figure(study, subject, DS_CLEAN, m, of[i].name,
                         ds_scale(study, subject, DS_CLEAN, m, DS_PER_EXAMPLE), (double)NAN)
                   .mean;
    }
    return (adds_row){v[0], v[1], v[2], v[3]};
}

/* In plain words; what it says follows from the cells. */
static void report_adds(const px_study *study, study_document *doc)
{
    static const struct {
        const char *id, *title;
    } rows[] = {{"deepsensor", "by the paper's letter"}, {"default", "plexor's default"}};
    px_text words = {0};
    int cases = 0, guides = 0, beaten = 0;
    for (size_t s = 0; s < DS_SUBJECTS; s++)
        for (size_t i = 0; i < PX_LEN(rows); i++) {
            const adds_row a = adds_of(study, s, rows[i].id);
            if (isnan(a.own) || isnan(a.noise) || isnan(a.chance) || isnan(a.loss))
                continue;
            px_text_format(&words,
                           "%s%s, %s: %.1f%% of the examples are wrong, %.1f%% of noise as "
                           "large, %.1f%% by chance, %.1f%% by the loss",
                           cases ? "; " : "", ds_subjects[s].title, rows[i].title, a.own, a.noise,
                           a.chance, a.loss);
            cases++;
            guides += a.own > a.noise && a.own > a.chance;
            beaten += a.loss > a.own;
        }
    if (cases > 0 && !px_text_failed(&words)) {
        pxi_doc_heading(doc, 2, "What neuron sensitivity adds");
        pxi_doc_paragraph(
            doc,
            "Counting excitable neurons finds more errors than noise that is as large and than the "
            "same swarm on numbers by chance in %d of %d cases; the same swarm on the loss alone, "
            "for one forward pass per place instead of eight passes there and back, finds more "
            "than it in %d. %s. Noise is uniform, as far from the seed as each example.",
            guides, cases, beaten, px_text_get(&words));
    }
    px_text_done(&words);
}

void ds_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "DeepSensor: excitable neurons and particle swarms");
    pxi_doc_paragraph(
        doc, "H. Jin, R. Chen, H. Zheng, J. Chen, Y. Cheng, Y. Yu and X. Liu, *Excitement "
             "Surfeited Turns to Errors: Deep Learning Testing Framework Based on Excitable "
             "Neurons* (DeepSensor). The paper's tables, and what plexor finds with the paper's "
             "protocol.");
    report_variants(doc);
    pxi_doc_heading(doc, 2, "Claims");
    ds_claims(study, doc);
    report_adds(study, doc);
    pxi_doc_heading(doc, 2, "Slips of the paper");
    pxi_doc_paragraph(
        doc, "Printed as they are: Equation 3 has the opposite sign in its last line; G is 10 "
             "among the settings and 20 in all comparisons; CIFAR-10 has 50,000 training pictures, "
             "not 60,000; VCTK has 4,000 seeds in the text and averages by 1,000 in Table 6; "
             "LeNet-5 and ResNet-50 share an under-trained accuracy of 79.32%%; errors of "
             "incompletely trained networks are 1.3 times as many in the abstract and 1.2 times in "
             "section 6.1; Algorithm 1 overwrites places by fitness values.");
    pxi_doc_heading(doc, 2, "Networks (Tables 1 and 2)");
    pxi_doc_paragraph(
        doc, "Networks that are given are taken as they are; others are trained.%s",
        pxi_study_is_jpeg(study, "cifar-10") ? " CIFAR-10 is a copy in JPEG q75 re-encoding." : "");
    ds_table_networks(study, doc);
    pxi_doc_heading(doc, 2, "Errors by method (Table 3)");
    for (size_t s = 0; s < DS_PICTURES; s++)
        ds_table_methods(study, doc, s, "Table 3");
    pxi_doc_heading(doc, 2, "What the paper leaves open");
    for (size_t s = 0; s < DS_PICTURES; s++)
        if (s == DS_LENET5 || ds_was_run(study, s, DS_CLEAN, ds_method_find("norm-layer-minmax")))
            ds_table_norms(study, doc, s);
    ds_table_curves(study, doc);
    report_faulty(study, doc);
    report_speakers(study, doc);
    report_retrained(study, doc);
    report_excited(study, doc);
    pxi_doc_heading(doc, 2, "Parameters (RQ5)");
    ds_table_parameters(study, doc);
    pxi_doc_heading(doc, 2, "Time");
    pxi_doc_paragraph(doc, "Clock time, with whatever else the machine did meanwhile: only figures "
                           "of an idle machine can be compared, so no verdict is made of them.");
    ds_table_times(study, doc);
}
