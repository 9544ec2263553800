/* fuzz/fuzz_selection.c - states of selections that a stranger wrote: as lists of members
 * (zip_members.h), and merged with themselves
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "select/select_files.h"
#include "zip_members.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static zip z;
    if (!zip_make(&z, bytes, size))
        return 0;
    px_npz *npz = zip_open(&z);
    px_selection *a = NULL, *b = NULL;
    px_error err = {0};
    if (npz && pxi_selection_read(npz, &a, &err) == PX_OK &&
        pxi_selection_read(npz, &b, &err) == PX_OK) {
        if (px_selection_count(a) < 0 || px_selection_seen(a) < 0)
            abort();
        /* The same inputs: refused, unless there are none. */
        if (px_selection_merge(a, b, &err) == PX_OK ? px_selection_seen(a) > 0 : !err.message[0])
            abort();
    }
    px_selection_free(b);
    px_selection_free(a);
    px_npz_close(npz);
    return 0;
}
