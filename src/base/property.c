/* src/base/property.c - key and value texts */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/property.h>

#include <string.h>

const char *px_property_find(const px_property *properties, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(properties[i].key, key) == 0)
            return properties[i].value;
    return NULL;
}
