/* src/onnx/writer.c - from a model to a file
 *
 * Messages are put together in an arena and view the model's names and numbers; protobuf-c packs
 * them once. All tensors are written as raw_data, so the bytes depend on the model alone.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include "base/file.h"
#include "base/memory.h"
#include <internal/model.h>

#include <internal/graph.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const px_graph *graph;
    int captured; /* of its inputs, those at the end, which are of the graph around it */
    bool inner;   /* inside of a node */
    int ir_version;
    px_arena *arena;
    px_error *err;
} writer;

/* `count` fresh messages and the array of pointers to them that protobuf-c wants; *list is a
 * T **. */
static px_status writer_list(writer *to, const ProtobufCMessageDescriptor *type, size_t count,
                             void *list)
{
    void **pointers = pxi_arena_alloc(to->arena, count, sizeof *pointers);
    char *messages = pxi_arena_alloc(to->arena, count, type->sizeof_message);
    if (!pointers || !messages)
        return pxi_no_memory(to->err);
    for (size_t i = 0; i < count; i++) {
        pointers[i] = messages + i * type->sizeof_message;
        protobuf_c_message_init(type, pointers[i]);
    }
    memcpy(list, &pointers, sizeof pointers);
    return PX_OK;
}

/* One fresh message; *message is a T *. */
static px_status writer_one(writer *to, const ProtobufCMessageDescriptor *type, void *message)
{
    void **list = NULL;
    PX_TRY(writer_list(to, type, 1, &list));
    memcpy(message, list, sizeof *list);
    return PX_OK;
}

/* Packing only reads; protobuf-c's structures have no const. */
static char *writer_text(const char *text)
{
    return (char *)text;
}

static px_status write_tensor(writer *to, const px_tensor *tensor, const char *name,
                              Onnx__TensorProto *proto)
{
    proto->name = writer_text(name);
    proto->has_data_type = 1;
    proto->data_type = (int32_t)tensor->dtype;
    proto->n_dims = (size_t)tensor->shape.rank;
    proto->dims = (int64_t *)tensor->shape.dim;
    proto->has_raw_data = 1;
    proto->raw_data.len = px_tensor_bytes(tensor);
    proto->raw_data.data = tensor->data;
    if (tensor->dtype != PX_INT4 && tensor->dtype != PX_UINT4)
        return PX_OK;
    const size_t count = proto->raw_data.len; /* two to a byte, the lower half first */
    uint8_t *packed = pxi_arena_alloc(to->arena, count / 2 + 1, 1);
    if (!packed)
        return pxi_no_memory(to->err);
    for (size_t i = 0; i < count; i++)
        packed[i / 2] |= (uint8_t)((((const uint8_t *)tensor->data)[i] & 15u) << (i % 2 ? 4 : 0));
    proto->raw_data.len = count / 2 + count % 2;
    proto->raw_data.data = packed;
    return PX_OK;
}

static px_status write_shape(writer *to, const px_value *value, Onnx__TensorShapeProto **out)
{
    const size_t rank = (size_t)value->shape.rank;
    PX_TRY(writer_one(to, &onnx__tensor_shape_proto__descriptor, out));
    (*out)->n_dim = rank;
    PX_TRY(writer_list(to, &onnx__tensor_shape_proto__dimension__descriptor, rank, &(*out)->dim));
    for (size_t i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *dim = (*out)->dim[i];
        if (value->shape.dim[i] >= 0) {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            dim->dim_value = value->shape.dim[i];
        } else if (value->dim_names && value->dim_names[i]) {
            dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            dim->dim_param = writer_text(value->dim_names[i]);
        }
    }
    return PX_OK;
}

static px_status write_value(writer *to, const px_value *value, Onnx__ValueInfoProto *proto)
{
    proto->name = writer_text(value->name);
    if (value->foreign_type)
        return px_fail(to->err, PX_E_UNSUPPORTED,
                       "'%s' is of the type %s, which plexor cannot write", value->name,
                       value->foreign_type);
    if (value->dtype == PX_NONE && !value->has_shape)
        return PX_OK;
    PX_TRY(writer_one(to, &onnx__type_proto__descriptor, &proto->type));
    proto->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    PX_TRY(writer_one(to, &onnx__type_proto__tensor__descriptor, &proto->type->tensor_type));
    Onnx__TypeProto__Tensor *tensor = proto->type->tensor_type;
    tensor->has_elem_type = value->dtype != PX_NONE;
    tensor->elem_type = (int32_t)value->dtype;
    return value->has_shape ? write_shape(to, value, &tensor->shape) : PX_OK;
}

static px_status write_strings(writer *to, const px_attr *attr, Onnx__AttributeProto *proto)
{
    proto->n_strings = attr->count;
    PX_TRY(PX_ARENA_NEW(proto->strings, to->arena, attr->count, to->err));
    for (size_t i = 0; i < attr->count; i++) {
        proto->strings[i].len = strlen(attr->strings[i]);
        proto->strings[i].data = (uint8_t *)writer_text(attr->strings[i]);
    }
    return PX_OK;
}

#define ATTR_TYPE(name) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##name

static px_status write_graph(writer *to, const px_graph *graph, Onnx__GraphProto *proto);

static px_status write_inner(writer *to, const px_attr *attr, Onnx__AttributeProto *proto)
{
    const writer around = *to;
    PX_TRY(writer_one(to, &onnx__graph_proto__descriptor, &proto->g));
    to->captured = (int)attr->count;
    to->inner = true;
    const px_status status = write_graph(to, attr->graph, proto->g);
    *to = around;
    return status;
}

static px_status write_attr(writer *to, const px_node *node, const px_attr *attr,
                            Onnx__AttributeProto *proto)
{
    proto->name = writer_text(attr->name);
    proto->has_type = 1;
    switch (attr->kind) {
    case PX_ATTR_INT:
        proto->type = ATTR_TYPE(INT);
        proto->has_i = 1;
        proto->i = attr->i;
        return PX_OK;
    case PX_ATTR_FLOAT:
        proto->type = ATTR_TYPE(FLOAT);
        proto->has_f = 1;
        proto->f = attr->f;
        return PX_OK;
    case PX_ATTR_STRING:
        proto->type = ATTR_TYPE(STRING);
        proto->has_s = 1;
        proto->s.len = strlen(attr->s);
        proto->s.data = (uint8_t *)writer_text(attr->s);
        return PX_OK;
    case PX_ATTR_TENSOR:
        proto->type = ATTR_TYPE(TENSOR);
        PX_TRY(writer_one(to, &onnx__tensor_proto__descriptor, &proto->t));
        return write_tensor(to, &attr->tensor, NULL, proto->t);
    case PX_ATTR_INTS:
        proto->type = ATTR_TYPE(INTS);
        proto->n_ints = attr->count;
        proto->ints = (int64_t *)attr->ints;
        return PX_OK;
    case PX_ATTR_FLOATS:
        proto->type = ATTR_TYPE(FLOATS);
        proto->n_floats = attr->count;
        proto->floats = (float *)attr->floats;
        return PX_OK;
    case PX_ATTR_STRINGS:
        proto->type = ATTR_TYPE(STRINGS);
        return write_strings(to, attr, proto);
    case PX_ATTR_GRAPH:
        proto->type = ATTR_TYPE(GRAPH);
        return write_inner(to, attr, proto);
    case PX_ATTR_OTHER:
        break;
    }
    return px_fail(to->err, PX_E_UNSUPPORTED,
                   "node '%s' (%s) has the attribute '%s', of a kind that plexor cannot write",
                   node->name, node->type, attr->name);
}

static px_status write_names(writer *to, const int *values, int count, size_t *n, char ***names)
{
    *n = (size_t)count;
    *names = pxi_arena_alloc(to->arena, *n, sizeof **names);
    if (!*names)
        return pxi_no_memory(to->err);
    for (int i = 0; i < count; i++)
        (*names)[i] = writer_text(values[i] < 0 ? "" : to->graph->values[values[i]].name);
    return PX_OK;
}

static px_status write_node(writer *to, const px_node *node, Onnx__NodeProto *proto)
{
    proto->name = *node->name ? writer_text(node->name) : NULL;
    proto->op_type = writer_text(node->type);
    proto->domain = *node->domain ? writer_text(node->domain) : NULL;
    int own = node->input_count; /* not those for inner graphs */
    for (int i = 0; i < node->attr_count; i++)
        if (node->attrs[i].kind == PX_ATTR_GRAPH)
            own = PX_MIN(own, (int)node->attrs[i].i);
    PX_TRY(write_names(to, node->inputs, own, &proto->n_input, &proto->input));
    PX_TRY(write_names(to, node->outputs, node->output_count, &proto->n_output, &proto->output));
    proto->n_attribute = (size_t)node->attr_count;
    PX_TRY(
        writer_list(to, &onnx__attribute_proto__descriptor, proto->n_attribute, &proto->attribute));
    for (int i = 0; i < node->attr_count; i++)
        PX_TRY(write_attr(to, node, &node->attrs[i], proto->attribute[i]));
    return PX_OK;
}

enum { IR_WITH_FREE_INITIALISERS = 4 }; /* before it, initialisers had to be inputs as well */

/* Inputs, outputs, initialisers and what is declared about the values between. */
static px_status write_values(writer *to, Onnx__GraphProto *proto)
{
    const px_graph *graph = to->graph;
    const size_t count = (size_t)graph->value_count;
    bool *is_output = NULL;
    PX_TRY(PX_ARENA_NEW(is_output, to->arena, count, to->err));
    PX_TRY(writer_list(to, &onnx__value_info_proto__descriptor, count, &proto->input));
    PX_TRY(writer_list(to, &onnx__value_info_proto__descriptor, count, &proto->value_info));
    PX_TRY(writer_list(to, &onnx__tensor_proto__descriptor, count, &proto->initializer));
    PX_TRY(writer_list(to, &onnx__value_info_proto__descriptor, (size_t)graph->output_count,
                       &proto->output));
    for (int i = 0; i < graph->input_count - to->captured; i++)
        PX_TRY(write_value(to, &graph->values[graph->inputs[i]], proto->input[proto->n_input++]));
    for (int i = 0; i < graph->output_count; i++) {
        is_output[graph->outputs[i]] = true;
        PX_TRY(
            write_value(to, &graph->values[graph->outputs[i]], proto->output[proto->n_output++]));
    }
    for (int v = 0; v < graph->value_count; v++) {
        const px_value *value = &graph->values[v];
        if (value->constant) {
            PX_TRY(write_tensor(to, value->constant, value->name,
                                proto->initializer[proto->n_initializer++]));
            if (to->ir_version < IR_WITH_FREE_INITIALISERS && !to->inner)
                PX_TRY(write_value(to, value, proto->input[proto->n_input++]));
        } else if (value->producer >= 0 && !is_output[v] && !value->foreign_type &&
                   (value->dtype != PX_NONE || value->has_shape)) {
            PX_TRY(write_value(to, value, proto->value_info[proto->n_value_info++]));
        }
    }
    return PX_OK;
}

static px_status write_graph(writer *to, const px_graph *graph, Onnx__GraphProto *proto)
{
    to->graph = graph;
    proto->name = writer_text(graph->name);
    PX_TRY(write_values(to, proto));
    proto->n_node = (size_t)graph->node_count;
    PX_TRY(writer_list(to, &onnx__node_proto__descriptor, proto->n_node, &proto->node));
    for (int n = 0; n < graph->node_count; n++)
        PX_TRY(write_node(to, &graph->nodes[n], proto->node[n]));
    return PX_OK;
}

/* One import per domain, ai.onnx first, others as their nodes appear. */
static px_status write_imports(writer *to, int opset, Onnx__ModelProto *proto)
{
    const px_graph *graph = to->graph;
    PX_TRY(writer_list(to, &onnx__operator_set_id_proto__descriptor, (size_t)graph->node_count + 1,
                       &proto->opset_import));
    Onnx__OperatorSetIdProto **imports = proto->opset_import;
    if (opset) {
        imports[0]->domain = writer_text("");
        imports[0]->has_version = 1;
        imports[0]->version = opset;
        proto->n_opset_import = 1;
    }
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        size_t at = 0;
        while (at < proto->n_opset_import && strcmp(imports[at]->domain, node->domain) != 0)
            at++;
        if (at == proto->n_opset_import) {
            imports[at]->domain = writer_text(node->domain);
            imports[at]->has_version = 1;
            imports[at]->version = node->opset;
            proto->n_opset_import++;
        }
        if (imports[at]->version != node->opset)
            return px_fail(to->err, PX_E_UNSUPPORTED,
                           "node '%s' (%s) wants version %d of the operators '%s', others want "
                           "another; an ONNX graph has one",
                           node->name, node->type, node->opset, node->domain);
    }
    return PX_OK;
}

static px_status write_model(writer *to, const px_model *model, Onnx__ModelProto *proto)
{
    proto->has_ir_version = 1;
    proto->ir_version = model->ir_version;
    proto->producer_name = writer_text(px_model_producer(model));
    PX_TRY(write_imports(to, model->opset, proto));
    proto->n_metadata_props = model->property_count;
    PX_TRY(writer_list(to, &onnx__string_string_entry_proto__descriptor, model->property_count,
                       &proto->metadata_props));
    for (size_t i = 0; i < model->property_count; i++) {
        proto->metadata_props[i]->key = writer_text(model->properties[i].key);
        proto->metadata_props[i]->value = writer_text(model->properties[i].value);
    }
    PX_TRY(writer_one(to, &onnx__graph_proto__descriptor, &proto->graph));
    return write_graph(to, &model->graph, proto->graph);
}

px_status pxi_onnx_pack(const px_model *model, uint8_t **out, size_t *size, px_error *err)
{
    Onnx__ModelProto proto = ONNX__MODEL_PROTO__INIT;
    writer to = {.graph = &model->graph,
                 .ir_version = model->ir_version,
                 .arena = pxi_arena_new(),
                 .err = err};
    px_status status = to.arena ? write_model(&to, model, &proto) : pxi_no_memory(to.err);
    if (status != PX_OK)
        goto done;
    *size = protobuf_c_message_get_packed_size(&proto.base);
    if (*size > PXI_PB_MAX_BYTES) {
        status = px_fail(err, PX_E_UNSUPPORTED,
                         "the model takes %zu bytes; an ONNX file holds at most 2 GiB", *size);
        goto done;
    }
    *out = malloc(*size);
    if (*out)
        protobuf_c_message_pack(&proto.base, *out);
    else
        status = pxi_no_memory(to.err);
done:
    pxi_arena_free(to.arena);
    return status;
}

px_status px_model_save(const px_model *model, const char *path, px_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    px_status status = pxi_onnx_pack(model, &bytes, &size, err);
    if (status != PX_OK)
        return px_fail_in(err, status, "'%s'", path);
    status = pxi_file_write(path, bytes, size, err);
    free(bytes);
    return status;
}
