/* src/data/manifest.h - CSV manifests: path,label[,split] */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_MANIFEST_H
#define PXI_DATA_MANIFEST_H

#include <plexor/error.h>
#include <stdint.h>

#define PXI_MANIFEST_MAX ((uint64_t)1 << 30)

typedef struct pxi_manifest_row {     /* texts lie in the parsed text */
    const char *path, *label, *split; /* label, split: "" if there is none */
    uint32_t line;                    /* 0: the row is of no file */
} pxi_manifest_row;

/* `text` has `size` bytes and room for a NUL behind them; it is cut up in place and must outlive
 * the rows, which the caller frees. */
px_status pxi_manifest_parse(char *text, size_t size, const char *name, pxi_manifest_row **rows,
                             size_t *count, px_error *err);

/* Adds the rows of one split (NULL: the default one) and their classes. Paths lie beside
 * `manifest`, a path in the source's tree. */
struct pxi_picture_source;
px_status pxi_manifest_fill(struct pxi_picture_source *source, const char *manifest,
                            const pxi_manifest_row *rows, size_t count, const char *split,
                            px_error *err);

#endif
