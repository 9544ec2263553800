/* studies/frame/cells.h - what a study has found so far: a key and numbers per cell, kept on disk
 *
 *     {"key":"fashion-mnist lenet1 select nss run=1 ...","at":"2026-11-15T12:00:00Z",
 *      "version":"0.1.0","seconds":4.2,"values":{"fdr5":0.71,"fdr10":0.66}}
 *     {"command":"plexor study nss --runs 5","at":"2026-11-15T11:58:00Z"}
 *
 * One JSON object per line. A line is appended under a lock and synced before it counts; a last
 * line without its end was torn by a crash and is ignored, and overwritten by the next. Of two
 * cells with one key the later one holds. Not thread-safe.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_STUDY_CELLS_H
#define PXI_STUDY_CELLS_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stdint.h>

enum { CELL_VALUES = 64, CELL_KEY = 400, CELL_NAME = 48 };

typedef struct cell_value {
    char name[CELL_NAME];
    double number; /* NaN: undefined, null in the file */
} cell_value;

typedef struct study_cell {
    char *key;
    char at[24]; /* when it was finished, UTC */
    double seconds;
    cell_value *values;
    size_t count;
} study_cell;

typedef struct study_command {
    char *text;
    char first[24], last[24]; /* when it was given */
} study_command;

typedef struct study_cells study_cells;

/* A file that is not there is an empty one. PX_E_INPUT, naming the line, for one that is not ours.
 */
px_status pxi_cells_open(const char *path, study_cells **out, px_error *err);
void pxi_cells_close(study_cells *cells); /* NULL is fine */

size_t pxi_cells_count(const study_cells *cells);
const study_cell *pxi_cells_at(const study_cells *cells, size_t i);
const study_cell *pxi_cells_find(const study_cells *cells, const char *key); /* NULL: not there */
/* NaN: not there, or undefined. */
double pxi_cell_number(const study_cell *cell, const char *name);

/* Appends, syncs, and only then remembers. Names are shorter than CELL_NAME, the key than CELL_KEY.
 */
px_status pxi_cells_add(study_cells *cells, const char *key, double seconds,
                        const cell_value *values, size_t count, px_error *err);
px_status pxi_cells_command(study_cells *cells, const char *text, px_error *err);

size_t pxi_cells_command_count(const study_cells *cells);
const study_command *pxi_cells_command_at(const study_cells *cells, size_t i);

/* For filling values one after the other: names beyond CELL_VALUES are our own mistake. */
typedef struct cell_list {
    cell_value value[CELL_VALUES];
    size_t count;
} cell_list;
void pxi_cell_put(cell_list *list, double number, const char *name, ...) PX_PRINTF(3, 4);

#endif
