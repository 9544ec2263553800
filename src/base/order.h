/* src/base/order.h - ascending orders for qsort() and bsearch() */
#ifndef PXI_BASE_ORDER_H
#define PXI_BASE_ORDER_H

int pxi_order_int64(const void *a, const void *b);
int pxi_order_double(const void *a, const void *b); /* no NaN */
int pxi_order_text(const void *a, const void *b);   /* const char * */

#endif
