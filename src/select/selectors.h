/* src/select/selectors.h - X(id) per selector px_selector_<id>, in the order of `list selectors` */
#ifndef PXI_SELECT_SELECTORS_H
#define PXI_SELECT_SELECTORS_H

#include <plexor/select.h>

/* About how neurons react, and chance to compare with. */
#define PXI_SELECTORS_OWN(X) X(random)

#define PXI_SELECTORS(X) PXI_SELECTORS_OWN(X)

#define PXI_SELECTOR_DECLARE(id) extern const px_selector px_selector_##id;
PXI_SELECTORS(PXI_SELECTOR_DECLARE)
#undef PXI_SELECTOR_DECLARE

#endif
