/* src/onnx/flatten.c - a graph's nodes, with model-local functions expanded
 *
 * A call is replaced by the function's body: formal inputs and outputs become the call's, inner
 * names get the prefix "FUNCTION#CALL/", attribute references become the call's attributes (or go,
 * where the call does not give them). What this may take is bounded, because a few functions that
 * call each other twice are a bomb.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include "base/memory.h"
#include <internal/names.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct flattener {
    const Onnx__ModelProto *proto;
    px_arena *arena;
    pxi_names functions; /* "DOMAIN:NAME" to index */
    pxi_flat_node *nodes;
    size_t capacity;
    int count, calls;
    size_t expansion, most_expansion; /* bytes taken so far, and how many may be */
    px_error *err;
} flattener;

/* One call of a function; NULL stands for the main graph. */
typedef struct scope {
    const Onnx__FunctionProto *function;
    const pxi_flat_node *call;
    pxi_names formals; /* inputs, then outputs, to their position */
    int number;
} scope;

static const char *plain_domain(const char *domain)
{
    return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

int pxi_onnx_opset(Onnx__OperatorSetIdProto *const *imports, size_t count, const char *domain)
{
    int64_t version = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(plain_domain(imports[i]->domain), domain) == 0)
            version = PX_MAX(version, imports[i]->version);
    return (int)PX_MIN(version, (int64_t)INT_MAX);
}

int pxi_onnx_implied_opset(const Onnx__ModelProto *proto)
{
    return proto->ir_version > 0 && proto->ir_version < 3 && proto->n_opset_import == 0;
}

static void *flat_alloc(flattener *flat, size_t count, size_t size)
{
    if (count > flat->most_expansion / size ||
        (flat->expansion += count * size) > flat->most_expansion) {
        flat->expansion = flat->most_expansion + 1;
        px_fail(flat->err, PX_E_INPUT,
                "the model's functions expand to more than %zu bytes; no honest model does that",
                flat->most_expansion);
        return NULL;
    }
    void *block = pxi_arena_alloc(flat->arena, count, size);
    if (!block)
        pxi_no_memory(flat->err);
    return block;
}

/* What flat_alloc() said; for callers whose own err may be NULL. */
static px_status flat_status(const flattener *flat)
{
    return flat->expansion > flat->most_expansion ? PX_E_INPUT : PX_E_NOMEM;
}

/* An inner name as the outside sees it; NULL on failure. */
static char *scope_name(flattener *flat, const scope *in, char *name)
{
    if (!in || !*name)
        return name;
    const int formal = pxi_names_find(&in->formals, name);
    if (formal >= 0) {
        const size_t inputs = in->function->n_input, at = (size_t)formal;
        if (at < inputs)
            return at < in->call->input_count ? in->call->inputs[at] : flat_alloc(flat, 1, 1);
        if (at - inputs < in->call->output_count && *in->call->outputs[at - inputs])
            return in->call->outputs[at - inputs];
    }
    const char *function = pxi_text(in->function->name);
    const size_t size = strlen(function) + strlen(name) + 16;
    char *made = flat_alloc(flat, size, 1);
    if (made)
        snprintf(made, size, "%s#%d/%s", function, in->number, name);
    return made;
}

static char *const *scope_names(flattener *flat, const scope *in, char **names, size_t count)
{
    if (!in)
        return names;
    char **made = flat_alloc(flat, count + 1, sizeof *made);
    for (size_t i = 0; i < count && made; i++) {
        made[i] = scope_name(flat, in, names[i]);
        if (!made[i])
            return NULL;
    }
    return made;
}

static const Onnx__AttributeProto *call_attr(const pxi_flat_node *call, const char *name)
{
    for (size_t i = 0; i < call->attr_count; i++)
        if (strcmp(pxi_text(call->attrs[i]->name), name) == 0)
            return call->attrs[i];
    return NULL;
}

static px_status scope_attrs(flattener *flat, const scope *in, const Onnx__NodeProto *proto,
                             pxi_flat_node *node)
{
    if (proto->n_attribute > PXI_ONNX_MAX_ATTRS)
        return px_fail(flat->err, PX_E_INPUT, "node '%s' (%s) has %zu attributes; at most %d",
                       node->name, node->type, proto->n_attribute, PXI_ONNX_MAX_ATTRS);
    node->attrs = proto->attribute;
    node->attr_count = proto->n_attribute;
    bool refers = false;
    for (size_t i = 0; i < proto->n_attribute; i++)
        refers = refers || *pxi_text(proto->attribute[i]->ref_attr_name);
    if (!refers)
        return PX_OK;
    if (!in)
        return px_fail(flat->err, PX_E_INPUT,
                       "node '%s' (%s) refers to a function's attribute outside of any function",
                       node->name, node->type);
    Onnx__AttributeProto **attrs = flat_alloc(flat, proto->n_attribute, sizeof(void *));
    if (!attrs)
        return flat_status(flat);
    size_t count = 0;
    for (size_t i = 0; i < proto->n_attribute; i++) {
        Onnx__AttributeProto *attr = proto->attribute[i];
        if (*pxi_text(attr->ref_attr_name)) {
            const Onnx__AttributeProto *given = call_attr(in->call, attr->ref_attr_name);
            if (!given)
                continue;
            Onnx__AttributeProto *copy = flat_alloc(flat, 1, sizeof *copy);
            if (!copy)
                return flat_status(flat);
            *copy = *given;
            copy->name = attr->name;
            attr = copy;
        }
        attrs[count++] = attr;
    }
    node->attrs = attrs;
    node->attr_count = count;
    return PX_OK;
}

enum { FUNCTION_KEY = 2 * PXI_PB_MAX_NAME + 2, FUNCTION_DEFAULTS_FIELD = 11 };

static const char *function_key(const char *domain, const char *name, char key[FUNCTION_KEY])
{
    snprintf(key, FUNCTION_KEY, "%s:%s", plain_domain(domain), pxi_text(name));
    return key;
}

/* A newer schema than ours keeps attributes' default values in a field of its own: such a function
 * cannot be expanded faithfully, so its calls stay and are reported as unsupported operators. */
static bool function_is_plain(const Onnx__FunctionProto *function)
{
    for (unsigned i = 0; i < function->base.n_unknown_fields; i++)
        if (function->base.unknown_fields[i].tag == FUNCTION_DEFAULTS_FIELD)
            return false;
    return true;
}

static px_status flatten_functions(flattener *flat)
{
    char key[FUNCTION_KEY];
    if (flat->proto->n_functions > PXI_ONNX_MAX_NODES)
        return px_fail(flat->err, PX_E_INPUT, "%zu functions are too many",
                       flat->proto->n_functions);
    if (flat->proto->n_functions) {
        const size_t bytes = protobuf_c_message_get_packed_size(&flat->proto->base);
        flat->most_expansion = PX_MIN(PXI_ONNX_EXPANSION_MOST,
                                      PXI_ONNX_EXPANSION_BASE + PXI_ONNX_EXPANSION_FACTOR * bytes);
    }
    for (size_t i = 0; i < flat->proto->n_functions; i++) {
        const Onnx__FunctionProto *function = flat->proto->functions[i];
        const char *kept =
            pxi_arena_strdup(flat->arena, function_key(function->domain, function->name, key));
        const int held = kept ? pxi_names_add(&flat->functions, kept, (int)i) : -1;
        if (held < 0)
            return pxi_no_memory(flat->err);
        if (held != (int)i)
            return px_fail(flat->err, PX_E_INPUT, "the function '%s' is defined twice",
                           pxi_text(function->name));
    }
    return PX_OK;
}

static px_status flatten_nodes(flattener *flat, const scope *in, Onnx__NodeProto **nodes,
                               size_t count, int depth);

static px_status flatten_call(flattener *flat, const Onnx__FunctionProto *function,
                              const pxi_flat_node *call, int depth)
{
    px_status status = PX_OK;
    scope inner = {.function = function, .call = call, .number = flat->calls++};
    if (depth >= PXI_ONNX_MAX_CALLS)
        return px_fail(flat->err, PX_E_INPUT,
                       "the function '%s' is called more than %d deep; functions may not recurse",
                       call->type, PXI_ONNX_MAX_CALLS);
    if (call->input_count > function->n_input || call->output_count > function->n_output)
        return px_fail(flat->err, PX_E_INPUT,
                       "node '%s' gives the function '%s' more inputs or outputs than it has",
                       call->name, call->type);
    for (size_t i = 0; i < function->n_input + function->n_output && status == PX_OK; i++) {
        const char *formal =
            i < function->n_input ? function->input[i] : function->output[i - function->n_input];
        const int held = pxi_names_add(&inner.formals, formal, (int)i);
        if (held < 0)
            status = pxi_no_memory(flat->err);
        else if (held != (int)i)
            status = px_fail(flat->err, PX_E_INPUT, "the function '%s' has two formals named '%s'",
                             call->type, formal);
    }
    PX_THEN(status, flatten_nodes(flat, &inner, function->node, function->n_node, depth + 1));
    pxi_names_done(&inner.formals);
    return status;
}

static px_status flatten_node(flattener *flat, const scope *in, const Onnx__NodeProto *proto,
                              int depth)
{
    char key[FUNCTION_KEY];
    pxi_flat_node node = {.name = pxi_text(proto->name),
                          .type = pxi_text(proto->op_type),
                          .domain = plain_domain(proto->domain),
                          .input_count = proto->n_input,
                          .output_count = proto->n_output,
                          .in_function = in != NULL};
    if (!*node.type)
        return px_fail(flat->err, PX_E_INPUT, "node '%s' names no operator", node.name);
    if (in && *node.name) {
        node.name = scope_name(flat, in, proto->name);
        if (!node.name)
            return flat_status(flat);
    }
    node.inputs = scope_names(flat, in, proto->input, proto->n_input);
    node.outputs = scope_names(flat, in, proto->output, proto->n_output);
    if (in && (!node.inputs || !node.outputs))
        return flat_status(flat);
    PX_TRY(scope_attrs(flat, in, proto, &node));
    if (in)
        node.opset =
            pxi_onnx_opset(in->function->opset_import, in->function->n_opset_import, node.domain);
    if (!node.opset)
        node.opset =
            pxi_onnx_opset(flat->proto->opset_import, flat->proto->n_opset_import, node.domain);
    if (!node.opset && !*node.domain)
        node.opset = pxi_onnx_implied_opset(flat->proto);

    const int found = pxi_names_find(&flat->functions, function_key(node.domain, node.type, key));
    if (found >= 0 && function_is_plain(flat->proto->functions[found]))
        return flatten_call(flat, flat->proto->functions[found], &node, depth);
    if (flat->count >= PXI_ONNX_MAX_NODES)
        return px_fail(flat->err, PX_E_INPUT, "the graph has more than %d nodes",
                       PXI_ONNX_MAX_NODES);
    if (pxi_grow(&flat->nodes, &flat->capacity, (size_t)flat->count + 1, sizeof node) != 0)
        return pxi_no_memory(flat->err);
    flat->nodes[flat->count++] = node;
    return PX_OK;
}

static px_status flatten_nodes(flattener *flat, const scope *in, Onnx__NodeProto **nodes,
                               size_t count, int depth)
{
    for (size_t i = 0; i < count; i++)
        PX_TRY(flatten_node(flat, in, nodes[i], depth));
    return PX_OK;
}

px_status pxi_onnx_flatten(const Onnx__ModelProto *proto, const Onnx__GraphProto *graph,
                           px_arena *arena, pxi_flat_node **out, int *count, px_error *err)
{
    flattener flat = {.proto = proto, .arena = arena, .err = err};
    px_status status = flatten_functions(&flat);
    PX_THEN(status, flatten_nodes(&flat, NULL, graph->node, graph->n_node, 0));
    pxi_names_done(&flat.functions);
    if (status == PX_OK) {
        *out = flat.nodes;
        *count = flat.count;
    } else {
        free(flat.nodes);
    }
    return status;
}
