/* src/generate/fuzz_paths.h - a guide that reads decision paths, for engine `loop` */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_FUZZ_PATHS_H
#define PXI_GENERATE_FUZZ_PATHS_H

#include "generate/fuzz_loop.h"

/* Paths of what a wave made, and of the parents that have none yet; similarities of the pairs. */
px_status pxi_loop_paths_open(pxi_loop *loop, px_error *err); /* nothing without such a guide */
void pxi_loop_paths_close(pxi_loop *loop);
/* A mutant's path costs many looks at it. */
bool pxi_loop_paths_dear(const pxi_loop *loop);
px_status pxi_loop_paths_wave(pxi_loop *loop, px_error *err);

/* Whether the guide keeps a mutant; counts it. */
bool pxi_loop_paths_keeps(pxi_loop *loop, const pxi_wave_item *item);
/* The path of a mutant becomes that of its entry, the newest. */
px_status pxi_loop_paths_push(pxi_loop *loop, const pxi_wave_item *item, px_error *err);

void pxi_loop_paths_save(const pxi_loop *loop, px_text *bytes);
bool pxi_loop_paths_load(pxi_loop *loop, pxi_fuzz_bytes *from);
void pxi_loop_paths_report(const pxi_loop *loop, px_fuzz_report *report);
px_coverage pxi_loop_paths_coverage(const pxi_loop *loop);

#endif
