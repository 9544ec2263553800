/* src/engine/operators.c - the operator table, for those outside */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/engine.h>

#include <internal/op.h>

#include <string.h>

size_t px_operator_count(void)
{
    size_t count = 0;
    while (pxi_op_all()[count])
        count++;
    return count;
}

static bool operator_before(const px_op *a, const px_op *b)
{
    const int domains = strcmp(a->domain ? a->domain : "", b->domain ? b->domain : "");
    const int names = strcmp(a->name, b->name);
    if (domains)
        return domains < 0;
    return names ? names < 0 : a->since < b->since;
}

/* The table is in the order of the source files. It is small and this is for people to read, so the
 * i-th in order is found by counting how many come before. */
px_operator px_operator_get(size_t i)
{
    static const char *const gradients[] = {
        [PX_DIFF_NONE] = "no", [PX_DIFF_ZERO] = "zero", [PX_DIFF_YES] = "yes"};
    const px_op *const *all = pxi_op_all();
    const px_op *op = all[0];
    for (size_t k = 0; all[k]; k++) {
        size_t before = 0;
        for (size_t j = 0; all[j]; j++)
            before += operator_before(all[j], all[k]);
        if (before == i)
            op = all[k];
    }
    return (px_operator){.name = op->name,
                         .domain = op->domain ? op->domain : "",
                         .since = op->since,
                         .gradient = gradients[op->diff]};
}
