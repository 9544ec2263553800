/* tests/data/test_npy.c - .npy files against numpy's, and against damage */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/data_helpers.h"
#include "data/npy.h"
#include <plexor/data.h>

static const px_dtype all_dtypes[] = {PX_FLOAT32, PX_UINT8,  PX_INT8,    PX_UINT16,  PX_INT16,
                                      PX_INT32,   PX_INT64,  PX_BOOL,    PX_FLOAT16, PX_FLOAT64,
                                      PX_UINT32,  PX_UINT64, PX_BFLOAT16};
static const px_shape shapes[] = {
    {.rank = 0},
    {.rank = 1, .dim = {5}},
    {.rank = 2, .dim = {3, 4}},
    {.rank = 4, .dim = {2, 3, 1, 2}},
    {.rank = 2, .dim = {0, 3}},
};

static void test_round_trip(void **state)
{
    (void)state;
    px_error err = {0};
    for (size_t d = 0; d < sizeof all_dtypes / sizeof all_dtypes[0]; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            px_tensor x = {0}, y = {0};
            assert_int_equal(px_tensor_init(&x, all_dtypes[d], &shapes[s], &err), PX_OK);
            for (size_t i = 0; i < px_tensor_bytes(&x); i++)
                ((uint8_t *)x.data)[i] = (uint8_t)(i * 7 + d);
            if (px_npy_save("x.npy", &x, &err) != PX_OK || px_npy_load("x.npy", &y, &err) != PX_OK)
                fail_msg("%s, shape %zu: %s", px_dtype_name(x.dtype), s, err.message);
            assert_int_equal(y.dtype, x.dtype);
            assert_true(px_shape_equal(&y.shape, &x.shape));
            assert_memory_equal(y.data, x.data, px_tensor_bytes(&x));
            px_tensor_done(&x);
            px_tensor_done(&y);
        }
}

/* The bytes that numpy 1.24 wrote for np.save("x.npy", np.zeros((2, 3), "f4")). */
static void test_same_header_as_numpy(void **state)
{
    (void)state;
    uint8_t header[PXI_NPY_HEADER_MAX];
    char want[129];
    const px_shape shape = {.rank = 2, .dim = {2, 3}};
    snprintf(want, sizeof want, "%-127s\n",
             "\x93NUMPY\x01_v_{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    want[7] = want[9] = 0;
    assert_int_equal(pxi_npy_format(PX_FLOAT32, &shape, header), 128);
    assert_memory_equal(header, want, 128);
}

/* Every row: what numpy saves, whatever its version, byte order and axis order, is read as the same
 * values. */
static void test_reads_what_numpy_writes(void **state)
{
    (void)state;
    SKIP_WITHOUT("numpy");
    assert_true(run_python("import numpy as np\n"
                           "x = np.arange(24).reshape(2, 3, 4)\n"
                           "np.save('c.npy', x.astype('<i4'))\n"
                           "np.save('f.npy', np.asfortranarray(x.astype('<i4')))\n"
                           "np.save('big.npy', x.astype('>i4'))\n"
                           "np.save('bigf.npy', np.asfortranarray(x.astype('>i4')))\n"
                           "for v in 1, 2, 3:\n"
                           "  with open('v%d.npy' % v, 'wb') as f:\n"
                           "    np.lib.format.write_array(f, x.astype('<i4'), (v, 0))\n"));
    static const char *const names[] = {"c.npy",  "f.npy",  "big.npy", "bigf.npy",
                                        "v1.npy", "v2.npy", "v3.npy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        px_tensor x = {0};
        px_error err = {0};
        if (px_npy_load(names[i], &x, &err) != PX_OK)
            fail_msg("%s: %s", names[i], err.message);
        assert_int_equal(x.dtype, PX_INT32);
        assert_int_equal(x.shape.rank, 3);
        for (int32_t k = 0; k < 24; k++)
            if (((int32_t *)x.data)[k] != k)
                fail_msg("%s: element %d is %d", names[i], k, ((int32_t *)x.data)[k]);
        px_tensor_done(&x);
    }
}

static void test_numpy_reads_what_we_write(void **state)
{
    (void)state;
    SKIP_WITHOUT("numpy");
    px_error err = {0};
    px_tensor x = {0};
    const px_shape shape = {.rank = 3, .dim = {2, 3, 4}};
    assert_int_equal(px_tensor_init(&x, PX_FLOAT64, &shape, &err), PX_OK);
    for (int i = 0; i < 24; i++)
        ((double *)x.data)[i] = i / 8.0;
    assert_int_equal(px_npy_save("ours.npy", &x, &err), PX_OK);
    px_tensor_done(&x);
    assert_true(run_python("import numpy as np\n"
                           "x = np.load('ours.npy')\n"
                           "assert x.dtype == np.float64 and x.shape == (2, 3, 4)\n"
                           "assert (x == np.arange(24).reshape(2, 3, 4) / 8).all()\n"));
}

#define TYPED(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"

static const struct {
    const char *name;
    int version;
    const char *dict, *data;
    px_status status;
    const char *says;
} bad[] = {
    {"no dict", 1, "[]", "", PX_E_INPUT, "not a dict"},
    {"empty dict", 1, "{}", "", PX_E_INPUT, "lacks"},
    {"version 9", 9, "{}", "", PX_E_UNSUPPORTED, "version 9"},
    {"cut short", 1, "{'descr': '<f4', 'fort", "", PX_E_INPUT, "damaged"},
    {"objects", 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "", PX_E_UNSUPPORTED,
     "'|O'"},
    {"structured", 1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "",
     PX_E_UNSUPPORTED, "structured"},
    {"key twice", 1, "{'shape': (1,), 'shape': (1,)}", "", PX_E_INPUT, "unexpected key"},
    {"2^40 elements", 1, TYPED("(1099511627776,)"), "", PX_E_INPUT, "truncated"},
    {"overflowing", 1, TYPED("(4294967296, 4294967296, 16)"), "", PX_E_INPUT, "too large"},
    {"endless number", 1, TYPED("(99999999999999999999999)"), "", PX_E_INPUT, "damaged"},
    {"negative", 2, TYPED("(-1,)"), "", PX_E_INPUT, "damaged"},
    {"nine axes", 1, TYPED("(1,1,1,1,1,1,1,1,1)"), "", PX_E_UNSUPPORTED, "axes"},
    {"one byte short", 3, TYPED("(1,)"), "abc", PX_E_INPUT, "truncated"},
};

static void test_refuses(void **state)
{
    (void)state;
    px_tensor x = {0};
    px_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char bytes[256];
        const int head = bad[i].version == 1 ? 10 : 12;
        memcpy(bytes, "\x93NUMPY\0\0\0\0\0\0", 12);
        bytes[6] = (char)bad[i].version;
        bytes[8] = (char)strlen(bad[i].dict);
        const int size = head + snprintf(bytes + head, 256 - 12, "%s%s", bad[i].dict, bad[i].data);
        write_file("bad.npy", bytes, (size_t)size);
        const px_status status = px_npy_load("bad.npy", &x, &err);
        if (status != bad[i].status || !strstr(err.message, bad[i].says) ||
            !strstr(err.message, "bad.npy"))
            fail_msg("%s: %s '%s'", bad[i].name, px_status_name(status), err.message);
        assert_null(x.data);
    }
    write_text("bad.npy", "PK\3\4 and so on");
    assert_int_equal(px_npy_load("bad.npy", &x, &err), PX_E_INPUT);
    write_file("bad.npy", "\x93NUMPY\1\0\xff\xff{}", 12);
    assert_int_equal(px_npy_load("bad.npy", &x, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "does not fit"));
    static const char *const absent[] = {"absent.npy", "/dev/zero", "."};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(px_npy_load(absent[i], &x, &err), PX_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_header_as_numpy),
        cmocka_unit_test(test_reads_what_numpy_writes),
        cmocka_unit_test(test_numpy_reads_what_we_write),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
