/* src/generate/engines.c - the tables of engines and policies */
#include "generate/engines.h"

#include "base/memory.h"

#include <string.h>

static const pxi_fuzz_engine *const engines[] = {
#define ENGINE_ROW(id) &pxi_fuzz_engine_##id,
    PXI_FUZZ_ENGINES(ENGINE_ROW)
#undef ENGINE_ROW
};

size_t px_fuzz_engine_count(void)
{
    return PX_LEN(engines);
}

const px_fuzz_engine *px_fuzz_engine_get(size_t i)
{
    return i < PX_LEN(engines) ? &engines[i]->shown : NULL;
}

const pxi_fuzz_engine *pxi_fuzz_engine_find(const char *id)
{
    for (size_t i = 0; i < PX_LEN(engines); i++)
        if (strcmp(engines[i]->shown.id, id) == 0)
            return engines[i];
    return NULL;
}

const px_fuzz_engine *px_fuzz_engine_find(const char *id)
{
    const pxi_fuzz_engine *engine = pxi_fuzz_engine_find(id);
    return engine ? &engine->shown : NULL;
}

/* --- policies ------------------------------------------------------------------------------------
 */

static const char *const deephunter_texts[] = {
    "pick=prob",  "count=picks", "energy=20", "tries=50",     "valid=deephunter",
    "alpha=0.02", "beta=0.2",    "first=no",  "faults=apart", NULL,
};
static const px_fuzz_policy policy_deephunter = {
    .id = "deephunter",
    .title = "every mutant of a pick is judged, failures leave the queue",
    .source = "DeepHunter (ISSTA 2019)",
    .mutations = "deephunter",
    .texts = deephunter_texts,
};

static const char *const nlc_texts[] = {
    "pick=nlc",  "count=finds", "energy=64", "tries=49",      "valid=nsgen",
    "alpha=0.4", "beta=0.8",    "first=yes", "faults=queued", NULL,
};
static const px_fuzz_policy policy_nlc = {
    .id = "nlc",
    .title = "the first mutant that the guide accepts ends the pick and joins the queue",
    .source = "NLC (ICSE 2023)",
    .mutations = "nsgen",
    .texts = nlc_texts,
};

static const char *const nsgen_texts[] = {
    "pick=nlc",  "count=finds", "energy=64", "tries=49",      "valid=nsgen",
    "alpha=0.2", "beta=0.4",    "first=yes", "faults=queued", NULL,
};
static const px_fuzz_policy policy_nsgen = {
    .id = "nsgen",
    .title = "as nlc, closer to the seed",
    .source = "NSGen (paper 001)",
    .mutations = "nsgen",
    .texts = nsgen_texts,
};

/* The mutation keeps its own bounds: whatever it makes is valid. */
static const char *const tensorfuzz_texts[] = {
    "pick=recent", "energy=100", "tries=1",      "valid=nsgen", "alpha=0",
    "beta=1",      "first=no",   "faults=apart", NULL,
};
static const px_fuzz_policy policy_tensorfuzz = {
    .id = "tensorfuzz",
    .title = "white noise on one of the last entries; meant for guide cc on the logits",
    .source = "TensorFuzz (ICML 2019)",
    .mutations = "tensorfuzz",
    .texts = tensorfuzz_texts,
};

static const px_fuzz_policy *const policies[] = {
#define POLICY_ROW(id) &policy_##id,
    PXI_FUZZ_POLICIES(POLICY_ROW)
#undef POLICY_ROW
};

size_t px_fuzz_policy_count(void)
{
    return PX_LEN(policies);
}

const px_fuzz_policy *px_fuzz_policy_get(size_t i)
{
    return i < PX_LEN(policies) ? policies[i] : NULL;
}

const px_fuzz_policy *px_fuzz_policy_find(const char *id)
{
    for (size_t i = 0; i < PX_LEN(policies); i++)
        if (strcmp(policies[i]->id, id) == 0)
            return policies[i];
    return NULL;
}
