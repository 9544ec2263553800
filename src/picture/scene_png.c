/* src/picture/scene_png.c - a scene as PNG */
#include "base/memory.h"
#include "picture/raster.h"
#include "picture/scene.h"
#include "picture/stroke_font.h"

#include <internal/picture.h>

#include <math.h>

/* A line's pieces that are drawn; a dash pattern runs on over its corners. */
static void png_line(pxi_raster *raster, const pxi_shape *shape, double scale)
{
    const double stroke = shape->stroke * scale;
    const double *dash = pxi_dashes[shape->dash];
    int phase = 0;
    double left = dash[0] * stroke; /* of this dash or gap */
    for (size_t i = 0; i + 1 < shape->point_count || i == 0; i++) {
        const double *p = shape->points + 2 * i;
        const double *q = i + 1 < shape->point_count ? p + 2 : p; /* a single point is a dot */
        const double x = p[0] * scale, y = p[1] * scale;
        const double dx = q[0] * scale - x, dy = q[1] * scale - y, length = sqrt(dx * dx + dy * dy);
        if (shape->dash == 0) {
            pxi_raster_segment(raster, x, y, x + dx, y + dy, stroke);
            continue;
        }
        for (double at = 0; at < length;) {
            const double step = fmin(left, length - at), a = at / length, b = (at + step) / length;
            if (phase % 2 == 0)
                pxi_raster_segment(raster, x + a * dx, y + a * dy, x + b * dx, y + b * dy, stroke);
            at += step;
            left -= step;
            if (left <= 0) {
                phase = (phase + 1) % 4;
                left = dash[phase] * stroke;
            }
        }
    }
}

typedef struct png_pen {
    pxi_raster *raster;
    double x, y, along, across, stroke; /* where it starts; direction: cosine, sine */
} png_pen;

static void png_stroke(void *user, double x0, double y0, double x1, double y1)
{
    const png_pen *p = user;
    pxi_raster_segment(p->raster, p->x + x0 * p->along + y0 * p->across,
                       p->y - x0 * p->across + y0 * p->along, p->x + x1 * p->along + y1 * p->across,
                       p->y - x1 * p->across + y1 * p->along, p->stroke);
}

/* A text starts on a whole pixel, for the sake of its stems. */
static void png_text(pxi_raster *raster, const pxi_shape *shape, double scale)
{
    const pxi_text_style *look = &shape->look;
    const double size = look->size * scale;
    static const double shares[] = {
        [PXI_ANCHOR_START] = 0, [PXI_ANCHOR_MIDDLE] = 0.5, [PXI_ANCHOR_END] = 1};
    const double back = shares[look->anchor] * pxi_font_width(shape->text, size);
    const double half = 0.70710678118654752;
    png_pen p = {.raster = raster,
                 .along = look->turn == 90   ? 0
                          : look->turn == 45 ? half
                                             : 1,
                 .across = look->turn == 90   ? 1
                           : look->turn == 45 ? half
                                              : 0,
                 .stroke = pxi_font_stroke(size)};
    p.x = look->x * scale - back * p.along;
    p.y = look->y * scale + back * p.across;
    if (look->turn != 45) {
        p.x = floor(p.x + 0.5);
        p.y = floor(p.y + 0.5);
    }
    pxi_font_draw(shape->text, size, png_stroke, &p);
}

static void png_shape(pxi_raster *raster, const pxi_shape *shape, double scale)
{
    const double x = shape->box[0] * scale, y = shape->box[1] * scale;
    const double width = shape->box[2] * scale, height = shape->box[3] * scale;
    switch (shape->kind) {
    case PXI_SHAPE_RECT:
        pxi_raster_rect(raster, x, y, width, height, shape->colour);
        return;
    case PXI_SHAPE_IMAGE:
        pxi_raster_image(raster, x, y, width, height, shape->image_width, shape->image_height,
                         shape->pixels);
        return;
    case PXI_SHAPE_LINE:
        if (shape->point_count > 0)
            png_line(raster, shape, scale);
        break;
    case PXI_SHAPE_POLYGON: {
        double points[2 * 8];
        const size_t count = shape->point_count < 8 ? shape->point_count : 8;
        for (size_t i = 0; i < 2 * count; i++)
            points[i] = shape->points[i] * scale;
        pxi_raster_convex(raster, points, count);
        break;
    }
    case PXI_SHAPE_CIRCLE:
        pxi_raster_circle(raster, x, y, width);
        break;
    case PXI_SHAPE_TEXT:
        png_text(raster, shape, scale);
        break;
    }
    pxi_raster_ink(raster, shape->colour);
}

px_status pxi_scene_png(const pxi_scene *scene, int scale, uint8_t **out, size_t *size,
                        px_error *err)
{
    size_t count;
    const pxi_shape *shapes = pxi_scene_shapes(scene, &count);
    if (pxi_scene_failed(scene))
        return pxi_no_memory(err);
    const int width = scale * pxi_scene_width(scene), height = scale * pxi_scene_height(scene);
    pxi_raster raster = {0};
    PX_TRY(pxi_raster_init(&raster, width, height, err));
    for (size_t i = 0; i < count; i++)
        png_shape(&raster, &shapes[i], scale);
    const px_status status = px_png_encode(width, height, 3, raster.rgb, out, size, err);
    pxi_raster_done(&raster);
    return status;
}
