/* src/cli/list_ids.c - ids of what is registered */
#include "cli/list_ids.h"

#include <plexor/arch.h>
#include <plexor/assess.h>
#include <plexor/audio.h>
#include <plexor/check.h>
#include <plexor/cover.h>
#include <plexor/fuzz.h>
#include <plexor/graph.h>
#include <plexor/localize.h>
#include <plexor/mutate.h>
#include <plexor/preprocess.h>
#include <plexor/repair.h>
#include <plexor/study.h>

const char *list_id_operator(size_t i)
{
    return i < px_operator_count() ? px_operator_get(i).name : NULL;
}

const char *list_id_arch(size_t i)
{
    return i < px_arch_count() ? px_arch_get(i).name : NULL;
}

const char *list_id_preset(size_t i)
{
    return i < px_preset_count() ? px_preset_get(i)->id : NULL;
}

const char *list_id_measure(size_t i)
{
    return i < px_measure_count() ? px_measure_get(i)->id : NULL;
}

const char *list_id_mutation(size_t i)
{
    return i < px_mutation_count() ? px_mutation_get(i)->id : NULL;
}

const char *list_id_policy(size_t i)
{
    return i < px_fuzz_policy_count() ? px_fuzz_policy_get(i)->id : NULL;
}

const char *list_id_metric(size_t i)
{
    return i < px_metric_count() ? px_metric_get(i)->id : NULL;
}

const char *list_id_gate(size_t i)
{
    return i < px_gate_kind_count() ? px_gate_kind_get(i)->name : NULL;
}

const char *list_id_study(size_t i)
{
    return i < px_study_count() ? px_study_get(i)->id : NULL;
}

const char *list_id_recipe(size_t i)
{
    return i < px_repair_recipe_count() ? px_repair_recipe_get(i)->name : NULL;
}

const char *list_id_audio(size_t i)
{
    return i < px_audio_param_count() ? px_audio_param(i)->name : NULL;
}

const char *list_id_preprocess(size_t i)
{
    return i < px_preprocess_preset_count() ? px_preprocess_preset_get(i)->id : NULL;
}
