/* src/generate/engines.c - the tables of engines and policies */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/engines.h"

static const px_entry *const engines[] = {
#define ENGINE_ROW(id) &pxi_fuzz_engine_##id.shown.entry,
    PXI_FUZZ_ENGINES(ENGINE_ROW)
#undef ENGINE_ROW
};

const px_registry px_fuzz_engines = {
    .kind = "engine", .plural = "engines", .example = "energy=64", PX_REGISTRY_POINTERS(engines)};

/* --- policies -------------------------------------------------------------------------------- */

static const char *const deephunter_texts[] = {
    "pick=prob",  "count=picks", "energy=20", "tries=50",     "valid=deephunter",
    "alpha=0.02", "beta=0.2",    "first=no",  "faults=apart", NULL,
};
static const px_fuzz_policy policy_deephunter = {
    .entry = {.id = "deephunter",
              .title = "every mutant of a pick is judged, failures leave the queue",
              .source = "DeepHunter (ISSTA 2019)"},
    .mutations = "deephunter",
    .texts = deephunter_texts,
};

static const char *const nlc_texts[] = {
    "pick=nlc",  "count=finds", "energy=64", "tries=49",      "valid=nsgen",
    "alpha=0.4", "beta=0.8",    "first=yes", "faults=queued", NULL,
};
static const px_fuzz_policy policy_nlc = {
    .entry = {.id = "nlc",
              .title = "the first mutant that the guide accepts ends the pick and joins the queue",
              .source = "NLC (ICSE 2023)"},
    .mutations = "nsgen",
    .texts = nlc_texts,
};

static const char *const nsgen_texts[] = {
    "pick=nlc",  "count=finds", "energy=64", "tries=49",      "valid=nsgen",
    "alpha=0.2", "beta=0.4",    "first=yes", "faults=queued", NULL,
};
static const px_fuzz_policy policy_nsgen = {
    .entry = {.id = "nsgen", .title = "as nlc, closer to the seed", .source = "NSGen"},
    .mutations = "nsgen",
    .texts = nsgen_texts,
};

/* The mutation keeps its own bounds: whatever it makes is valid. */
static const char *const tensorfuzz_texts[] = {
    "pick=recent", "energy=100", "tries=1",      "valid=nsgen", "alpha=0",
    "beta=1",      "first=no",   "faults=apart", NULL,
};
static const px_fuzz_policy policy_tensorfuzz = {
    .entry = {.id = "tensorfuzz",
              .title = "white noise on one of the last entries; meant for guide cc on the logits",
              .source = "TensorFuzz (ICML 2019)"},
    .mutations = "tensorfuzz",
    .texts = tensorfuzz_texts,
};

static const px_entry *const policies[] = {
#define POLICY_ROW(id) &policy_##id.entry,
    PXI_FUZZ_POLICIES(POLICY_ROW)
#undef POLICY_ROW
};

const px_registry px_fuzz_policies = {
    .kind = "policy", .plural = "policies", PX_REGISTRY_POINTERS(policies)};
