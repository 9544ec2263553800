/* src/base/json_most.h - JSON that may be longer than metadata are */
#ifndef PXI_BASE_JSON_MOST_H
#define PXI_BASE_JSON_MOST_H

#include <plexor/json.h>

/* px_json_parse() of at most `most` bytes. */
px_status pxi_json_parse_most(const char *text, size_t size, size_t most, px_json_document **out,
                              px_error *err);

#endif
