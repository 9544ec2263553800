/* tests/data/test_npz.c - .npz files: round trip, numpy, determinism, damage */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "data/data_helpers.h"
#include "data/npz.h"
#include <internal/data.h>

static void write_sample(const char *path)
{
    px_error err = {0};
    px_npz_writer *writer = NULL;
    float weights[6] = {0, 1, 2, 3, 4, 5};
    int64_t labels[3] = {7, -1, 2};
    const px_tensor w = {PX_FLOAT32, {.rank = 2, .dim = {2, 3}}, weights};
    const px_tensor empty = {PX_FLOAT64, {.rank = 2, .dim = {0, 4}}, NULL};
    const px_shape stream = {.rank = 1, .dim = {3}};
    assert_int_equal(px_npz_create(path, &writer, &err), PX_OK);
    assert_int_equal(px_npz_add(writer, "layer/w", &w, &err), PX_OK);
    assert_int_equal(px_npz_add(writer, "empty", &empty, &err), PX_OK);
    assert_int_equal(px_npz_begin(writer, "labels", PX_INT64, &stream, &err), PX_OK);
    assert_int_equal(px_npz_write(writer, labels, 8, &err), PX_OK);
    assert_int_equal(px_npz_write(writer, labels + 1, 16, &err), PX_OK);
    assert_int_equal(px_npz_commit(writer, &err), PX_OK);
}

static void test_round_trip(void **state)
{
    (void)state;
    px_error err = {0};
    px_npz *npz = NULL;
    write_sample("x.npz");
    if (px_npz_open("x.npz", &npz, &err) != PX_OK)
        fail_msg("%s", err.message);
    assert_int_equal(px_npz_count(npz), 3);
    const px_tensor *w = px_npz_get(npz, "layer/w"), *labels = px_npz_get(npz, "labels");
    assert_non_null(w);
    assert_non_null(labels);
    assert_null(px_npz_get(npz, "layer"));
    assert_int_equal(w->shape.dim[1], 3);
    assert_true(((float *)w->data)[5] == 5.0f);
    assert_int_equal(((int64_t *)labels->data)[1], -1);
    assert_int_equal(px_npz_get(npz, "empty")->shape.dim[1], 4);
    px_npz_close(npz);
}

static void test_same_bytes(void **state)
{
    (void)state;
    px_error err = {0};
    char *a = NULL, *b = NULL;
    size_t a_size = 0, b_size = 0;
    write_sample("a.npz");
    write_sample("b.npz");
    assert_int_equal(pxi_file_read("a.npz", 1 << 20, &a, &a_size, &err), PX_OK);
    assert_int_equal(pxi_file_read("b.npz", 1 << 20, &b, &b_size, &err), PX_OK);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a, b, a_size);
    free(a);
    free(b);
}

static void test_numpy_reads_ours(void **state)
{
    (void)state;
    SKIP_WITHOUT("numpy");
    write_sample("x.npz");
    assert_true(run_python("import numpy as np, zipfile\n"
                           "assert zipfile.ZipFile('x.npz').testzip() is None\n"
                           "z = np.load('x.npz')\n"
                           "assert z.files == ['layer/w', 'empty', 'labels'], z.files\n"
                           "assert (z['layer/w'] == np.arange(6).reshape(2, 3)).all()\n"
                           "assert z['layer/w'].dtype == np.float32\n"
                           "assert (z['labels'] == [7, -1, 2]).all()\n"
                           "assert z['empty'].shape == (0, 4)\n"));
}

static void test_reads_numpys(void **state)
{
    (void)state;
    SKIP_WITHOUT("numpy");
    assert_true(run_python("import numpy as np\n"
                           "a = dict(x=np.arange(1000).astype('f4'),\n"
                           "         y=np.asfortranarray(np.arange(6).reshape(2, 3)))\n"
                           "np.savez('stored.npz', **a)\n"
                           "np.savez_compressed('packed.npz', **a)\n"));
    static const char *const names[] = {"stored.npz", "packed.npz"};
    for (int i = 0; i < 2; i++) {
        px_npz *npz = NULL;
        px_error err = {0};
        if (px_npz_open(names[i], &npz, &err) != PX_OK)
            fail_msg("%s: %s", names[i], err.message);
        const px_tensor *x = px_npz_get(npz, "x"), *y = px_npz_get(npz, "y");
        assert_true(x && y);
        for (int k = 0; k < 1000; k++)
            assert_true(((float *)x->data)[k] == (float)k);
        for (int k = 0; k < 6; k++)
            assert_int_equal(((int64_t *)y->data)[k], k);
        px_npz_close(npz);
    }
}

/* Every prefix and every single flipped bit either fails with a message or reads as before. */
static void test_damage(void **state)
{
    (void)state;
    px_error err = {0};
    char *good = NULL;
    size_t size = 0;
    write_sample("x.npz");
    assert_int_equal(pxi_file_read("x.npz", 1 << 20, &good, &size, &err), PX_OK);
    for (size_t cut = 0; cut < size; cut++) {
        pxi_bytes bytes = pxi_bytes_view(good, cut);
        px_npz *npz = NULL;
        err = (px_error){0};
        if (pxi_npz_read("cut.npz", &bytes, &npz, &err) == PX_OK)
            fail_msg("a file cut to %zu of %zu bytes was read", cut, size);
        assert_non_null(strstr(err.message, "cut.npz"));
    }
    size_t noticed = 0;
    for (size_t bit = 0; bit < size * 8; bit++) {
        good[bit / 8] = (char)(good[bit / 8] ^ 1 << bit % 8);
        pxi_bytes bytes = pxi_bytes_view(good, size);
        px_npz *npz = NULL;
        noticed += pxi_npz_read("flip.npz", &bytes, &npz, &err) != PX_OK;
        px_npz_close(npz);
        good[bit / 8] = (char)(good[bit / 8] ^ 1 << bit % 8);
    }
    assert_true(noticed > size * 8 / 2); /* headers have fields that nobody reads */
    free(good);
}

/* The deflated data are damaged: whoever unpacks them before looking at the header says so. */
static void test_sizes_before_unpacking(void **state)
{
    (void)state;
    static const struct {
        const char *file, *says;
    } cases[] = {
        {"much.npz", "truncated: [1000000000] of uint8 does not fit"},
        {"little.npz", "4000128 bytes for an array of 138"},
    };
    if (!run_python(
            "import zipfile\n"
            "for name, n in ('much', 10**9), ('little', 10):\n"
            "  text = (\"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,)}\" % n)\n"
            "  head = b'\\x93NUMPY\\x01\\x00\\x76\\x00' + text.ljust(117).encode() + b'\\n'\n"
            "  with zipfile.ZipFile(name + '.npz', 'w', zipfile.ZIP_DEFLATED) as z:\n"
            "    z.writestr('x.npy', head + bytes(4000000))\n"
            "  data = bytearray(open(name + '.npz', 'rb').read())\n"
            "  data[2000:2100] = b'\\xff' * 100\n"
            "  open(name + '.npz', 'wb').write(data)\n"))
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_npz *npz = NULL;
        px_error err = {0};
        assert_int_equal(px_npz_open(cases[i].file, &npz, &err), PX_E_INPUT);
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s", err.message);
    }
}

static void test_writer_refuses(void **state)
{
    (void)state;
    px_error err = {0};
    px_npz_writer *writer = NULL;
    const px_shape shape = {.rank = 1, .dim = {2}};
    const uint8_t bytes[3] = {0};
    assert_int_equal(px_npz_create("w.npz", &writer, &err), PX_OK);
    assert_int_equal(px_npz_begin(writer, "x", PX_UINT8, &shape, &err), PX_OK);
    assert_int_equal(px_npz_write(writer, bytes, 3, &err), PX_E_INTERNAL);
    assert_int_equal(px_npz_begin(writer, "y", PX_UINT8, &shape, &err), PX_E_INTERNAL);
    assert_int_equal(px_npz_commit(writer, &err), PX_E_INTERNAL);
    assert_int_not_equal(access("w.npz", F_OK), 0); /* nothing is left behind */
    assert_int_equal(px_npz_create("w.npz", &writer, &err), PX_OK);
    px_npz_abandon(writer);
    assert_int_not_equal(access("w.npz", F_OK), 0);
    assert_int_equal(px_npz_create("no/such/folder.npz", &writer, &err), PX_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_numpy_reads_ours),
        cmocka_unit_test(test_reads_numpys),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_writer_refuses),
        cmocka_unit_test(test_sizes_before_unpacking),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
