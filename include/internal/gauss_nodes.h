/* include/internal/gauss_nodes.h - Gauss and Legendre's nodes */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_GAUSS_NODES_H
#define PXI_INTERNAL_GAUSS_NODES_H

/* On [0, 1]: ascending nodes and their weights. */
void pxi_gauss_nodes(int count, double *nodes, double *weights);

#endif
