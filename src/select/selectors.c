/* src/select/selectors.c - the table of selectors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/selectors.h"

#include "base/additions.h"

static const px_entry *const selectors[] = {
#define SELECTOR_ROW(id) &px_selector_##id.entry,
    PXI_SELECTORS(SELECTOR_ROW)};
static struct px_additions added;

const px_registry px_selectors = {.kind = "selector",
                                  .plural = "selectors",
                                  .example = "nss.k=10",
                                  .added = &added,
                                  PX_REGISTRY_POINTERS(selectors)};

px_status px_selector_add(const px_selector *selector, px_error *err)
{
    if (!selector->score == !selector->run || !selector->open != !selector->close ||
        (selector->open && selector->run) || (selector->release && !selector->prepare))
        return px_fail(err, PX_E_USAGE,
                       "the selector '%.60s' cannot be added: it has either score, perhaps with "
                       "open and close, or run",
                       selector->entry.id ? selector->entry.id : "");
    return pxi_registry_add(&px_selectors, &selector->entry, err);
}
