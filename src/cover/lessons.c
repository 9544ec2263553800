/* src/cover/lessons.c - what is to be learned from training data */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/lessons.h"

#include "base/memory.h"

#include <internal/profile.h>
#include <stdlib.h>
#include <string.h>

char *pxi_lesson_key(const px_learner *learner, const px_extractor *extractor, const void *config)
{
    px_text text = {0};
    px_text_format(&text, "%s", learner->id);
    if (learner->key) {
        px_text more = {0};
        learner->key(config, &more);
        if (px_text_failed(&more))
            text.failed = true;
        if (more.length > 0)
            px_text_format(&text, " (%s)", px_text_get(&more));
        px_text_done(&more);
    }
    px_text_format(&text, " of %s", extractor->key);
    return px_text_take(&text);
}

static px_extractor *lessons_share(px_lessons *lessons, px_extractor *extractor)
{
    for (size_t i = 0; i < lessons->extractor_count; i++)
        if (strcmp(lessons->extractors[i]->key, extractor->key) == 0) {
            if (lessons->extractors[i] != extractor)
                px_extractor_free(extractor);
            return lessons->extractors[i];
        }
    if (pxi_grow(&lessons->extractors, &lessons->extractor_capacity, lessons->extractor_count + 1,
                 sizeof *lessons->extractors) != 0) {
        px_extractor_free(extractor);
        return NULL;
    }
    return lessons->extractors[lessons->extractor_count++] = extractor;
}

px_status px_lessons_add(px_lessons *lessons, const px_learner *learner, px_extractor *extractor,
                         const void *config, size_t config_size, px_error *err)
{
    extractor = lessons_share(lessons, extractor);
    char *key = extractor ? pxi_lesson_key(learner, extractor, config) : NULL;
    void *copy = pxi_calloc(PX_MAX(config_size, 1), 1);
    if (!extractor || !key || !copy ||
        pxi_grow(&lessons->lesson, &lessons->capacity, lessons->count + 1,
                 sizeof *lessons->lesson) != 0) {
        free(key);
        free(copy);
        return pxi_no_memory(err);
    }
    if (config_size > 0)
        memcpy(copy, config, config_size);
    for (size_t i = 0; i < lessons->count; i++)
        if (strcmp(lessons->lesson[i].key, key) == 0) {
            free(key);
            free(copy);
            return PX_OK;
        }
    lessons->lesson[lessons->count++] =
        (px_lesson){.learner = learner, .extractor = extractor, .key = key, .config = copy};
    return PX_OK;
}

void px_lessons_free(px_lessons *lessons)
{
    for (size_t i = 0; i < lessons->count; i++) {
        free(lessons->lesson[i].key);
        free(lessons->lesson[i].config);
    }
    for (size_t i = 0; i < lessons->extractor_count; i++)
        px_extractor_free(lessons->extractors[i]);
    free(lessons->lesson);
    free(lessons->extractors);
    *lessons = (px_lessons){0};
}
