/* tests/ops/gradient_cases_math.h - op_case rows for the operators of op_list_math.h
 *
 * Values stay away from kinks and ends of domains, where differences mean nothing.
 */
/* clang-format off */
#define X_(SHAPE) {.shape = SHAPE}
#define GAP_(SHAPE, GAP) {.shape = SHAPE, .gap = GAP}
#define IN_(SHAPE, LOW, HIGH) {.shape = SHAPE, .low = LOW, .high = HIGH}
#define WIDE_(SHAPE) {.shape = SHAPE, .low = -4, .high = 4}

{.type = "Add", .opset = 6, .in = {X_("2,3"), X_("2,3")}},
{.type = "Add", .opset = 6, .attrs = "broadcast=1 axis=1", .in = {X_("2,3,4,5"), X_("3,4")}},
{.type = "Add", .opset = 6, .attrs = "broadcast=1", .in = {X_("2,3,4"), X_("3,4")}},
{.type = "Add", .opset = 14, .in = {X_("2,3,4"), X_("2,3,4")}},
{.type = "Add", .opset = 14, .name = "Add of a bias in NCHW", .in = {X_("2,3,2,2"), X_("3,1,1")}},
{.type = "Add", .opset = 14, .name = "Add of a bias in NHWC", .in = {X_("2,3,2,70"), X_("70")}},
{.type = "Add", .opset = 14, .name = "Add, both broadcast", .in = {X_("3,1,4"), X_("2,1,5,1")}},
{.type = "Add", .opset = 14, .name = "Add of a scalar", .in = {X_(""), X_("2,3")}},
{.type = "Add", .opset = 14, .name = "Add, five merged axes", .in = {X_("2,1,3,1,2"), X_("1,2,3,2,2")}},
{.type = "Sub", .opset = 1, .attrs = "broadcast=1 axis=0", .in = {X_("2,3"), X_("2")}},
{.type = "Sub", .opset = 13, .in = {X_("2,3"), X_("3")}},
{.type = "Sub", .opset = 13, .in = {X_("3"), X_("2,3")}},
{.type = "Mul", .opset = 6, .attrs = "broadcast=1 axis=-1", .in = {X_("2,3"), X_("3")}},
{.type = "Mul", .opset = 14, .in = {X_("2,3,4"), X_("2,3,4")}},
{.type = "Mul", .opset = 14, .name = "Mul of a gate in NHWC", .in = {X_("2,3,3,4"), X_("2,1,1,4")}},
{.type = "Mul", .opset = 14, .name = "Mul of a gate in NCHW", .in = {X_("2,4,3,3"), X_("2,4,1,1")}},
{.type = "Div", .opset = 6, .attrs = "broadcast=1 axis=0", .in = {X_("2,3"), IN_("2,1", 0.5, 2)}},
{.type = "Div", .opset = 14, .in = {X_("2,3"), IN_("2,3", 0.5, 2)}},
{.type = "Div", .opset = 14, .in = {X_("2,1"), IN_("3", -2, -0.5)}},

{.type = "Sqrt", .opset = 13, .in = {IN_("2,3", 0.2, 3)}},
{.type = "Exp", .opset = 13, .in = {X_("2,3")}},
{.type = "Log", .opset = 13, .in = {IN_("2,3", 0.2, 3)}},
{.type = "Reciprocal", .opset = 13, .in = {GAP_("2,3", 0.3)}},
{.type = "Erf", .opset = 13, .in = {WIDE_("3,4")}},
{.type = "Abs", .opset = 13, .in = {GAP_("3,4", 0.1)}},
{.type = "Neg", .opset = 13, .in = {X_("3,4")}},

{.type = "Sin", .opset = 7, .in = {WIDE_("3,4")}},
{.type = "Cos", .opset = 7, .in = {WIDE_("3,4")}},
{.type = "Tan", .opset = 7, .in = {X_("3,4")}},
{.type = "Asin", .opset = 7, .in = {IN_("3,4", -0.9, 0.9)}},
{.type = "Acos", .opset = 7, .in = {IN_("3,4", -0.9, 0.9)}},
{.type = "Atan", .opset = 7, .in = {WIDE_("3,4")}},
{.type = "Sinh", .opset = 9, .in = {X_("3,4")}},
{.type = "Cosh", .opset = 9, .in = {X_("3,4")}},
{.type = "Tanh", .opset = 13, .in = {WIDE_("3,4")}},
{.type = "Asinh", .opset = 9, .in = {WIDE_("3,4")}},
{.type = "Acosh", .opset = 9, .in = {IN_("3,4", 1.2, 4)}},
{.type = "Atanh", .opset = 9, .in = {IN_("3,4", -0.9, 0.9)}},

{.type = "Relu", .opset = 14, .in = {GAP_("3,4", 0.01)}},
{.type = "LeakyRelu", .opset = 16, .attrs = "alpha=0.3", .in = {GAP_("3,4", 0.01)}},
{.type = "ThresholdedRelu", .opset = 10, .attrs = "alpha=0.0", .in = {GAP_("3,4", 0.01)}},
{.type = "Shrink", .opset = 9, .attrs = "lambd=1.5 bias=0.5", .in = {IN_("3,4", 1.6, 3)}},
{.type = "Shrink", .opset = 9, .attrs = "lambd=1.5 bias=0.5", .in = {IN_("3,4", -3, -1.6)}},
{.type = "Shrink", .opset = 9, .attrs = "lambd=1.5 bias=0.5", .in = {X_("3,4")}},
{.type = "Elu", .opset = 6, .attrs = "alpha=0.7", .in = {GAP_("3,4", 0.01)}},
{.type = "Selu", .opset = 1, .in = {GAP_("3,4", 0.01)}},
{.type = "Selu", .opset = 6, .attrs = "alpha=2.0 gamma=3.0", .in = {GAP_("3,4", 0.01)}},
{.type = "Celu", .opset = 12, .attrs = "alpha=0.6", .in = {GAP_("3,4", 0.01)}},

{.type = "Sigmoid", .opset = 13, .in = {WIDE_("3,4")}},
{.type = "HardSigmoid", .opset = 6, .attrs = "alpha=0.3 beta=0.4", .in = {X_("3,4")}},
{.type = "HardSigmoid", .opset = 6, .in = {IN_("3,4", 2.6, 4)}},
{.type = "HardSwish", .opset = 14, .in = {IN_("3,4", -2.9, 2.9)}},
{.type = "HardSwish", .opset = 14, .in = {IN_("3,4", 3.1, 4)}},
{.type = "HardSwish", .opset = 14, .in = {IN_("3,4", -4, -3.1)}},
{.type = "Softplus", .opset = 1, .in = {WIDE_("3,4")}},
{.type = "Softsign", .opset = 1, .in = {GAP_("3,4", 0.01)}},
{.type = "Mish", .opset = 18, .in = {WIDE_("3,4")}},
{.type = "Gelu", .opset = 20, .in = {WIDE_("3,4")}},
{.type = "Gelu", .opset = 20, .attrs = "approximate=tanh", .in = {WIDE_("3,4")}},
