/* tests/onnx/test_onnx_nomem.c - each allocation of a load or save fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "failing_alloc.h"
#include "onnx/corpus.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const files[] = {"small.onnx", "types-typed.onnx", "attributes.onnx",
                                    "function.onnx", "external.onnx"};

static void test_load(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        char path[CORPUS_PATH];
        corpus_path(files[f], path);
        bool failed = true;
        for (long k = 0; failed; k++) {
            px_model *model = NULL;
            px_error err = {0};
            fail_at(k);
            const px_status status = px_model_load(path, &model, &err);
            failed = fail_never();
            if (status != (failed ? PX_E_NOMEM : PX_OK))
                fail_msg("%s, allocation %ld: '%s'", files[f], k, err.message);
            px_model_free(model);
            assert_true(failed || k > 10);
        }
    }
}

static void test_save(void **state)
{
    (void)state;
    char path[] = "/tmp/plexor-save-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    px_model *model = corpus_load("small.onnx");
    bool failed = true;
    for (long k = 0; failed; k++) {
        px_error err = {0};
        fail_at(k);
        const px_status status = px_model_save(model, path, &err);
        failed = fail_never();
        if (failed ? status != PX_E_NOMEM && status != PX_E_IO : status != PX_OK)
            fail_msg("allocation %ld: '%s'", k, err.message);
        assert_true(failed || k > 3);
    }
    px_model_free(model);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load), cmocka_unit_test(test_save)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
