/* src/engine/operators.c - the operator table, for those outside */
#include <plexor/engine.h>

#include "ops/op.h"

size_t px_operator_count(void)
{
    size_t count = 0;
    while (pxi_op_all()[count])
        count++;
    return count;
}

px_operator px_operator_get(size_t i)
{
    static const char *const gradients[] = {
        [PX_DIFF_NONE] = "no", [PX_DIFF_ZERO] = "zero", [PX_DIFF_YES] = "yes"};
    const px_op *op = pxi_op_all()[i];
    return (px_operator){.name = op->name,
                         .domain = op->domain ? op->domain : "",
                         .since = op->since,
                         .gradient = gradients[op->diff]};
}
