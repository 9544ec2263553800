/* include/plexor/property.h - key and value texts, as in ONNX's metadata_props */
#ifndef PLEXOR_PROPERTY_H
#define PLEXOR_PROPERTY_H

#include <plexor/error.h>

PX_BEGIN_DECLS

typedef struct px_property {
    const char *key, *value;
} px_property;

/* The value of the first property with that key; NULL if there is none. */
PX_API const char *px_property_find(const px_property *properties, size_t count, const char *key);

PX_END_DECLS
#endif
