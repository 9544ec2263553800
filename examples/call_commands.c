/* examples/call_commands.c - plexor's commands as functions
 *
 *     cc $(pkg-config --cflags plexor) call_commands.c $(pkg-config --libs plexor) -o call_commands
 *     ./call_commands net.onnx digits
 *
 * Every command works this way, with the options that `plexor help COMMAND` tells.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/plexor.h>
#include <stdio.h>
#include <string.h>

static bool progress(void *context, const px_call_progress *at)
{
    (void)context;
    fprintf(stderr, "%s: %d of %d\n", at->label, (int)at->done, (int)at->total);
    return true; /* go on */
}

static void remark(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "remark: %s\n", sentence);
}

/* What each input is, from the arrays that come with the result. */
static void print_arrays(const px_call_result *result)
{
    for (size_t i = 0; i < result->array_count; i++) {
        const px_call_array *array = result->arrays[i];
        char shape[PX_SHAPE_TEXT];
        printf("%s %s %s\n", array->name, px_dtype_name(array->tensor.dtype),
               px_shape_text(&array->tensor.shape, shape));
    }
}

int main(int argc, char **argv)
{
    px_call_io io = px_call_io_default();
    px_call_result result = px_call_result_default();
    io.progress = progress;
    io.remark = remark;
    if (argc != 3) {
        fprintf(stderr, "usage: call_commands MODEL.onnx DATA\n");
        return 2;
    }
    const char *words[] = {"predict", argv[1],       "--data", argv[2], "--limit", "100",
                           "-o",      "mem:out.npz", "--json", "--top", "1"};
    const int status = px_call((int)(sizeof words / sizeof *words), words, &io, &result);
    if (status == 0) {
        print_arrays(&result);
        printf("and %d bytes of JSON\n", (int)strlen(result.json));
    } else {
        fprintf(stderr, "call_commands: %s\n", result.error);
    }
    px_call_done(&result);
    return status;
}
