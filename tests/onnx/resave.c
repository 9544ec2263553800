/* tests/onnx/resave.c - resave FROM TO: loads a model and saves it, for check_saved.py */
/* SPDX-License-Identifier: Apache-2.0 */
#include <plexor/onnx.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    px_model *model = NULL;
    px_error err = {0};
    if (argc != 3)
        return 2;
    const bool fine = px_model_load(argv[1], &model, &err) == PX_OK &&
                      px_model_save(model, argv[2], &err) == PX_OK;
    if (!fine)
        fprintf(stderr, "%s\n", err.message);
    px_model_free(model);
    return fine ? 0 : 1;
}
