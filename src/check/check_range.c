/* src/check/check_range.c - what values may be, for stages that change them
 *
 * Found out once, and only where a stage wants it: float data are read for it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include <math.h>

px_status pxi_check_range(px_check *c, double *low, double *high, px_error *err)
{
    if (isnan(c->low)) {
        c->low = c->o.low;
        c->high = c->o.high;
    }
    if (isnan(c->low)) {
        PX_TRY(px_dataset_range(c->set, &c->pre, low, high, err));
        c->low = *low;
        c->high = *high;
        if (!px_dataset_is_8bit(c->set) && (c->low != 0.0 || c->high != 1.0))
            pxi_check_note(c, "values run from %.4g to %.4g: taken as the range; --range to set it",
                           c->low, c->high);
    }
    *low = c->low;
    *high = c->high;
    return PX_OK;
}
