/* fuzz/fuzz_onnx.c - the ONNX reader on arbitrary bytes, and what it accepted through the writer,
 * the builder and the weights
 *
 * Besides what the sanitizers see: the promises of <plexor/graph.h> must hold for every accepted
 * model, and whatever can be written must read back.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include <internal/build.h>
#include <internal/reach.h>
#include <internal/weights.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_values(const px_graph *graph, const int *values, int count, int before)
{
    for (int i = 0; i < count; i++) {
        require(values[i] >= -1 && values[i] < graph->value_count);
        if (values[i] >= 0)
            require(graph->values[values[i]].producer < before);
    }
}

static unsigned check_tensor(const px_tensor *tensor)
{
    unsigned sum = 0; /* touch every byte */
    require(tensor->data != NULL);
    for (size_t i = 0; i < px_tensor_bytes(tensor); i++)
        sum += ((const unsigned char *)tensor->data)[i];
    return sum;
}

static void check_model(const px_model *model)
{
    const px_graph *graph = px_model_graph(model);
    check_values(graph, graph->inputs, graph->input_count, 0);
    check_values(graph, graph->outputs, graph->output_count, graph->node_count);
    for (int v = 0; v < graph->value_count; v++) {
        require(px_graph_find_value(graph, graph->values[v].name) == v);
        if (graph->values[v].constant)
            check_tensor(graph->values[v].constant);
    }
    for (int n = 0; n < graph->node_count; n++) {
        const px_node *node = &graph->nodes[n];
        check_values(graph, node->inputs, node->input_count, n);
        for (int i = 0; i < node->output_count; i++)
            require(node->outputs[i] < 0 || graph->values[node->outputs[i]].producer == n);
        for (int i = 0; i < node->attr_count; i++)
            if (node->attrs[i].kind == PX_ATTR_TENSOR)
                check_tensor(&node->attrs[i].tensor);
    }
    if (graph->value_count) {
        int *feeds = NULL;
        require(px_graph_restart(graph, graph->value_count - 1, &feeds) >= 1);
        free(feeds);
        bool cut = false;
        (void)pxi_graph_cuts(graph, 0, graph->outputs[0], &cut, NULL);
    }
    px_model_parameters(model, NULL);
}

/* Whatever was read can be copied; whoever has weights can freeze them. */
static void check_copies(const px_model *model)
{
    px_builder *builder = NULL;
    px_weights *weights = NULL;
    px_model *copy = NULL, *frozen = NULL;
    px_error err = {0};
    require(px_builder_from_model(model, &builder, &err) == PX_OK);
    require(px_builder_finish(builder, &copy, &err) == PX_OK);
    check_model(copy);
    require(px_model_graph(copy)->value_count == px_model_graph(model)->value_count);
    if (px_weights_new(copy, &weights, &err) == PX_OK) {
        require(px_weights_freeze(weights, NULL, 0, &frozen, &err) == PX_OK);
        require(px_model_hash(frozen) == px_model_hash(copy));
    } else {
        require(err.status == PX_E_UNSUPPORTED);
    }
    px_weights_free(weights);
    px_model_free(frozen);
    px_model_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    px_model *model = NULL, *again = NULL;
    px_error err = {0};
    uint8_t *packed = NULL;
    size_t packed_size = 0;
    if (px_model_parse(bytes, size, "fuzz", &model, &err) == PX_OK) {
        check_model(model);
        check_copies(model);
        if (pxi_onnx_pack(model, &packed, &packed_size, &err) == PX_OK) {
            require(px_model_parse(packed, packed_size, "packed", &again, &err) == PX_OK);
            require(px_model_graph(again)->node_count == px_model_graph(model)->node_count);
        }
    } else {
        require(strncmp(err.message, "'fuzz': ", 8) == 0);
    }
    free(packed);
    px_model_free(again);
    px_model_free(model);

    pxi_pb *pb = NULL;
    if (pxi_pb_decode(&onnx__tensor_proto__descriptor, bytes, size, false, &pb, &err) == PX_OK) {
        px_arena *arena = pxi_arena_new();
        px_tensor tensor = {0};
        if (arena && pxi_onnx_tensor((const Onnx__TensorProto *)pb->message, arena, NULL, &tensor,
                                     &err) == PX_OK)
            check_tensor(&tensor);
        pxi_arena_free(arena);
        pxi_pb_free(pb);
    }
    return 0;
}
