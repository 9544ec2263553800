/* src/select/selectors.c - the table of selectors */
#include "select/selectors.h"

static const px_entry *const selectors[] = {
#define SELECTOR_ROW(id) &px_selector_##id.entry,
    PXI_SELECTORS(SELECTOR_ROW)};

const px_registry px_selectors = {
    .kind = "selector",
    .plural = "selectors",
    .help = "what 'select' ranks by, with settings and where it comes from",
    .example = "nss.k=10",
    PX_REGISTRY_POINTERS(selectors)};
