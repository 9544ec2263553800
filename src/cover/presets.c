/* src/cover/presets.c - the papers' settings
 *
 * Only what a paper states, and what its criterion means by another name. Where a paper's text and
 * its public code differ, the text is followed; the code's variants are settings of the criteria.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/cover.h>

/* Table 5. NAC is the raw variant; the bounds of DSA and LSA are those of the table (a sentence
 * below it swaps them). */
static const char *const nss[] = {
    "nc.variant=raw", "nc.t=0.5",   "kmnc.k=1000",    "dsc.m=1000",
    "dsc.u=2",        "lsc.m=1000", "lsc.u=2000",     "snpc.alpha=0.7",
    "snpc.beta=0.6",  "snpc.k=1",   "anpc.alpha=0.7", "anpc.beta=0.6",
    "anpc.k=1",       NULL,
};

/* Section 5.3. CC's threshold is the one for CIFAR-10 (100 for CIFAR-100, 102 for Flowers, 1000 for
 * ImageNet). Surprise is counted in buckets of a fixed size. Ranges come from 1,000 training
 * inputs, which is what plexor takes where nothing else is asked for. NLC is a plain sum: the paper
 * gives no formula, and the values of its Table 3 are of that size. */
static const char *const nsgen[] = {
    "nc.variant=scaled", "nc.t=0.75",     "kmnc.k=100", "tknc.k=10",     "tknp.k=50",
    "cc.t=10",           "lsc.form=size", "lsc.t=10",   "dsc.form=size", "dsc.t=0.1",
    "mdsc.form=size",    "mdsc.t=10",     "cac.bins=8", "nlc.norm=sum",  NULL,
};

/* Section III, with the numbers of its public package: the paper gives formulas only. By equations
 * 5 and 6 a neuron's output itself is compared (the package scales by batch: nc.variant=suite is
 * that over the whole suite); by equation 7 and the open corners of NBC, the upper end of a range
 * is in its last section (the package: kmnc.variant=upper-open). */
static const char *const rev[] = {
    "nc.variant=raw", "nc.t=0.75", "kmnc.k=10", "kmnc.variant=canonical",
    "tknc.k=2",       "tknp.k=2",  NULL,
};

static const px_preset presets[] = {
    {.entry = {.id = "nss", .source = "Neuron Sensitivity Guided Test Case Selection, Table 5"},
     .texts = nss},
    {.entry = {.id = "nsgen", .source = "Neuron Semantic-Guided Test Generation, section 5.3"},
     .texts = nsgen},
    {.entry = {.id = "rev",
               .source = "Revisiting Neuron Coverage Metrics and Quality of DNNs, section III"},
     .texts = rev},
};

const px_registry px_presets = {.kind = "preset", .plural = "presets", PX_REGISTRY_ARRAY(presets)};
