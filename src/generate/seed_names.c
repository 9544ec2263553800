/* src/generate/seed_names.c - what inputs and classes of a campaign are called */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/seed_names.h"

#include "base/memory.h"

#include <internal/classes.h>
#include <internal/store.h>
#include <stdlib.h>
#include <string.h>

const char *pxi_seed_name(const px_dataset *set, int64_t row, char buffer[PXI_SEED_NAME])
{
    const char *name = px_dataset_name(set, row, buffer, PXI_SEED_NAME);
    return name[strspn(name, "0123456789")] ? name : NULL;
}

px_status pxi_put_classes(px_campaign *campaign, const px_model *model, const px_dataset *set,
                          px_error *err)
{
    px_campaign_identity identity = {0};
    int known = 0;
    px_campaign_identity_get(campaign, &identity);
    const char **names = NULL;
    PX_TRY(PX_NEW(names, identity.classes + 1, err));
    for (int c = 0; c < identity.classes; c++) {
        names[c] = model ? px_model_class_name(model, c) : NULL;
        if (!names[c])
            names[c] = px_dataset_class_name(set, c);
        known += names[c] != NULL;
    }
    const px_status status =
        known ? px_campaign_put_classes(campaign, names, identity.classes, err) : PX_OK;
    free(names);
    return status;
}
