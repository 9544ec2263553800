/* src/picture/scene_png.c - a contact sheet as PNG */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "picture/raster.h"
#include "picture/scene.h"
#include "picture/stroke_font.h"

#include <assert.h>
#include <internal/picture.h>
#include <math.h>

typedef struct png_pen {
    pxi_raster *raster;
    double x, y, stroke; /* where it starts */
} png_pen;

static void png_stroke(void *user, double x0, double y0, double x1, double y1)
{
    const png_pen *p = user;
    pxi_raster_segment(p->raster, p->x + x0, p->y + y0, p->x + x1, p->y + y1, p->stroke);
}

/* A text starts on a whole pixel, for the sake of its stems. */
static void png_text(pxi_raster *raster, const pxi_shape *shape)
{
    const pxi_text_style *look = &shape->look;
    static const double shares[] = {
        [PXI_ANCHOR_START] = 0, [PXI_ANCHOR_MIDDLE] = 0.5, [PXI_ANCHOR_END] = 1};
    const double back = shares[look->anchor] * pxi_font_width(shape->text, look->size);
    assert(look->turn == 0);
    png_pen p = {.raster = raster,
                 .x = floor(look->x - back + 0.5),
                 .y = floor(look->y + 0.5),
                 .stroke = pxi_font_stroke(look->size)};
    pxi_font_draw(shape->text, look->size, png_stroke, &p);
    pxi_raster_ink(raster, shape->colour);
}

px_status pxi_scene_png(const pxi_scene *scene, uint8_t **out, size_t *size, px_error *err)
{
    size_t count;
    const pxi_shape *shapes = pxi_scene_shapes(scene, &count);
    if (pxi_scene_failed(scene))
        return pxi_no_memory(err);
    const int width = pxi_scene_width(scene), height = pxi_scene_height(scene);
    pxi_raster raster = {0};
    PX_TRY(pxi_raster_init(&raster, width, height, err));
    for (const pxi_shape *s = shapes; s < shapes + count; s++) {
        const double *box = s->box;
        assert(s->kind == PXI_SHAPE_RECT || s->kind == PXI_SHAPE_IMAGE ||
               s->kind == PXI_SHAPE_TEXT);
        if (s->kind == PXI_SHAPE_RECT)
            pxi_raster_rect(&raster, box[0], box[1], box[2], box[3], s->colour);
        else if (s->kind == PXI_SHAPE_IMAGE)
            pxi_raster_image(&raster, box[0], box[1], box[2], box[3], s->image_width,
                             s->image_height, s->pixels);
        else
            png_text(&raster, s);
    }
    const px_status status = px_png_encode(width, height, 3, raster.rgb, out, size, err);
    pxi_raster_done(&raster);
    return status;
}
