/* include/plexor/property.h - key and value texts, as in ONNX's metadata_props */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PROPERTY_H
#define PLEXOR_PROPERTY_H

#include <plexor/error.h>

PX_BEGIN_DECLS

typedef struct px_property {
    const char *key, *value;
} px_property;

PX_END_DECLS
#endif
