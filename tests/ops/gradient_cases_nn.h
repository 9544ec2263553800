/* tests/ops/gradient_cases_nn.h - op_case rows for the operators of op_list_nn.h
 *
 * One line per row and a comma after each, as in
 *     {.type = "MatMul", .opset = 13, .in = {{.shape = "2,3"}, {.shape = "3,4"}}},
 */
/* clang-format off */
{.type = "Conv", .opset = 11, .attrs = "pads=[1,1,1,1]", .in = {{.shape = "2,2,4,4"}, {.shape = "3,2,3,3"}, {.shape = "3"}}},
{.type = "ConvTranspose", .opset = 11, .attrs = "strides=[2,2]", .in = {{.shape = "2,2,3,3"}, {.shape = "2,3,3,3"}, {.shape = "3"}}},
