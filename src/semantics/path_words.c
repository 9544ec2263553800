/* src/semantics/path_words.c - the names of rules, targets, baselines, modes and maps */
#include <internal/decision_path.h>

#include "base/memory.h"

#include <string.h>

typedef struct word_list {
    const char *noun; /* of a message */
    size_t count;
    const char *const *ids;
} word_list;

#define WORD_ID(enumerator, id, help) id,
#define WORD_HELP(enumerator, id, help) help,

static const char *const rule_ids[] = {PX_PATH_RULES(WORD_ID)};
static const char *const target_ids[] = {PX_PATH_TARGETS(WORD_ID)};
static const char *const baseline_ids[] = {PX_PATH_BASELINES(WORD_ID)};
static const char *const mode_ids[] = {PX_PATH_MODES(WORD_ID)};
static const char *const map_ids[] = {PX_PATH_MAPS(WORD_ID)};

static const word_list rules = {"rule", PX_LEN(rule_ids), rule_ids};
static const word_list targets = {"target", PX_LEN(target_ids), target_ids};
static const word_list baselines = {"baseline", PX_LEN(baseline_ids), baseline_ids};
static const word_list modes = {"mode", PX_LEN(mode_ids), mode_ids};
static const word_list maps = {"map", PX_LEN(map_ids), map_ids};

static const char *list_name(const word_list *list, size_t i)
{
    return i < list->count ? list->ids[i] : "?";
}

static px_status list_find(const word_list *list, const char *text, size_t *out, px_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(text, list->ids[i]) == 0) {
            *out = i;
            return PX_OK;
        }
    px_text all = {0};
    for (size_t i = 0; i < list->count; i++)
        px_text_format(&all, "%s%s",
                       i == 0                ? ""
                       : i + 1 < list->count ? ", "
                                             : " and ",
                       list->ids[i]);
    const px_status status = px_fail(err, PX_E_USAGE, "there is no %s '%.60s'; there are %s",
                                     list->noun, text, px_text_get(&all));
    px_text_done(&all);
    return status;
}

#define WORD_FUNCTIONS(noun, list)                                                         \
    const char *px_path_##noun##_name(px_path_##noun noun)                                 \
    {                                                                                      \
        return list_name(&(list), (size_t)noun);                                           \
    }                                                                                      \
    px_status px_path_##noun##_parse(const char *text, px_path_##noun *out, px_error *err) \
    {                                                                                      \
        size_t i = 0;                                                                      \
        PX_TRY(list_find(&(list), text, &i, err));                                         \
        *out = (px_path_##noun)i;                                                          \
        return PX_OK;                                                                      \
    }

WORD_FUNCTIONS(rule, rules)
WORD_FUNCTIONS(target, targets)
WORD_FUNCTIONS(baseline, baselines)
WORD_FUNCTIONS(mode, modes)
WORD_FUNCTIONS(map, maps)

bool px_path_mode_needs_units(px_path_mode mode)
{
    return mode != PX_PATH_LABEL_ONLY && mode != PX_PATH_NO_CNS;
}
