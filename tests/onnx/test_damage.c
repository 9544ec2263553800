/* tests/onnx/test_damage.c - files cut off, bits flipped, sizes that lie: one message, no harm */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "onnx/corpus.h"

#include <internal/onnx.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *const files[] = {"small.onnx", "types-typed.onnx", "attributes.onnx",
                                    "function.onnx", "subgraph.onnx", "loop.onnx"};

static unsigned char *read_corpus(const char *name, size_t *size)
{
    char path[CORPUS_PATH], *bytes = NULL;
    px_error err = {0};
    if (pxi_file_read(corpus_path(name, path), 1 << 20, &bytes, size, &err) != PX_OK)
        fail_msg("%s", err.message);
    return (unsigned char *)bytes;
}

/* Any outcome but trouble; a failure names the file. True: it was accepted. */
static bool parse(const void *bytes, size_t size, const char *what, size_t at)
{
    px_model *model = NULL;
    px_error err = {0};
    const px_status status = px_model_parse(bytes, size, "net.onnx", &model, &err);
    if (status != PX_OK && ((status != PX_E_INPUT && status != PX_E_UNSUPPORTED) ||
                            strncmp(err.message, "'net.onnx': ", 12) != 0 || model))
        fail_msg("%s at %zu: status %d, '%s'", what, at, (int)status, err.message);
    px_model_free(model);
    return status == PX_OK;
}

/* The exact bytes are on the heap, so that AddressSanitizer sees every step beyond them. */
static void test_truncation(void **state)
{
    (void)state;
    for (size_t f = 0; f < PX_LEN(files); f++) {
        size_t size = 0;
        unsigned char *bytes = read_corpus(files[f], &size);
        for (size_t cut = 0; cut < size; cut++) {
            unsigned char *part = malloc(cut ? cut : 1);
            assert_non_null(part);
            memcpy(part, bytes, cut);
            parse(part, cut, files[f], cut);
            free(part);
        }
        assert_true(parse(bytes, size, files[f], size));
        free(bytes);
    }
}

static void test_bit_flips(void **state)
{
    (void)state;
    static const unsigned char flips[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
    for (size_t f = 0; f < PX_LEN(files); f++) {
        size_t size = 0, refused = 0;
        unsigned char *bytes = read_corpus(files[f], &size);
        for (size_t at = 0; at < size; at++)
            for (size_t k = 0; k < PX_LEN(flips); k++) {
                bytes[at] ^= flips[k];
                refused += !parse(bytes, size, files[f], at);
                bytes[at] ^= flips[k];
            }
        assert_true(refused > size); /* or nothing is being looked at */
        free(bytes);
    }
}

static size_t put_varint(unsigned char *to, uint64_t number)
{
    size_t used = 0;
    for (; number > 0x7f; number >>= 7)
        to[used++] = (unsigned char)((number & 0x7f) | 0x80);
    to[used++] = (unsigned char)number;
    return used;
}

/* The field GraphProto.graph with a length that lies, for many lengths. */
static void test_lying_sizes(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++)
        for (uint64_t off = 0; off < 2; off++) {
            unsigned char bytes[16] = {7 << 3 | 2};
            const size_t used = 1 + put_varint(bytes + 1, ((uint64_t)1 << shift) - off);
            if (((uint64_t)1 << shift) - off > 0)
                assert_false(parse(bytes, used, "length", shift));
        }
}

/* Two bytes on the wire are hundreds in memory: 64 MiB of empty attributes must be refused before
 * they are a dozen GiB. */
static void test_amplification(void **state)
{
    (void)state;
    const size_t empties = (size_t)16 << 20, size = 2 * empties;
    unsigned char head[24], *bytes = malloc(size + sizeof head);
    assert_non_null(bytes);
    size_t used = 0, inner = 0;
    unsigned char node[12];
    node[inner++] = 1 << 3 | 2; /* GraphProto.node */
    inner += put_varint(node + inner, size);
    head[used++] = 7 << 3 | 2; /* ModelProto.graph */
    used += put_varint(head + used, inner + size);
    memcpy(bytes, head, used);
    memcpy(bytes + used, node, inner);
    for (size_t i = 0; i < empties; i++) {
        bytes[used + inner + 2 * i] = 5 << 3 | 2; /* NodeProto.attribute, empty */
        bytes[used + inner + 2 * i + 1] = 0;
    }
    assert_false(parse(bytes, used + inner + size, "amplification", 0));
    free(bytes);
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss < (long)2048 * 1024); /* KiB */
}

/* A singular message that is there a million times would be merged a million times. */
static void test_repeated_singular(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    static const unsigned char one[] = {7 << 3 | 2, 2, 1 << 3 | 2, 0}; /* graph { node {} } */
    unsigned char *bytes = malloc(COUNT * sizeof one);
    assert_non_null(bytes);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(bytes + i * sizeof one, one, sizeof one);
    const clock_t start = clock();
    assert_false(parse(bytes, COUNT * sizeof one, "repeated", 0));
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
    free(bytes);
}

static void test_tensor_files(void **state)
{
    (void)state;
    char path[] = "/tmp/plexor-tensor-XXXXXX", *name = NULL;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    /* dims: 2; data_type: 1; float_data: 1, -2; name: "t" */
    static const unsigned char good[] = {8,    2, 16, 1, 34,   8,  0, 0,  0x80,
                                         0x3f, 0, 0,  0, 0xc0, 66, 1, 't'};
    px_tensor tensor = {0};
    px_error err = {0};
    assert_int_equal(pxi_file_write(path, good, sizeof good, &err), PX_OK);
    assert_int_equal(px_tensor_load_pb(path, &tensor, &name, &err), PX_OK);
    assert_string_equal(name, "t");
    assert_true(tensor.shape.rank == 1 && ((const float *)tensor.data)[1] == -2.0f);
    px_tensor_done(&tensor);
    free(name);
    for (size_t cut = 0; cut + 3 < sizeof good; cut++) { /* what is left without the name is fine */
        assert_int_equal(pxi_file_write(path, good, cut, &err), PX_OK);
        const px_status status = px_tensor_load_pb(path, &tensor, NULL, &err);
        if (status == PX_OK || !strstr(err.message, path))
            fail_msg("cut at %zu: status %d, '%s'", cut, (int)status, err.message);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation),        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_lying_sizes),       cmocka_unit_test(test_amplification),
        cmocka_unit_test(test_repeated_singular), cmocka_unit_test(test_tensor_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
