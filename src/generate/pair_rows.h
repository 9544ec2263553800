/* src/generate/pair_rows.h - rows of attacks and syntheses as bytes, for campaigns */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_PAIR_ROWS_H
#define PXI_GENERATE_PAIR_ROWS_H

#include <internal/synthesize.h>
#include <plexor/attack.h>

/* Eight bytes for every number of a row, lowest first, so that all of it comes back to the bit. */
size_t pxi_attack_row_bytes(void);
void pxi_attack_row_pack(const px_attack_row *row, uint8_t *bytes);
void pxi_attack_row_unpack(const uint8_t *bytes, px_attack_row *row);

size_t pxi_synthesis_row_bytes(void);
void pxi_synthesis_row_pack(const px_synthesis_row *row, uint8_t *bytes);
void pxi_synthesis_row_unpack(const uint8_t *bytes, px_synthesis_row *row);

#endif
