/* src/base/base64.c - bytes as text (RFC 4648, section 4) */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

void pxi_base64_add(px_text *text, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const unsigned long b1 = i + 1 < size ? bytes[i + 1] : 0,
                            b2 = i + 2 < size ? bytes[i + 2] : 0;
        const unsigned long bits = (unsigned long)bytes[i] << 16 | b1 << 8 | b2;
        const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              i + 1 < size ? digits[bits >> 6 & 63] : '=',
                              i + 2 < size ? digits[bits & 63] : '='};
        px_text_add_bytes(text, four, 4);
    }
}
