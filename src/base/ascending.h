/* src/base/ascending.h - ascending orders for qsort() and bsearch() */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_ASCENDING_H
#define PXI_BASE_ASCENDING_H

int pxi_order_int64(const void *a, const void *b);
int pxi_order_double(const void *a, const void *b); /* no NaN */
int pxi_order_text(const void *a, const void *b);   /* const char * */

#endif
