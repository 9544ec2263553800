/* include/internal/property.h - <plexor/property.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PROPERTY_H
#define PXI_INTERNAL_PROPERTY_H

#include <plexor/property.h>

PX_BEGIN_DECLS

/* The value of the first property with that key; NULL if there is none. */
const char *px_property_find(const px_property *properties, size_t count, const char *key);

PX_END_DECLS
#endif
