/* src/text/unicode_class.h - letters, numbers, marks, lower case: what tokenisers ask */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_TEXT_UNICODE_CLASS_H
#define PXI_TEXT_UNICODE_CLASS_H

#include <plexor/text.h>
#include <stdint.h>

typedef enum pxi_char_class {                 /* as in unicode_table.h */
                              PXI_CHAR_OTHER, /* control, format, private, not assigned */
                              PXI_CHAR_LETTER,
                              PXI_CHAR_NUMBER,
                              PXI_CHAR_PUNCTUATION,
                              PXI_CHAR_MARK,   /* non-spacing */
                              PXI_CHAR_SYMBOL, /* and other marks */
                              PXI_CHAR_SPACE,
} pxi_char_class;

pxi_char_class pxi_char_class_of(uint32_t code);
bool pxi_char_is_space(uint32_t code); /* White_Space: tabs and line ends too */
uint32_t pxi_char_lower(uint32_t code);

/* What canonical decomposition leaves without non-spacing marks: up to 3 code points; returns how
 * many, 0 for a mark. */
int pxi_char_bare(uint32_t code, uint32_t out[3]);

void pxi_char_put(px_text *text, uint32_t code);

/* PX_E_INPUT unless the text is UTF-8 and of a sane length. */
px_status pxi_text_check(const char *text, size_t size, px_error *err);

#endif
