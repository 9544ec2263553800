/* include/internal/json.h - <plexor/json.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_JSON_H
#define PXI_INTERNAL_JSON_H

#include <plexor/json.h>

PX_BEGIN_DECLS

/* Opens a finished object again, for members behind those it has; px_json_end() closes it. */
void px_json_reopen(px_json *json);

PX_END_DECLS
#endif
