/* src/base/mem_names.h - what "mem:NAME" stands for: things that a program has put under a name
 *
 * One name, one thing, in the whole process; any thread may put, take and remove. What was taken
 * lives on when its name is removed.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_MEM_NAMES_H
#define PXI_BASE_MEM_NAMES_H

#include <plexor/tensor.h>
#include <stdbool.h>

typedef struct pxi_mem_kind {
    const char *what;             /* "data set" */
    void (*retain)(void *thing);  /* one owner more */
    void (*release)(void *thing); /* one less */
} pxi_mem_kind;

bool pxi_mem_is_name(const char *spec);
/* PX_E_USAGE for a name where a folder is wanted: memory has files only. */
px_status pxi_mem_no_folder(const char *path, px_error *err);

/* Puts `thing` under `name`, without "mem:", in place of what was there; takes over one ownership
 * of it, on success only. */
px_status pxi_mem_put(const char *name, const pxi_mem_kind *kind, void *thing, px_error *err);
/* What `spec` stands for, with an ownership of its own. */
px_status pxi_mem_take(const char *spec, const pxi_mem_kind *kind, void **out, px_error *err);
bool pxi_mem_remove(const char *name); /* false: there is none */

/* Hands what would be written to the file `path`, "mem:NAME", to whoever takes it in this thread:
 * px_take_here(). Takes over the tensor's memory in any case. */
px_status pxi_mem_check(const char *path, px_error *err); /* PX_E_USAGE: nobody would */
px_status pxi_mem_give(const char *path, const char *name, px_tensor *tensor, px_error *err);

#endif
