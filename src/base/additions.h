/* src/base/additions.h - entries that a program adds to a registry
 *
 * Slots are filled in order and never change again, so that readers need no lock: they see the
 * count, and what lies below it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_ADDITIONS_H
#define PXI_BASE_ADDITIONS_H

#include <plexor/registry.h>
#include <stdatomic.h>

enum { PXI_ADDITIONS_MAX = 32 };

struct px_additions {
    atomic_size_t count;
    const px_entry *entry[PXI_ADDITIONS_MAX];
};

/* `entry` is borrowed for good. PX_E_USAGE where there is one of that id, or it has no proper head.
 */
px_status pxi_registry_add(const px_registry *registry, const px_entry *entry, px_error *err);

#endif
