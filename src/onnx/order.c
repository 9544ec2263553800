/* src/onnx/order.c - nodes after what they read */
/* SPDX-License-Identifier: Apache-2.0 */
#include "onnx/reader.h"

#include "base/memory.h"

#include <stdlib.h>

enum { ORDER_NEW, ORDER_OPEN, ORDER_DONE };

typedef struct order_frame {
    int node;
    size_t next; /* input to look at */
} order_frame;

/* Depth first with a stack of our own: a file may chain as many nodes as it likes. */
px_status pxi_onnx_order(int node_count, int *const *inputs, const pxi_flat_node *nodes,
                         const int *producer, int *order, px_error *err)
{
    px_status status = PX_OK;
    const size_t count = (size_t)node_count;
    unsigned char *state = pxi_calloc(count, sizeof *state);
    order_frame *stack = pxi_calloc(count, sizeof *stack);
    int placed = 0;
    if (!state || !stack) {
        status = pxi_no_memory_for(err, "%d nodes", node_count);
        goto done;
    }
    for (int root = 0; root < node_count; root++) {
        if (state[root] != ORDER_NEW)
            continue;
        size_t depth = 0;
        stack[depth++] = (order_frame){.node = root};
        state[root] = ORDER_OPEN;
        while (depth) {
            order_frame *top = &stack[depth - 1];
            if (top->next == nodes[top->node].input_count) {
                state[top->node] = ORDER_DONE;
                order[placed++] = top->node;
                depth--;
                continue;
            }
            const int value = inputs[top->node][top->next++];
            const int maker = value >= 0 ? producer[value] : -1;
            if (maker < 0 || state[maker] == ORDER_DONE)
                continue;
            if (state[maker] == ORDER_OPEN) {
                status = px_fail(err, PX_E_INPUT, "node '%s' (%s) depends on its own output",
                                 nodes[maker].name, nodes[maker].type);
                goto done;
            }
            state[maker] = ORDER_OPEN;
            stack[depth++] = (order_frame){.node = maker};
        }
    }
done:
    free(state);
    free(stack);
    return status;
}
