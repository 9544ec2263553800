/* src/ops/op_list_nn.h - X(id) per descriptor px_op_<id>; ids are lower-case name_since, as relu_6 */
#ifndef PXI_OPS_LIST_NN_H
#define PXI_OPS_LIST_NN_H

#define PXI_OPS_NN(X) X(conv_1) X(convtranspose_1)

#endif
