/* src/base/utf8.h - is this UTF-8? */
#ifndef PXI_BASE_UTF8_H
#define PXI_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed character at `text` (1 to 4), or 0: truncated, overlong, a surrogate. */
size_t pxi_utf8_length(const char *text, size_t left);

#endif
