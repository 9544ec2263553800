/* tests/ops/test_math_forward.c - element-wise operators at the edges: NaN, infinity, nothing at
 * all, integer overflow, division by zero, odd broadcasts, and what they refuse
 *
 * Ordinary values are the business of ONNX's node tests.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "op_case.h"

#include "base/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
#define F_(SHAPE, VALUES) {.shape = SHAPE, .values = VALUES}
#define V_(DTYPE, SHAPE, VALUES) {.shape = SHAPE, .values = VALUES, .dtype = DTYPE}
#define C_(DTYPE, SHAPE, VALUES) {.shape = SHAPE, .values = VALUES, .dtype = DTYPE, .constant = true}

static const struct {
    op_case test;
    px_dtype dtype;       /* of output 0; PX_NONE: float32 */
    const char *expected; /* output 0 */
} values[] = {
    /* NaN and infinity go through */
    {{.type = "Relu", .opset = 14, .in = {F_("5", "nan inf -inf -0.5 2")}}, 0, "nan inf 0 0 2"},
    {{.type = "LeakyRelu", .opset = 16, .attrs = "alpha=0.5", .in = {F_("4", "nan -inf -2 0")}}, 0, "nan -inf -1 0"},
    {{.type = "PRelu", .opset = 16, .in = {F_("3", "nan -2 3"), F_("1", "0.25")}}, 0, "nan -0.5 3"},
    {{.type = "ThresholdedRelu", .opset = 10, .in = {F_("4", "nan 1 1.5 -inf")}}, 0, "nan 0 1.5 0"},
    {{.type = "Shrink", .opset = 9, .attrs = "lambd=1.0 bias=0.5", .in = {F_("5", "nan 1 -1 2 -2")}}, 0, "nan 0 0 1.5 -1.5"},
    {{.type = "Clip", .opset = 6, .attrs = "min=-1.0 max=1.0", .in = {F_("4", "nan inf -inf 0.5")}}, 0, "nan 1 -1 0.5"},
    {{.type = "Clip", .opset = 13, .name = "Clip without bounds", .in = {F_("3", "nan inf -inf")}}, 0, "nan inf -inf"},
    {{.type = "Clip", .opset = 13, .name = "Clip, low above high", .in = {F_("2", "0 5"), F_("", "3"), F_("", "1")}}, 0, "1 1"},
    {{.type = "HardSigmoid", .opset = 6, .in = {F_("4", "nan inf -inf 0")}}, 0, "nan 1 0 0.5"},
    {{.type = "HardSwish", .opset = 14, .in = {F_("5", "nan inf -inf -3 3")}}, 0, "nan inf nan 0 3"},
    {{.type = "Sigmoid", .opset = 13, .in = {F_("5", "nan inf -inf -200 0")}}, 0, "nan 1 0 0 0.5"},
    {{.type = "Softplus", .opset = 1, .in = {F_("5", "nan inf -inf 200 -200")}}, 0, "nan inf 0 200 0"},
    {{.type = "Elu", .opset = 6, .in = {F_("3", "nan -inf inf")}}, 0, "nan -1 inf"},
    {{.type = "Celu", .opset = 12, .attrs = "alpha=0.0", .in = {F_("3", "-1 0 1")}}, 0, "0 0 1"},
    {{.type = "Sign", .opset = 13, .in = {F_("5", "nan -inf inf 0 -2")}}, 0, "nan -1 1 0 -1"},
    {{.type = "Max", .opset = 13, .in = {F_("3", "nan 1 -inf"), F_("3", "1 nan -5")}}, 0, "nan nan -5"},
    {{.type = "Min", .opset = 13, .in = {F_("3", "nan 1 -inf"), F_("3", "1 nan -5")}}, 0, "nan nan -inf"},
    {{.type = "Round", .opset = 11, .in = {F_("6", "0.5 1.5 2.5 -0.5 -1.5 nan")}}, 0, "0 2 2 0 -2 nan"},
    {{.type = "Sqrt", .opset = 13, .in = {F_("3", "-1 0 inf")}}, 0, "nan 0 inf"},
    {{.type = "Log", .opset = 13, .in = {F_("3", "-1 0 inf")}}, 0, "nan -inf inf"},
    {{.type = "Reciprocal", .opset = 13, .in = {F_("3", "0 inf -inf")}}, 0, "inf 0 0"},
    {{.type = "Div", .opset = 14, .in = {F_("3", "1 -1 0"), F_("1", "0")}}, 0, "inf -inf nan"},
    {{.type = "Mod", .opset = 13, .attrs = "fmod=1", .in = {F_("3", "-4.5 4.5 1"), F_("3", "2 -2 0")}}, 0, "-0.5 0.5 nan"},
    {{.type = "Pow", .opset = 15, .in = {F_("5", "0 nan -8 2 -2"), F_("5", "0 0 0.5 -1 3")}}, 0, "1 1 nan 0.5 -8"},
    {{.type = "IsNaN", .opset = 13, .in = {F_("3", "nan inf 1")}}, PX_BOOL, "1 0 0"},
    {{.type = "IsInf", .opset = 10, .attrs = "detect_negative=0", .in = {F_("3", "inf -inf nan")}}, PX_BOOL, "1 0 0"},
    {{.type = "IsInf", .opset = 10, .attrs = "detect_positive=0", .in = {V_(PX_FLOAT64, "3", "inf -inf nan")}}, PX_BOOL, "0 1 0"},
    {{.type = "Equal", .opset = 13, .in = {F_("2", "nan 1"), F_("2", "nan 1")}}, PX_BOOL, "0 1"},
    {{.type = "LessOrEqual", .opset = 16, .in = {F_("3", "nan 1 2"), F_("1", "1")}}, PX_BOOL, "0 1 0"},
    {{.type = "GreaterOrEqual", .opset = 16, .in = {F_("3", "nan 1 2"), F_("1", "1")}}, PX_BOOL, "0 1 1"},

    /* nothing at all, and single elements of any rank */
    {{.type = "Add", .opset = 14, .in = {F_("2,0", "0"), F_("2,1", "0")}}, 0, ""},
    {{.type = "Sum", .opset = 13, .in = {F_("0", "0"), F_("1", "0"), F_("", "0")}}, 0, ""},
    {{.type = "Where", .opset = 16, .in = {V_(PX_BOOL, "0", "0"), F_("", "0"), F_("1", "0")}}, 0, ""},
    {{.type = "Exp", .opset = 13, .in = {F_("0,3", "0")}}, 0, ""},
    {{.type = "Cast", .opset = 13, .attrs = "to=7", .in = {F_("0", "0")}}, PX_INT64, ""},
    {{.type = "Clip", .opset = 13, .in = {F_("0", "0"), F_("", "0")}}, 0, ""},
    {{.type = "Add", .opset = 14, .name = "Add of scalars", .in = {F_("", "2"), F_("1,1", "3")}}, 0, "5"},
    {{.type = "Mean", .opset = 13, .name = "Mean of one", .in = {F_("2", "1 nan")}}, 0, "1 nan"},

    /* broadcasting */
    {{.type = "Sub", .opset = 14, .in = {F_("3,1", "1 2 3"), F_("2", "10 20")}}, 0, "-9 -19 -8 -18 -7 -17"},
    {{.type = "Sub", .opset = 14, .in = {F_("2,1,2", "1 2 3 4"), F_("2,1", "10 20")}}, 0, "-9 -8 -19 -18 -7 -6 -17 -16"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=1", .in = {F_("1,2,2", "1 2 3 4"), F_("2", "10 20")}}, 0, "11 12 23 24"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1", .in = {F_("1,2,2", "1 2 3 4"), F_("2", "10 20")}}, 0, "11 22 13 24"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1", .name = "Add of a scalar", .in = {F_("1,2,2", "1 2 3 4"), F_("", "10")}}, 0, "11 12 13 14"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=1", .name = "Add of a scalar with an axis", .in = {F_("1,2,2", "1 2 3 4"), F_("", "10")}}, 0, "11 12 13 14"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1", .name = "Add of two scalars", .in = {F_("", "1"), F_("", "10")}}, 0, "11"},
    {{.type = "PRelu", .opset = 6, .in = {F_("1,2,2", "-1 2 -3 -4"), F_("2", "10 20")}}, 0, "-10 2 -60 -80"},
    {{.type = "And", .opset = 1, .attrs = "broadcast=1 axis=0", .in = {V_(PX_BOOL, "2,2", "1 0 1 1"), V_(PX_BOOL, "2", "0 1")}}, PX_BOOL, "0 0 1 1"},
    {{.type = "Where", .opset = 16, .in = {V_(PX_BOOL, "2,1", "1 0"), V_(PX_INT16, "3", "1 2 3"), V_(PX_INT16, "", "-1")}}, PX_INT16, "1 2 3 -1 -1 -1"},
    {{.type = "Max", .opset = 13, .in = {F_("", "1"), F_("1", "2"), F_("3", "0 5 1")}}, 0, "2 5 2"},

    /* integers wrap and never trap */
    {{.type = "Add", .opset = 14, .in = {V_(PX_INT32, "2", "2147483647 -2147483648"), V_(PX_INT32, "2", "1 -1")}}, PX_INT32, "-2147483648 2147483647"},
    {{.type = "Sub", .opset = 14, .in = {V_(PX_UINT8, "2", "3 0"), V_(PX_UINT8, "2", "5 1")}}, PX_UINT8, "254 255"},
    {{.type = "Mul", .opset = 14, .in = {V_(PX_INT8, "2", "100 -128"), V_(PX_INT8, "2", "3 -1")}}, PX_INT8, "44 -128"},
    {{.type = "Mul", .opset = 14, .in = {V_(PX_UINT16, "1", "65535"), V_(PX_UINT16, "1", "65535")}}, PX_UINT16, "1"},
    {{.type = "Div", .opset = 14, .in = {V_(PX_INT32, "4", "7 -7 5 -2147483648"), V_(PX_INT32, "4", "2 2 0 -1")}}, PX_INT32, "3 -3 0 -2147483648"},
    {{.type = "Div", .opset = 14, .in = {V_(PX_INT64, "2", "-9223372036854775808 3"), V_(PX_INT64, "2", "-1 0")}}, PX_INT64, "-9223372036854775808 0"},
    {{.type = "Div", .opset = 14, .in = {V_(PX_INT8, "2", "-128 1"), V_(PX_INT8, "2", "-1 0")}}, PX_INT8, "-128 0"},
    {{.type = "Div", .opset = 14, .in = {V_(PX_UINT8, "3", "255 254 9"), V_(PX_UINT8, "3", "255 255 0")}}, PX_UINT8, "1 0 0"},
    {{.type = "Mod", .opset = 13, .in = {V_(PX_INT32, "6", "-4 7 5 -4 7 5"), V_(PX_INT32, "6", "2 -3 8 3 0 -8")}}, PX_INT32, "0 -2 5 2 0 -3"},
    {{.type = "Mod", .opset = 13, .in = {V_(PX_INT64, "2", "-9223372036854775808 1"), V_(PX_INT64, "2", "-1 0")}}, PX_INT64, "0 0"},
    {{.type = "Mod", .opset = 13, .attrs = "fmod=1", .in = {V_(PX_INT32, "4", "-4 7 -2147483648 3"), V_(PX_INT32, "4", "3 -3 -1 0")}}, PX_INT32, "-1 1 0 0"},
    {{.type = "Mod", .opset = 13, .in = {V_(PX_UINT8, "3", "7 7 200"), V_(PX_UINT8, "3", "0 255 201")}}, PX_UINT8, "0 7 200"},
    {{.type = "Abs", .opset = 13, .in = {V_(PX_INT8, "3", "-128 -5 5")}}, PX_INT8, "-128 5 5"},
    {{.type = "Abs", .opset = 13, .in = {V_(PX_UINT32, "2", "4294967295 0")}}, PX_UINT32, "4294967295 0"},
    {{.type = "Neg", .opset = 13, .in = {V_(PX_INT32, "2", "-2147483648 5")}}, PX_INT32, "-2147483648 -5"},
    {{.type = "Sign", .opset = 13, .in = {V_(PX_UINT64, "2", "0 18446744073709549568")}}, PX_UINT64, "0 1"},
    {{.type = "Sign", .opset = 13, .in = {V_(PX_INT16, "3", "0 -7 9")}}, PX_INT16, "0 -1 1"},
    {{.type = "Relu", .opset = 14, .in = {V_(PX_INT8, "2", "-7 9")}}, PX_INT8, "0 9"},
    {{.type = "Shrink", .opset = 9, .attrs = "lambd=1.5 bias=1.5", .in = {V_(PX_INT8, "4", "-128 1 2 127")}}, PX_INT8, "-126 0 0 125"},
    {{.type = "Shrink", .opset = 9, .attrs = "lambd=1.5 bias=-9.0", .in = {V_(PX_UINT8, "2", "250 1")}}, PX_UINT8, "255 0"},
    {{.type = "Pow", .opset = 15, .in = {V_(PX_INT32, "6", "2 2 -1 0 3 -3"), V_(PX_INT32, "6", "31 -1 -3 -1 0 3")}}, PX_INT32, "-2147483648 0 -1 0 1 -27"},
    {{.type = "Pow", .opset = 15, .in = {V_(PX_INT32, "2", "10 -10"), F_("", "12.5")}}, PX_INT32, "2147483647 0"},
    {{.type = "Pow", .opset = 15, .in = {F_("2", "3 -3"), V_(PX_UINT8, "1", "2")}}, 0, "9 9"},
    {{.type = "BitShift", .opset = 11, .attrs = "direction=LEFT", .in = {V_(PX_UINT8, "4", "1 255 1 1"), V_(PX_UINT8, "4", "7 1 8 255")}}, PX_UINT8, "128 254 0 0"},
    {{.type = "BitShift", .opset = 11, .attrs = "direction=RIGHT", .in = {V_(PX_UINT64, "3", "8 8 8"), V_(PX_UINT64, "3", "3 63 64")}}, PX_UINT64, "1 0 0"},
    {{.type = "Clip", .opset = 12, .in = {V_(PX_INT8, "3", "-128 5 127"), V_(PX_INT8, "", "-3")}}, PX_INT8, "-3 5 127"},
    {{.type = "Max", .opset = 13, .in = {V_(PX_UINT64, "2", "18446744073709549568 0"), V_(PX_UINT64, "", "1")}}, PX_UINT64, "18446744073709549568 1"},

    /* casts */
    {{.type = "Cast", .opset = 13, .attrs = "to=3", .in = {F_("6", "1.9 -1.9 300 -300 nan inf")}}, PX_INT8, "1 -1 127 -128 0 127"},
    {{.type = "Cast", .opset = 13, .attrs = "to=7", .in = {F_("3", "1e30 -1e30 -2.5")}}, PX_INT64, "9223372036854775807 -9223372036854775808 -2"},
    {{.type = "Cast", .opset = 13, .attrs = "to=13", .in = {V_(PX_FLOAT64, "3", "-1 1e30 3.7")}}, PX_UINT64, "0 18446744073709551615 3"},
    {{.type = "Cast", .opset = 13, .attrs = "to=2", .in = {V_(PX_INT32, "3", "256 -1 7")}}, PX_UINT8, "0 255 7"},
    {{.type = "Cast", .opset = 13, .attrs = "to=9", .in = {F_("5", "0 -0.0 0.5 nan -3")}}, PX_BOOL, "0 0 1 1 1"},
    {{.type = "Cast", .opset = 13, .attrs = "to=1", .in = {V_(PX_BOOL, "3", "0 1 7")}}, 0, "0 1 1"},
    {{.type = "Cast", .opset = 13, .attrs = "to=9", .in = {V_(PX_BOOL, "2", "0 7")}}, PX_BOOL, "0 1"},
    {{.type = "Cast", .opset = 13, .attrs = "to=1", .in = {V_(PX_UINT64, "1", "18446744073709549568")}}, 0, "18446744073709549568"},
    {{.type = "Cast", .opset = 13, .attrs = "to=10", .in = {F_("4", "1.0001 70000 nan 1e-9")}}, 0, "1 inf nan 0"},
    {{.type = "Cast", .opset = 13, .attrs = "to=16", .in = {F_("3", "1.001 -inf 257")}}, 0, "1 -inf 256"},
    {{.type = "Cast", .opset = 13, .attrs = "to=16", .in = {F_("3", "1.007 -1.007 nan")}}, 0, "1 -1 nan"},
    {{.type = "Cast", .opset = 19, .attrs = "to=16", .in = {F_("3", "1.007 -1.007 nan")}}, 0, "1.0078125 -1.0078125 nan"},
    {{.type = "Cast", .opset = 1, .attrs = "to=INT32", .in = {F_("2", "2.5 -2.5")}}, PX_INT32, "2 -2"},
    {{.type = "CastLike", .opset = 15, .in = {F_("2", "2.5 -2.5"), V_(PX_INT8, "1", "0")}}, PX_INT8, "2 -2"},

    /* bytes other than 0 and 1 in bool tensors */
    {{.type = "And", .opset = 7, .in = {V_(PX_BOOL, "3", "2 1 0"), V_(PX_BOOL, "3", "1 255 4")}}, PX_BOOL, "1 1 0"},
    {{.type = "Or", .opset = 7, .in = {V_(PX_BOOL, "3", "2 0 0"), V_(PX_BOOL, "3", "4 255 0")}}, PX_BOOL, "1 1 0"},
    {{.type = "Xor", .opset = 7, .in = {V_(PX_BOOL, "3", "2 1 0"), V_(PX_BOOL, "3", "1 0 4")}}, PX_BOOL, "0 1 1"},
    {{.type = "Not", .opset = 1, .in = {V_(PX_BOOL, "3", "2 0 1")}}, PX_BOOL, "0 1 0"},
    {{.type = "Equal", .opset = 7, .in = {V_(PX_BOOL, "2", "2 0"), V_(PX_BOOL, "2", "1 3")}}, PX_BOOL, "1 0"},

    /* Dropout and quantisation */
    {{.type = "Dropout", .opset = 6, .in = {F_("2", "1 2")}}, 0, "1 2"},
    {{.type = "Dropout", .opset = 13, .in = {F_("2", "1 nan"), F_("", "0.5"), C_(PX_BOOL, "", "0")}}, 0, "1 nan"},
    {{.type = "Dropout", .opset = 13, .in = {F_("2", "1 2"), C_(PX_NONE, "", "0"), C_(PX_BOOL, "", "1")}}, 0, "1 2"},
    {{.type = "QuantizeLinear", .opset = 13, .in = {F_("6", "0 1 3 1000 -1000 nan"), F_("", "2"), V_(PX_INT8, "", "1")}}, PX_INT8, "1 1 3 127 -128 1"},
    {{.type = "QuantizeLinear", .opset = 13, .name = "QuantizeLinear by 0", .in = {F_("3", "0 1 -1"), F_("", "0")}}, PX_UINT8, "0 255 0"},
    {{.type = "QuantizeLinear", .opset = 13, .attrs = "axis=0", .in = {F_("2,2", "4 8 4 8"), F_("2", "2 4")}}, PX_UINT8, "2 4 1 2"},
    {{.type = "QuantizeLinear", .opset = 21, .name = "QuantizeLinear of blocks", .attrs = "axis=1 block_size=2", .in = {F_("2,3", "2 4 9 -3 6 40"), F_("2,2", "1 3 3 4"), V_(PX_INT8, "2,2", "0 0 1 -1")}}, PX_INT8, "2 4 3 0 3 9"},
    {{.type = "QuantizeLinear", .opset = 21, .name = "QuantizeLinear to 4 bits", .in = {F_("4", "3 -9 20 7"), F_("", "1"), V_(PX_INT4, "", "1")}}, PX_INT4, "4 -8 7 7"},
    {{.type = "QuantizeLinear", .opset = 21, .name = "QuantizeLinear to 16 bits", .attrs = "output_dtype=4", .in = {F_("3", "3 -9 70000"), F_("", "1")}}, PX_UINT16, "3 0 65535"},
    {{.type = "Cast", .opset = 21, .name = "Cast to 4 bits", .attrs = "to=22", .in = {F_("4", "3.7 -9 20 -2.2")}}, PX_INT4, "3 -8 7 -2"},
    {{.type = "BitwiseXor", .opset = 18, .in = {V_(PX_INT16, "2,2", "5 -1 3 8"), V_(PX_INT16, "2", "6 3")}}, PX_INT16, "3 -4 5 11"},
    {{.type = "BitwiseNot", .opset = 18, .in = {V_(PX_UINT8, "3", "0 255 5")}}, PX_UINT8, "255 0 250"},
    {{.type = "DequantizeLinear", .opset = 13, .attrs = "axis=-1", .in = {V_(PX_UINT8, "2,2", "4 8 0 255"), F_("2", "2 0.5"), V_(PX_UINT8, "2", "1 8")}}, 0, "6 0 -2 123.5"},
    {{.type = "DequantizeLinear", .opset = 10, .in = {V_(PX_INT32, "1", "-2147483648"), F_("", "1"), V_(PX_INT32, "", "2147483647")}}, 0, "-4294967295"},
    {{.type = "DynamicQuantizeLinear", .opset = 11, .outputs = 3, .in = {F_("2", "0 0")}}, PX_UINT8, "0 0"},
    {{.type = "DynamicQuantizeLinear", .opset = 11, .outputs = 3, .in = {F_("0", "0")}}, PX_UINT8, ""},
};

static const struct {
    op_case test;
    px_status status;
    const char *says;
} refused[] = {
    {{.type = "Add", .opset = 14, .in = {F_("2,3", "0"), F_("2", "0")}}, PX_E_MISMATCH, "node 'Add' (Add): shapes [2,3] and [2] do not broadcast"},
    {{.type = "Add", .opset = 14, .in = {F_("2", "0"), V_(PX_INT32, "2", "0")}}, PX_E_INPUT, "float32 and int32"},
    {{.type = "Add", .opset = 14, .in = {V_(PX_BOOL, "2", "0"), V_(PX_BOOL, "2", "0")}}, PX_E_UNSUPPORTED, "bool"},
    {{.type = "Add", .opset = 14, .in = {F_("2", "0")}}, PX_E_INPUT, "has 1 inputs"},
    {{.type = "Add", .opset = 14, .in = {F_("2", "0"), {.shape = "-"}}}, PX_E_INPUT, "lacks its input 1"},
    {{.type = "Add", .opset = 6, .in = {F_("2,3", "0"), F_("3", "0")}}, PX_E_MISMATCH, "does not ask for broadcasting"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=1", .in = {F_("2,3", "0"), F_("2,3", "0")}}, PX_E_MISMATCH, "from axis 1"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=7", .in = {F_("2,3", "0"), F_("3", "0")}}, PX_E_INPUT, "axis 7"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1", .in = {F_("1,3", "0"), F_("2,3", "0")}}, PX_E_MISMATCH, "does not broadcast to [1,3]"},
    {{.type = "PRelu", .opset = 16, .in = {F_("3", "0"), F_("2,3", "0")}}, PX_E_MISMATCH, "slope"},
    {{.type = "Mod", .opset = 13, .in = {F_("2", "0"), F_("2", "0")}}, PX_E_INPUT, "fmod must be 1"},
    {{.type = "BitShift", .opset = 11, .attrs = "direction=UP", .in = {V_(PX_UINT8, "1", "0"), V_(PX_UINT8, "1", "0")}}, PX_E_INPUT, "'UP'"},
    {{.type = "BitShift", .opset = 11, .attrs = "direction=LEFT", .in = {V_(PX_INT8, "1", "0"), V_(PX_INT8, "1", "0")}}, PX_E_UNSUPPORTED, "int8"},
    {{.type = "Sqrt", .opset = 13, .in = {V_(PX_INT32, "1", "0")}}, PX_E_UNSUPPORTED, "int32"},
    {{.type = "Gelu", .opset = 20, .attrs = "approximate=fast", .in = {F_("1", "0")}}, PX_E_INPUT, "'fast'"},
    {{.type = "Clip", .opset = 13, .in = {F_("2", "0"), F_("2", "0")}}, PX_E_MISMATCH, "scalar"},
    {{.type = "Clip", .opset = 13, .in = {F_("2", "0"), V_(PX_INT8, "", "0")}}, PX_E_INPUT, "int8"},
    {{.type = "Cast", .opset = 13, .attrs = "to=8", .in = {F_("2", "0")}}, PX_E_UNSUPPORTED, "type 8"},
    {{.type = "Cast", .opset = 13, .in = {F_("2", "0")}}, PX_E_UNSUPPORTED, "type 0"},
    {{.type = "Cast", .opset = 13, .attrs = "to=-3", .in = {F_("2", "0")}}, PX_E_UNSUPPORTED, "type -3"},
    {{.type = "Cast", .opset = 1, .attrs = "to=STRING", .in = {F_("2", "0")}}, PX_E_UNSUPPORTED, "type 0"},
    {{.type = "Where", .opset = 16, .in = {F_("2", "0"), F_("2", "0"), F_("2", "0")}}, PX_E_UNSUPPORTED, "float32"},
    {{.type = "Where", .opset = 16, .in = {V_(PX_BOOL, "2", "0"), F_("2", "0"), V_(PX_INT8, "2", "0")}}, PX_E_INPUT, "float32 and int8"},
    {{.type = "Where", .opset = 16, .in = {V_(PX_BOOL, "3", "0"), F_("2", "0"), F_("2", "0")}}, PX_E_MISMATCH, "[3] and [2]"},
    {{.type = "Sum", .opset = 13, .in = {F_("2", "0"), {.shape = "-"}, F_("2", "0")}}, PX_E_INPUT, "lacks its input 1"},
    {{.type = "Dropout", .opset = 13, .in = {F_("2", "0"), F_("", "0.5"), C_(PX_BOOL, "", "1")}}, PX_E_UNSUPPORTED, "training mode"},
    {{.type = "Dropout", .opset = 13, .in = {F_("2", "0"), F_("", "0.5"), V_(PX_BOOL, "", "0")}}, PX_E_UNSUPPORTED, "not constant"},
    {{.type = "QuantizeLinear", .opset = 13, .in = {F_("2,3", "0"), F_("2", "1")}}, PX_E_MISMATCH, "expected 3 elements"},
    {{.type = "QuantizeLinear", .opset = 21, .attrs = "axis=1 block_size=2", .in = {F_("2,4", "0"), F_("2,3", "1")}}, PX_E_MISMATCH, "expected [2,2]"},
    {{.type = "QuantizeLinear", .opset = 21, .attrs = "output_dtype=17", .in = {F_("2", "0"), F_("", "1")}}, PX_E_UNSUPPORTED, "not supported"},
    {{.type = "DequantizeLinear", .opset = 21, .attrs = "axis=1 block_size=2", .in = {V_(PX_INT8, "2,4", "0"), F_("2,4", "1")}}, PX_E_MISMATCH, "expected [2,2]"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=4", .name = "Add past the end", .in = {F_("1,2,2", "0"), F_("", "0")}}, PX_E_INPUT, "axis 4"},
    {{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=2", .name = "Add at the end", .in = {F_("2,3", "0"), F_("3", "0")}}, PX_E_INPUT, "axis 2"},
    {{.type = "QuantizeLinear", .opset = 13, .in = {F_("3", "0"), F_("3", "1")}}, PX_E_INPUT, "axis 1"},
    {{.type = "QuantizeLinear", .opset = 13, .in = {F_("2,3", "0"), F_("3", "1"), V_(PX_INT8, "2", "0")}}, PX_E_MISMATCH, "differ in size"},
};
/* clang-format on */

static bool same(double got, double expected)
{
    return got == expected || (isnan(got) && isnan(expected)) ||
           fabs(got - expected) <= 1e-6 * fabs(expected);
}

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(values); i++) {
        op_run run;
        px_error err = {0};
        double expected[32];
        const int64_t count = (int64_t)op_numbers(values[i].expected, expected, PX_LEN(expected));
        const char *name = op_case_name(&values[i].test);
        if (op_run_init(&run, &values[i].test, 1, &err) != PX_OK ||
            op_run_forward(&run, &err) != PX_OK)
            fail_msg("row %d, '%s': %s", (int)i, name, err.message);
        if (run.out[0].dtype != (values[i].dtype ? values[i].dtype : PX_FLOAT32))
            fail_msg("row %d, '%s': gives %s", (int)i, name, px_dtype_name(run.out[0].dtype));
        if (px_shape_count(&run.out[0].shape) != count)
            fail_msg("row %d, '%s': gives %d elements", (int)i, name,
                     (int)px_shape_count(&run.out[0].shape));
        for (int64_t k = 0; k < count; k++)
            if (!same(op_get(&run.out[0], k), expected[k]))
                fail_msg("row %d, '%s': element %d is %g, expected %g", (int)i, name, (int)k,
                         op_get(&run.out[0], k), expected[k]);
        op_run_done(&run);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(refused); i++) {
        op_run run;
        px_error err = {0};
        const px_status status = op_run_init(&run, &refused[i].test, 1, &err);
        if (status != refused[i].status || !strstr(err.message, refused[i].says))
            fail_msg("row %d, '%s': %s: %s", (int)i, op_case_name(&refused[i].test),
                     px_status_name(status), err.message);
        op_run_done(&run);
    }
}

/* Dropout's mask is true everywhere, in the type of its time. */
static void test_dropout_mask(void **state)
{
    (void)state;
    static const struct {
        int opset;
        px_dtype dtype;
    } rows[] = {{6, PX_FLOAT32}, {7, PX_FLOAT32}, {10, PX_BOOL}, {13, PX_BOOL}};
    for (size_t i = 0; i < PX_LEN(rows); i++) {
        const op_case test = {
            .type = "Dropout", .opset = rows[i].opset, .outputs = 2, .in = {{.shape = "3"}}};
        op_run run;
        px_error err = {0};
        assert_int_equal(op_run_init(&run, &test, 1, &err), PX_OK);
        assert_int_equal(op_run_forward(&run, &err), PX_OK);
        assert_int_equal(run.out[1].dtype, rows[i].dtype);
        for (int64_t k = 0; k < 3; k++)
            assert_true(op_get(&run.out[1], k) == 1);
        op_run_done(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_dropout_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
