/* src/picture/scene_svg.c - a scene as SVG 1.1, on its own: no script, no style sheet, no outside
 * font or picture */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "picture/scene.h"

#include "base/base64.h"

#include <internal/picture.h>
#include <plexor/text.h>

#include <math.h>
#include <stdlib.h>

/* Hundredths of a pixel, whatever the locale; " NAME=" comes before if there is one. */
static void svg_number(px_text *svg, const char *name, double value)
{
    const long long hundredths = llround(value * 100);
    const long long whole = llabs(hundredths) / 100, rest = llabs(hundredths) % 100;
    if (name)
        px_text_format(svg, " %s=\"", name);
    px_text_format(svg, "%s%lld", hundredths < 0 ? "-" : "", whole);
    if (rest % 10)
        px_text_format(svg, ".%02lld", rest);
    else if (rest)
        px_text_format(svg, ".%lld", rest / 10);
    if (name)
        px_text_add(svg, "\"");
}

static void svg_colour(px_text *svg, const char *name, pxi_colour c)
{
    px_text_format(svg, " %s=\"#%02x%02x%02x\"", name, c.r, c.g, c.b);
    if (c.a < 255) {
        px_text_format(svg, " %s-opacity=\"", name);
        svg_number(svg, NULL, c.a / 255.0);
        px_text_add(svg, "\"");
    }
}

static void svg_escape(px_text *svg, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            px_text_add(svg, "&amp;");
        else if (*text == '<')
            px_text_add(svg, "&lt;");
        else if (*text == '>')
            px_text_add(svg, "&gt;");
        else
            px_text_add_bytes(svg, text, 1);
    }
}

static void svg_points(px_text *svg, const pxi_shape *shape)
{
    px_text_add(svg, " points=\"");
    for (size_t i = 0; i < 2 * shape->point_count; i++) {
        if (i > 0)
            px_text_add(svg, i % 2 ? "," : " ");
        svg_number(svg, NULL, shape->points[i]);
    }
    px_text_add(svg, "\"");
}

static void svg_line(px_text *svg, const pxi_shape *shape)
{
    px_text_add(svg, "<polyline");
    svg_points(svg, shape);
    px_text_add(svg, " fill=\"none\"");
    svg_colour(svg, "stroke", shape->colour);
    svg_number(svg, "stroke-width", shape->stroke);
    px_text_add(svg, " stroke-linecap=\"round\" stroke-linejoin=\"round\"");
    if (shape->dash > 0) {
        px_text_add(svg, " stroke-dasharray=\"");
        for (int i = 0; i < 4; i++) {
            px_text_add(svg, i ? " " : "");
            svg_number(svg, NULL, pxi_dashes[shape->dash][i] * shape->stroke);
        }
        px_text_add(svg, "\"");
    }
    px_text_add(svg, "/>\n");
}

static void svg_text(px_text *svg, const pxi_shape *shape)
{
    const pxi_text_style *look = &shape->look;
    px_text_add(svg, "<text");
    svg_number(svg, "x", look->x);
    svg_number(svg, "y", look->y);
    svg_number(svg, "font-size", look->size);
    svg_colour(svg, "fill", shape->colour);
    if (look->anchor != PXI_ANCHOR_START)
        px_text_format(svg, " text-anchor=\"%s\"",
                       look->anchor == PXI_ANCHOR_MIDDLE ? "middle" : "end");
    if (look->turn) {
        px_text_format(svg, " transform=\"rotate(%d ", -look->turn);
        svg_number(svg, NULL, look->x);
        px_text_add(svg, " ");
        svg_number(svg, NULL, look->y);
        px_text_add(svg, ")\"");
    }
    px_text_add(svg, ">");
    svg_escape(svg, shape->text);
    px_text_add(svg, "</text>\n");
}

static px_status svg_image(px_text *svg, const pxi_shape *shape, px_error *err)
{
    uint8_t *png = NULL;
    size_t size = 0;
    PX_TRY(
        px_png_encode(shape->image_width, shape->image_height, 3, shape->pixels, &png, &size, err));
    px_text_add(svg, "<image");
    svg_number(svg, "x", shape->box[0]);
    svg_number(svg, "y", shape->box[1]);
    svg_number(svg, "width", shape->box[2]);
    svg_number(svg, "height", shape->box[3]);
    px_text_add(svg, " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\""
                     " xlink:href=\"data:image/png;base64,");
    pxi_base64_add(svg, png, size);
    px_text_add(svg, "\"/>\n");
    free(png);
    return PX_OK;
}

static px_status svg_shape(px_text *svg, const pxi_shape *shape, px_error *err)
{
    switch (shape->kind) {
    case PXI_SHAPE_RECT:
        px_text_add(svg, "<rect");
        svg_number(svg, "x", shape->box[0]);
        svg_number(svg, "y", shape->box[1]);
        svg_number(svg, "width", shape->box[2]);
        svg_number(svg, "height", shape->box[3]);
        break;
    case PXI_SHAPE_POLYGON:
        px_text_add(svg, "<polygon");
        svg_points(svg, shape);
        break;
    case PXI_SHAPE_CIRCLE:
        px_text_add(svg, "<circle");
        svg_number(svg, "cx", shape->box[0]);
        svg_number(svg, "cy", shape->box[1]);
        svg_number(svg, "r", shape->box[2]);
        break;
    case PXI_SHAPE_LINE:
        svg_line(svg, shape);
        return PX_OK;
    case PXI_SHAPE_TEXT:
        svg_text(svg, shape);
        return PX_OK;
    case PXI_SHAPE_IMAGE:
        return svg_image(svg, shape, err);
    }
    svg_colour(svg, "fill", shape->colour);
    px_text_add(svg, "/>\n");
    return PX_OK;
}

px_status pxi_scene_svg(const pxi_scene *scene, uint8_t **out, size_t *size, px_error *err)
{
    size_t count;
    const pxi_shape *shapes = pxi_scene_shapes(scene, &count);
    if (pxi_scene_failed(scene))
        return pxi_no_memory(err);
    const int width = pxi_scene_width(scene), height = pxi_scene_height(scene);
    px_text svg = {0};
    px_text_format(&svg,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                   "xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%d\" height=\"%d\" "
                   "viewBox=\"0 0 %d %d\" role=\"img\" "
                   "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n",
                   width, height, width, height);
    if (pxi_scene_title(scene)) {
        px_text_add(&svg, "<title>");
        svg_escape(&svg, pxi_scene_title(scene));
        px_text_add(&svg, "</title>\n");
    }
    px_text_format(&svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height);
    px_status status = PX_OK;
    for (size_t i = 0; i < count && status == PX_OK; i++)
        status = svg_shape(&svg, &shapes[i], err);
    px_text_add(&svg, "</svg>\n");
    const size_t length = svg.length;
    char *bytes = px_text_take(&svg);
    if (status == PX_OK && !bytes)
        status = pxi_no_memory(err);
    if (status != PX_OK) {
        free(bytes);
        return status;
    }
    *out = (uint8_t *)bytes;
    *size = length;
    return PX_OK;
}
