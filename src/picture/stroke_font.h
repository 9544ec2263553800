/* src/picture/stroke_font.h - a small sans-serif font made of strokes, for pictures without a font
 * library
 *
 * Advance widths are near Helvetica's, so that a layout made with them also fits the fonts that
 * viewers of SVG choose. At 12 pixels all stems and bars lie on whole pixels.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PICTURE_STROKE_FONT_H
#define PXI_PICTURE_STROKE_FONT_H

#include <stddef.h>
#include <stdint.h>

double pxi_font_width(const char *text, double size);
/* Bytes of the longest start of `text` that is at most `most` wide; whole characters. */
size_t pxi_font_fit(const char *text, double size, double most);
double pxi_font_stroke(double size); /* the width of its lines */

/* Draws `text` from (0, 0), the start of the base line, y going down: one call per straight piece.
 */
typedef void (*pxi_stroke_fn)(void *user, double x0, double y0, double x1, double y1);
void pxi_font_draw(const char *text, double size, pxi_stroke_fn stroke, void *user);

#endif
