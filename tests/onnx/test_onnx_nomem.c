/* tests/onnx/test_onnx_nomem.c - each allocation of a load or save fails in turn */
#include "base/file.h"
#include "base/memory.h"
#include "onnx/corpus.h"

#include <stdlib.h>
#include <unistd.h>

/* The linker sends the library's allocations here (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static long countdown = -1; /* < 0: never fail */

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails() ? NULL : __real_reallocarray(old, count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

static const char *const files[] = {"small.onnx", "types-typed.onnx", "attributes.onnx",
                                    "function.onnx", "external.onnx"};

static void test_load(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        char path[CORPUS_PATH];
        corpus_path(files[f], path);
        long fail_at = 0;
        px_status status;
        do {
            px_model *model = NULL;
            px_error err = {0};
            countdown = fail_at;
            status = px_model_load(path, &model, &err);
            countdown = -1;
            if (status != PX_OK && status != PX_E_NOMEM)
                fail_msg("%s, allocation %ld: '%s'", files[f], fail_at, err.message);
            px_model_free(model);
            fail_at++;
        } while (status != PX_OK);
        assert_true(fail_at > 10);
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
    long fail_at = 0;
    px_status status;
    do {
        px_error err = {0};
        countdown = fail_at++;
        status = px_model_save(model, path, &err);
        countdown = -1;
        if (status != PX_OK && status != PX_E_NOMEM && status != PX_E_IO)
            fail_msg("allocation %ld: '%s'", fail_at, err.message);
    } while (status != PX_OK);
    assert_true(fail_at > 3);
    px_model_free(model);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load), cmocka_unit_test(test_save)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
