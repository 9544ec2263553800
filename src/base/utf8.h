/* src/base/utf8.h - characters and their bytes */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_UTF8_H
#define PXI_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed character at `text` (1 to 4), or 0: truncated, overlong, a surrogate. */
size_t pxi_utf8_length(const char *text, size_t left);

/* The character at *text, which moves behind it, or by one byte where it is broken. Nothing behind
 * a NUL is read: of a text that ends in one, any `left` above 0 will do. */
#define PXI_UTF8_BROKEN 0xfffdu
uint32_t pxi_utf8_next(const char **text, size_t left);

size_t pxi_utf8_put(uint32_t code, char out[4]); /* how many bytes it has */

#endif
