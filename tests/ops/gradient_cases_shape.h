/* tests/ops/gradient_cases_shape.h - op_case rows for the operators of op_list_shape.h
 *
 * One line per row and a comma after each, as in
 *     {.type = "Transpose", .opset = 13, .attrs = "perm=[1,0]", .in = {{.shape = "2,3"}}},
 */
