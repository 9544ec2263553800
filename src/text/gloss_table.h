/* src/text/gloss_table.h - what plexor knows of words before it has read any */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_GLOSS_TABLE_H
#define PXI_TEXT_GLOSS_TABLE_H

extern const char *const pxi_gloss_table[]; /* lines as in a user's file; NULL-terminated */

#endif
