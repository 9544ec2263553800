/* src/base/ascending.c - ascending orders for qsort() and bsearch() */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ascending.h"

#include <stdint.h>
#include <string.h>

int pxi_order_int64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int pxi_order_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int pxi_order_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
