/* src/graph/node.c - attributes of a node */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/graph.h>

#include <string.h>

const px_attr *px_node_attr(const px_node *node, const char *name)
{
    for (int i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

static const px_attr *attr_of_kind(const px_node *node, const char *name, px_attr_kind kind)
{
    const px_attr *attr = px_node_attr(node, name);
    return attr && attr->kind == kind ? attr : NULL;
}

int64_t px_node_int(const px_node *node, const char *name, int64_t fallback)
{
    const px_attr *attr = attr_of_kind(node, name, PX_ATTR_INT);
    return attr ? attr->i : fallback;
}

float px_node_float(const px_node *node, const char *name, float fallback)
{
    const px_attr *attr = attr_of_kind(node, name, PX_ATTR_FLOAT);
    return attr ? attr->f : fallback;
}

const char *px_node_string(const px_node *node, const char *name, const char *fallback)
{
    const px_attr *attr = attr_of_kind(node, name, PX_ATTR_STRING);
    return attr ? attr->s : fallback;
}
