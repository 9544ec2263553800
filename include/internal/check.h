/* include/internal/check.h - <plexor/check.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_CHECK_H
#define PXI_INTERNAL_CHECK_H

#include <plexor/check.h>

PX_BEGIN_DECLS

PX_REGISTRY(pxi_check_stages, px_check_stage, px_check_stage)
PX_REGISTRY(pxi_gate_kinds, px_gate_kind, px_gate_kind)

const char *px_check_state_name(px_check_state state); /* "done", "kept", "left out" ... */

px_check_state px_check_state_of(const px_check *check, size_t stage);

size_t px_check_gate_count(const px_check *check);

px_check_gate px_check_gate_get(const px_check *check, size_t i);

PX_END_DECLS
#endif
