/* studies/revisit/revisit_study.c - does coverage help? A replication of a replication
 *
 * Z. Yang, J. Shi, M. H. Asyrofi and D. Lo, Revisiting Neuron Coverage Metrics and Quality of Deep
 * Neural Networks, SANER 2022; CSM E.2. Four questions: whether networks become better as the
 * coverage of their training data grows (RQ1), whether mutants that raise coverage teach more than
 * others (RQ2), which of five generators finds more failures (RQ3), and which of their failures
 * retraining repairs (RQ4).
 *
 * The networks are trained here, once each, by the recipe of `plexor train`. LeNets on
 * Fashion-MNIST are plexor's own addition, attacked with MNIST's strengths.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "revisit/revisit.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const px_study_part rv_parts[] = {
    {"rq1", "Figures 1 and 2: coverage of growing training sets, quality of what M_0 becomes",
     true},
    {"rq2", "Table II, H1: coverage-improving against coverage-remaining mutants", true},
    {"rq3", "H2 and H3: how often five generators make the networks fail", true},
    {"rq4", "H4 to H6: retraining with each generator, judged on all", true},
};

static const px_study_dataset rv_datasets[] = {
    {"mnist", "MNIST", NULL},       {"fashion-mnist", "Fashion-MNIST", "fashion-mnist"},
    {"cifar-10", "CIFAR-10", NULL}, {"svhn", "SVHN", NULL},
    {"eurosat", "EuroSAT", NULL},
};

/* clang-format off */
const rv_subject rv_subjects[RV_SUBJECTS] = {
    {"mnist", "lenet1", "MNIST, LeNet-1", "lenet1-valid", 0.3, 0.03, 20, 25, 0.06},
    {"mnist", "lenet4", "MNIST, LeNet-4", "lenet4-valid", 0.3, 0.03, 20, 30, 0.08},
    {"mnist", "lenet5", "MNIST, LeNet-5", "lenet5-valid", 0.3, 0.03, 20, 30, 0.08},
    {"cifar-10", "vgg16", "CIFAR-10, VGG-16", "vgg16-cifar", 16.0 / 255, 2.0 / 255, 30, 7200, 40},
    {"cifar-10", "resnet20", "CIFAR-10, ResNet-20", "resnet20", 16.0 / 255, 2.0 / 255, 30, 900, 3.5},
    {"cifar-10", "resnet56", "CIFAR-10, ResNet-56", "resnet56", 16.0 / 255, 2.0 / 255, 30, 2700, 10},
    {"svhn", "sadl1", "SVHN, SADL-1", "sadl-1", 8.0 / 255, 0.01, 30, 3600, 7},
    {"svhn", "sadl2", "SVHN, SADL-2", "sadl-2", 8.0 / 255, 0.01, 30, 1800, 4},
    {"svhn", "sadl3", "SVHN, SADL-3", "sadl-3", 8.0 / 255, 0.01, 30, 3600, 7},
    {"eurosat", "vgg16", "EuroSAT, VGG-16", "vgg16-cifar", 16.0 / 255, 2.0 / 255, 50, 14400, 160},
    {"eurosat", "resnet20", "EuroSAT, ResNet-20", "resnet20", 16.0 / 255, 2.0 / 255, 50, 1800, 14},
    {"eurosat", "resnet32", "EuroSAT, ResNet-32", "resnet32", 16.0 / 255, 2.0 / 255, 50, 3000, 24},
    {"eurosat", "resnet56", "EuroSAT, ResNet-56", "resnet56", 16.0 / 255, 2.0 / 255, 50, 5400, 40},
    {"fashion-mnist", "lenet1", "Fashion-MNIST, LeNet-1", "lenet1-valid", 0.3, 0.03, 20, 25, 0.06},
    {"fashion-mnist", "lenet4", "Fashion-MNIST, LeNet-4", "lenet4-valid", 0.3, 0.03, 20, 30, 0.08},
    {"fashion-mnist", "lenet5", "Fashion-MNIST, LeNet-5", "lenet5-valid", 0.3, 0.03, 20, 30, 0.08},
};
/* clang-format on */

const char *const rv_rule_ids[RV_RULES] = {"set", "pairwise"};
const char *const rv_arm_ids[RV_ARMS] = {"improving", "remaining", "improving-matched",
                                         "remaining-matched"};

/* --- names ------------------------------------------------------------------------------------ */

study_network rv_network(const px_study *study, size_t subject, int64_t run)
{
    const rv_subject *s = &rv_subjects[subject];
    const int64_t number = study->options.networks > 0 ? pxi_study_network(study, run) : 1;
    return (study_network){.dataset = s->dataset, .arch = s->arch, .zoo = s->zoo, .number = number};
}

const char *rv_missing(const px_study *study, size_t subject, char buffer[64])
{
    return pxi_study_spec(study, rv_subjects[subject].dataset)
               ? NULL
               : pxi_study_missing(study, rv_subjects[subject].dataset, buffer);
}

int64_t rv_count(const px_study *study)
{
    const int64_t limit = study->options.limit;
    return limit > 0 && limit < RV_INPUTS ? limit : RV_INPUTS;
}

static void words_put(size_t subject, char key[CELL_KEY], const char *format, va_list words)
{
    const rv_subject *s = &rv_subjects[subject];
    const int at = snprintf(key, CELL_KEY, "%s %s ", s->dataset, s->arch);
    vsnprintf(key + at, (size_t)(CELL_KEY - at), format, words);
}

static void words_end(const px_study *study, int64_t run, char key[CELL_KEY])
{
    const size_t at = strlen(key);
    snprintf(key + at, CELL_KEY - at, " run=%" PRId64 " n=%" PRId64, run, rv_count(study));
}

void rv_prefix(size_t subject, char key[CELL_KEY], const char *format, ...)
{
    va_list words;
    va_start(words, format);
    words_put(subject, key, format, words);
    va_end(words);
}

void rv_key(const px_study *study, size_t subject, int64_t run, char key[CELL_KEY],
            const char *format, ...)
{
    va_list words;
    va_start(words, format);
    words_put(subject, key, format, words);
    va_end(words);
    words_end(study, run, key);
}

bool rv_has(const px_study *study, size_t subject, int64_t run, const char *format, ...)
{
    char key[CELL_KEY];
    va_list words;
    va_start(words, format);
    words_put(subject, key, format, words);
    va_end(words);
    words_end(study, run, key);
    return pxi_cells_find(study->cells, key) != NULL;
}

/* --- the plan --------------------------------------------------------------------------------- */

static px_status plan_job(px_study *study, size_t subject, int64_t run, const char *kind, size_t a,
                          double seconds, const char *words, px_error *err)
{
    const rv_subject *s = &rv_subjects[subject];
    study_job job = {.kind = kind, .subject = subject, .run = run, .network = 1, .a = a};
    snprintf(job.label, sizeof job.label, "%s, run %" PRId64 ": %s", s->title, run, words);
    snprintf(job.cost, sizeof job.cost, "%s %s %s %zu n=%" PRId64, s->dataset, s->arch, kind, a,
             rv_count(study));
    job.seconds = seconds;
    return pxi_study_add_job(study, &job, err);
}

/* The last round's cell is put last, for all arms. */
static bool rq1_done(const px_study *study, size_t subject, int64_t run, size_t rule)
{
    for (int k = 0; k <= RV_STEPS; k++)
        if (!rv_has(study, subject, run, RV_RQ1_KEY, rule == RV_BY_PAIR ? " pairwise" : "", k))
            return false;
    return true;
}

static bool rq2_done(const px_study *study, size_t subject, int64_t run, size_t rule)
{
    for (size_t arm = 0; arm < RV_ARMS; arm++)
        for (int k = 0; k <= RV_STEPS; k++)
            if (!rv_has(study, subject, run, RV_RQ2_KEY, rv_arm_ids[arm], rv_rule_ids[rule], k))
                return false;
    return true;
}

static px_status plan_rq4(px_study *study, size_t subject, int64_t run, px_error *err)
{
    for (size_t defence = 0; defence < RV_SETS; defence++) {
        const char *id = defence == RV_BENIGN ? "none" : rv_set_ids[defence];
        char words[64];
        if (rv_defence_done(study, subject, run, defence))
            continue;
        snprintf(words, sizeof words, "RQ4, retrained with %s", id);
        PX_TRY(plan_job(study, subject, run, "rq4", defence,
                        rv_seconds(study, subject, RV_RQ4, defence), words, err));
    }
    return PX_OK;
}

static px_status plan_network(px_study *study, size_t subject, int64_t run, px_error *err)
{
    const study_network network = rv_network(study, subject, run);
    if (run > network.number || pxi_network_done(study, &network))
        return PX_OK;
    study_job job = {.kind = "network", .subject = subject, .run = run, .network = network.number};
    snprintf(job.label, sizeof job.label, "%s: train network %" PRId64, rv_subjects[subject].title,
             network.number);
    snprintf(job.cost, sizeof job.cost, "%s %s network", network.dataset, network.arch);
    job.seconds = rv_seconds(study, subject, RV_NETWORK, 0);
    return pxi_study_add_job(study, &job, err);
}

static px_status plan_run(px_study *study, size_t subject, int64_t run, px_error *err)
{
    static const char *const rq1[RV_RULES] = {"RQ1", "RQ1, pairwise"};
    static const char *const rq2[RV_RULES] = {"RQ2", "RQ2, pairwise"};
    static const char *const rq3[RV_CASES] = {"RQ3", "RQ3, test sets as the package makes them"};
    for (size_t of = 0; of < RV_CASES && run <= pxi_study_runs(study, "rq3"); of++)
        if (!rv_has(study, subject, run, "%s", rv_rq3_keys[of]))
            PX_TRY(plan_job(study, subject, run, "rq3", of, rv_seconds(study, subject, RV_RQ3, of),
                            rq3[of], err));
    for (size_t rule = 0; rule < RV_RULES && run <= pxi_study_runs(study, "rq1"); rule++)
        if (!rq1_done(study, subject, run, rule))
            PX_TRY(plan_job(study, subject, run, "rq1", rule,
                            rv_seconds(study, subject, RV_RQ1, rule), rq1[rule], err));
    for (size_t rule = 0; rule < RV_RULES && run <= pxi_study_runs(study, "rq2"); rule++)
        if (!rq2_done(study, subject, run, rule))
            PX_TRY(plan_job(study, subject, run, "rq2", rule,
                            rv_seconds(study, subject, RV_RQ2, rule), rq2[rule], err));
    if (run <= pxi_study_runs(study, "rq4"))
        PX_TRY(plan_rq4(study, subject, run, err));
    return PX_OK;
}

/* Run by run, so that a budget that ends early leaves something of every subject. */
static px_status rv_plan(px_study *study, px_error *err)
{
    int64_t runs = 0;
    char buffer[64];
    bool planned[RV_SUBJECTS];
    for (size_t i = 0; i < PX_LEN(rv_parts); i++)
        runs = PX_MAX(runs, pxi_study_runs(study, rv_parts[i].id));
    if (study->options.limit > 0 && study->options.limit < RV_STEPS)
        return px_fail(err, PX_E_USAGE, "--limit %" PRId64 ": the inputs are taken in %d parts",
                       study->options.limit, RV_STEPS);
    for (size_t s = 0; s < RV_SUBJECTS; s++) {
        planned[s] = pxi_study_wants(study, rv_subjects[s].dataset, rv_subjects[s].arch) &&
                     !rv_missing(study, s, buffer);
        for (int64_t run = 1; planned[s] && run <= runs; run++)
            PX_TRY(plan_network(study, s, run, err));
    }
    for (int64_t run = 1; run <= runs; run++)
        for (size_t s = 0; s < RV_SUBJECTS; s++)
            if (planned[s])
                PX_TRY(plan_run(study, s, run, err));
    return PX_OK;
}

static px_status rv_run(px_study *study, const study_job *job, px_error *err)
{
    static const struct {
        const char *kind;
        px_status (*run)(px_study *study, const study_job *job, px_error *err);
    } kinds[] = {
        {"rq1", rv_run_rq1}, {"rq2", rv_run_rq2}, {"rq3", rv_run_rq3}, {"rq4", rv_run_rq4}};
    for (size_t i = 0; i < PX_LEN(kinds); i++)
        if (strcmp(job->kind, kinds[i].kind) == 0)
            return kinds[i].run(study, job, err);
    const study_network network = rv_network(study, job->subject, job->run);
    return pxi_network_make(study, &network, err);
}

const study_plan pxi_study_revisit = {
    .kind =
        {
            .id = "revisit",
            .title = "neuron coverage and the quality of networks, revisited",
            .source = "Yang, Shi, Asyrofi and Lo, Revisiting Neuron Coverage Metrics and Quality "
                      "of Deep Neural Networks",
            .parts = rv_parts,
            .part_count = PX_LEN(rv_parts),
            .datasets = rv_datasets,
            .dataset_count = PX_LEN(rv_datasets),
            .piece = "epochs",
            .pieces = RV_AT_EPOCHS,
        },
    .plan = rv_plan,
    .run = rv_run,
    .report = rv_report,
};
