/* include/internal/npz_meta.h - the `meta` of profiles, states, captioners: JSON in an NPZ */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_NPZ_META_H
#define PXI_INTERNAL_NPZ_META_H

#include <plexor/data.h>
#include <plexor/json.h>

/* Writes the finished object as `meta`, and frees the writer's memory in any case. */
px_status pxi_meta_put(px_npz_writer *to, px_json *json, px_error *err);

/* Reads `meta`, checks its `format` and `version`, and gives its root, which lives as long as the
 * document. */
px_status pxi_meta_take(const px_npz *from, const char *format, int version,
                        px_json_document **document, const px_json_value **root, px_error *err);

/* Members that must be there: a string; a whole number in [0, most]; 16 hexadecimal digits. */
px_status pxi_meta_string(const px_json_value *object, const char *key, const char **out,
                          px_error *err);
px_status pxi_meta_int(const px_json_value *object, const char *key, int64_t most, int64_t *out,
                       px_error *err);
px_status pxi_meta_hash(const px_json_value *object, const char *key, uint64_t *out, px_error *err);
px_status pxi_meta_array(const px_json_value *object, const char *key, const px_json_value **out,
                         px_error *err);
void pxi_meta_put_hash(px_json *json, const char *key, uint64_t hash);

#endif
