/* src/generate/seed_names.c - what inputs and classes of a campaign are called */
#include "generate/seed_names.h"

#include "base/memory.h"

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
    char **own = NULL;
    int own_count = 0, known = 0;
    px_campaign_identity_get(campaign, &identity);
    const char *text = model ? px_model_property(model, "plexor.classes") : NULL;
    if (text && px_class_names_parse(text, &own, &own_count, NULL) != PX_OK)
        own_count = 0; /* names are a courtesy: numbers do as well */
    const char **names = pxi_calloc((size_t)identity.classes + 1, sizeof *names);
    for (int c = 0; names && c < identity.classes; c++) {
        names[c] = c < own_count ? own[c] : px_dataset_class_name(set, c);
        known += names[c] != NULL;
    }
    px_status status = names ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
    if (status == PX_OK && known)
        status = px_campaign_put_classes(campaign, names, identity.classes, err);
    free(names);
    px_class_names_free(own, own_count);
    return status;
}
