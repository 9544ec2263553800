/* tests/base/test_tensor.c - shapes, half precision, statuses */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cmocka_all.h"

#include <internal/tensor.h>
#include <math.h>
#include <string.h>

static void test_shape_check(void **state)
{
    (void)state;
    static const struct {
        px_shape shape;
        px_status expected;
        const char *text;
    } shapes[] = {
        {{0, {0}}, PX_OK, "[]"},
        {{4, {1, 3, 32, 32}}, PX_OK, "[1,3,32,32]"},
        {{2, {0, 1LL << 40}}, PX_OK, "[0,1099511627776]"},
        {{2, {-1, 3}}, PX_E_INPUT, "[?,3]"},
        {{2, {1LL << 40, 1LL << 40}}, PX_E_INPUT, "[1099511627776,1099511627776]"},
        {{3, {1LL << 40, 1LL << 40, 0}}, PX_E_INPUT, "[1099511627776,1099511627776,0]"},
        {{9, {1}}, PX_E_UNSUPPORTED, NULL},
    };
    for (size_t i = 0; i < PX_LEN(shapes); i++) {
        char text[PX_SHAPE_TEXT];
        px_error err = {0};
        assert_int_equal(px_shape_check(&shapes[i].shape, &err), shapes[i].expected);
        if (shapes[i].text)
            assert_string_equal(px_shape_text(&shapes[i].shape, text), shapes[i].text);
    }
}

static void test_owned_memory(void **state)
{
    (void)state;
    px_tensor t = {0};
    px_error err = {0};
    const px_shape shape = {2, {3, 5}}, huge = {1, {1LL << 59}};
    assert_int_equal(px_tensor_init(&t, PX_INT64, &shape, &err), PX_OK);
    assert_int_equal(px_tensor_bytes(&t), 3 * 5 * 8);
    for (int i = 0; i < 15; i++)
        assert_int_equal(((int64_t *)t.data)[i], 0);
    px_tensor_done(&t);
    assert_null(t.data);
    assert_int_equal(px_tensor_init(&t, PX_FLOAT32, &huge, &err), PX_E_NOMEM);
    assert_null(t.data);
}

static void test_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) { /* every half survives the way up and down */
        const float f = px_half_to_float((uint16_t)h);
        if (isnan(f))
            assert_true((px_float_to_half(f) & 0x7fff) > 0x7c00);
        else if (px_float_to_half(f) != h)
            fail_msg("half %04x", h);
        const float b = px_bfloat_to_float((uint16_t)h);
        if (!isnan(b) && px_float_to_bfloat(b) != h)
            fail_msg("bfloat %04x", h);
    }
    assert_int_equal(px_float_to_half(65520.0f), 0x7c00); /* rounds to infinity */
    assert_int_equal(px_float_to_half(65519.0f), 0x7bff);
    assert_int_equal(px_float_to_half(0x1p-25f), 0);   /* a tie, to even */
    assert_int_equal(px_float_to_half(0x1.8p-24f), 2); /* a tie, to even */
    assert_int_equal(px_float_to_half(1.0f + 0x1p-11f), 0x3c00);
    assert_int_equal(px_float_to_half(1.0f + 0x1.8p-10f), 0x3c02);
}

static void test_statuses(void **state)
{
    (void)state;
    px_error err = {0};
    assert_string_equal(px_status_name(PX_E_INPUT), "PX_E_INPUT");
    assert_string_equal(px_status_text(PX_E_NOMEM), "out of memory");
    assert_int_equal(px_fail(&err, PX_E_MISMATCH, "label %d", 12), PX_E_MISMATCH);
    assert_int_equal(px_fail_in(&err, PX_E_MISMATCH, "'%s'", "x.npy"), PX_E_MISMATCH);
    assert_string_equal(err.message, "'x.npy': label 12");
    assert_int_equal(px_fail(NULL, PX_E_IO, "nobody listens"), PX_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_check),
        cmocka_unit_test(test_owned_memory),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
