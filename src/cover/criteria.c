/* src/cover/criteria.c - the table of criteria */
#include "cover/criteria.h"

#include "base/memory.h"

#include <string.h>

static const px_criterion *const criteria[] = {
#define CRITERION_ROW(id) &px_criterion_##id,
    PXI_CRITERIA(CRITERION_ROW) NULL,
};

size_t px_criterion_count(void)
{
    return PX_LEN(criteria) - 1;
}

const px_criterion *px_criterion_get(size_t i)
{
    return i < PX_LEN(criteria) ? criteria[i] : NULL;
}

const px_criterion *px_criterion_find(const char *id)
{
    for (size_t i = 0; criteria[i]; i++)
        if (strcmp(criteria[i]->id, id) == 0)
            return criteria[i];
    return NULL;
}
