/* include/internal/report.h - the HTML report: one page that opens offline
 *
 *     px_sprites *sprites = NULL;
 *     PX_TRY(px_sprites_new(28, 28, &sprites, err));
 *     PX_TRY(px_sprites_add(sprites, &picture, &tile, err));      // "original": [0, tile]
 *     ...
 *     px_json_array(&json, "sheets");
 *     px_json_object(&json, NULL);
 *     PX_TRY(px_sprites_json(sprites, &json, err));
 *     px_json_end(&json);
 *     px_json_end(&json);
 *     ...
 *     PX_TRY(px_report_html(px_json_text(&json), &html, &size, err));
 *
 * The page and its script are part of the library; what it shows is one JSON object, described in
 * docs/report.md (and, to the key, in web/src/data.ts). Texts in it are shown as text, whatever
 * they hold.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_REPORT_H
#define PXI_INTERNAL_REPORT_H

#include <internal/picture.h>
#include <plexor/json.h>

PX_BEGIN_DECLS

/* The page with `json` inside, which the caller frees; a NUL stands behind its *size bytes. `json`
 * must be one JSON object, as px_json writes it; whether it is what docs/report.md describes is the
 * caller's concern. */
px_status px_report_html(const char *json, char **out, size_t *size, px_error *err);

/* Identity of the sources that the page was built from: hexadecimal digits. */
#define PX_REPORT_PAGE_ID 17
px_status px_report_page(char id[PX_REPORT_PAGE_ID], px_error *err);

/* --- pictures of the report ------------------------------------------------------------------ */

#define PX_SPRITES_MOST 100000                    /* tiles of a sheet */
#define PX_SPRITES_SIDE_MOST 1024                 /* of a tile */
#define PX_SPRITES_PIXELS_MOST ((int64_t)1 << 26) /* of a sheet */

typedef struct px_sprites px_sprites; /* a sheet that grows; belongs to one thread */

/* An empty sheet of tiles of this size. On PX_OK the caller owns *out. */
px_status px_sprites_new(int width, int height, px_sprites **out, px_error *err);
void px_sprites_free(px_sprites *sprites); /* NULL is fine */

/* Adds a picture, *tile becomes its place. Pictures of another size are brought to the tile's,
 * proportions kept: larger ones by the mean of the area, smaller ones in whole steps where they
 * fit, centred on the grey 128. The same picture again takes no second place. A sheet is grey until
 * the first picture with colours. A failure leaves the sheet as it was. */
px_status px_sprites_add(px_sprites *sprites, const px_pixels *picture, int *tile, px_error *err);
int px_sprites_count(const px_sprites *sprites);

/* Writes the sheet's members into an object of the report's "sheets". An empty sheet is one too. */
px_status px_sprites_json(const px_sprites *sprites, px_json *json, px_error *err);

PX_END_DECLS
#endif
