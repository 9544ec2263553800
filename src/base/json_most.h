/* src/base/json_most.h - JSON that may be longer than metadata are, and JSON inside JSON */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_BASE_JSON_MOST_H
#define PXI_BASE_JSON_MOST_H

#include <plexor/json.h>

/* px_json_parse() of at most `most` bytes. */
px_status pxi_json_parse_most(const char *text, size_t size, size_t most, px_json_document **out,
                              px_error *err);

/* A value that is JSON already, as it is. */
void pxi_json_verbatim(px_json *json, const char *key, const char *value);

#endif
