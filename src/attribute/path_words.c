/* src/attribute/path_words.c - the names of rules, targets, baselines, modes and maps */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/decision_path.h>

#include "base/memory.h"

#include <string.h>

#define WORD_ID(enumerator, id, help) id,
#define WORD_NAME(noun, list)                                \
    const char *px_path_##noun##_name(px_path_##noun noun)   \
    {                                                        \
        static const char *const ids[] = {list(WORD_ID)};    \
        return (size_t)noun < PX_LEN(ids) ? ids[noun] : "?"; \
    }

WORD_NAME(rule, PX_PATH_RULES)
WORD_NAME(target, PX_PATH_TARGETS)
WORD_NAME(baseline, PX_PATH_BASELINES)
WORD_NAME(mode, PX_PATH_MODES)
WORD_NAME(map, PX_PATH_MAPS)

px_status px_path_mode_parse(const char *text, px_path_mode *out, px_error *err)
{
    for (px_path_mode mode = 0; mode <= PX_PATH_NO_NLDG; mode++)
        if (strcmp(text, px_path_mode_name(mode)) == 0) {
            *out = mode;
            return PX_OK;
        }
    return px_fail(err, PX_E_USAGE, "there is no mode '%.60s'", text);
}

bool px_path_mode_needs_units(px_path_mode mode)
{
    return mode != PX_PATH_LABEL_ONLY && mode != PX_PATH_NO_CNS;
}
