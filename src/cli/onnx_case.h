/* src/cli/onnx_case.h - one ONNX backend test: a folder with model.onnx and test_data_set_* */
#ifndef PLEXOR_CLI_ONNX_CASE_H
#define PLEXOR_CLI_ONNX_CASE_H

#include <plexor/error.h>
#include <stdbool.h>

typedef enum onnx_verdict { ONNX_PASSED, ONNX_FAILED, ONNX_SKIPPED } onnx_verdict;

typedef struct onnx_case {
    onnx_verdict verdict;
    bool compiled;      /* a plan agreed too, not only the interpreter */
    char operator[128]; /* skipped: the operator (or type) that plexor does not have */
    char message[512];  /* failed or skipped: why */
} onnx_case;

/* Runs every data set of the folder twice: through the interpreter, and, where shapes do not depend
 * on the values of inputs, through a compiled plan. Outputs agree where
 * |ours - theirs| <= atol + rtol * |theirs|, NaN with NaN, and integers exactly. */
void onnx_case_run(const char *folder, double rtol, double atol, onnx_case *out);

#endif
