/* src/base/base64.h - bytes as text (RFC 4648, section 4) */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_BASE64_H
#define PXI_BASE_BASE64_H

#include <plexor/text.h>
#include <stdint.h>

void pxi_base64_add(px_text *text, const uint8_t *bytes, size_t size); /* with padding */

#endif
