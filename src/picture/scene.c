/* src/picture/scene.c - a drawing as a list of shapes */
/* SPDX-License-Identifier: Apache-2.0 */
#include "picture/scene.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "picture/stroke_font.h"

#include <assert.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

struct pxi_scene {
    int width, height;
    const char *title;
    px_arena *arena; /* points, texts, pixels */
    pxi_shape *shapes;
    size_t count, capacity;
    bool failed;
};

const double pxi_dashes[PXI_DASH_COUNT][4] = {
    {0, 0, 0, 0}, {3, 3, 3, 3}, {0.01, 2.2, 0.01, 2.2}, {4, 2.6, 0.01, 2.6}};

pxi_scene *pxi_scene_new(int width, int height)
{
    assert(width > 0 && height > 0);
    pxi_scene *scene = pxi_calloc(1, sizeof *scene);
    px_arena *arena = pxi_arena_new();
    if (!scene || !arena) {
        pxi_arena_free(arena);
        free(scene);
        return NULL;
    }
    *scene = (pxi_scene){.width = width, .height = height, .arena = arena};
    return scene;
}

void pxi_scene_free(pxi_scene *scene)
{
    if (!scene)
        return;
    free(scene->shapes);
    pxi_arena_free(scene->arena);
    free(scene);
}

static void scene_add(pxi_scene *scene, const pxi_shape *shape)
{
    if (scene->failed ||
        pxi_grow(&scene->shapes, &scene->capacity, scene->count + 1, sizeof *scene->shapes) != 0)
        scene->failed = true;
    else
        scene->shapes[scene->count++] = *shape;
}

static const void *scene_copy(pxi_scene *scene, const void *from, size_t count, size_t size)
{
    void *copy = scene->failed ? NULL : pxi_arena_alloc(scene->arena, count, size);
    if (!copy)
        scene->failed = true;
    else if (count)
        memcpy(copy, from, count * size);
    return copy;
}

void pxi_scene_rect(pxi_scene *scene, double x, double y, double width, double height,
                    pxi_colour colour)
{
    if (width > 0 && height > 0)
        scene_add(
            scene,
            &(pxi_shape){.kind = PXI_SHAPE_RECT, .colour = colour, .box = {x, y, width, height}});
}

void pxi_scene_line(pxi_scene *scene, const double *points, size_t point_count, double stroke,
                    int dash, pxi_colour colour)
{
    scene_add(scene,
              &(pxi_shape){.kind = PXI_SHAPE_LINE,
                           .colour = colour,
                           .points = scene_copy(scene, points, point_count, 2 * sizeof *points),
                           .point_count = point_count,
                           .stroke = stroke,
                           .dash = dash});
}

void pxi_scene_polygon(pxi_scene *scene, const double *points, size_t point_count,
                       pxi_colour colour)
{
    scene_add(scene,
              &(pxi_shape){.kind = PXI_SHAPE_POLYGON,
                           .colour = colour,
                           .points = scene_copy(scene, points, point_count, 2 * sizeof *points),
                           .point_count = point_count});
}

void pxi_scene_circle(pxi_scene *scene, double x, double y, double radius, pxi_colour colour)
{
    scene_add(scene,
              &(pxi_shape){.kind = PXI_SHAPE_CIRCLE, .colour = colour, .box = {x, y, radius, 0}});
}

/* Words come from file names, class names and models: what neither XML nor a font can show is
 * replaced, control characters by spaces and broken UTF-8 by U+FFFD. */
static void text_clean(px_text *out, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const size_t length = pxi_utf8_length(text, left);
        const unsigned char c = (unsigned char)*text;
        const bool special = length == 3 && c == 0xef && (unsigned char)text[1] == 0xbf &&
                             (unsigned char)text[2] >= 0xbe; /* U+FFFE, U+FFFF */
        const bool c1 = length == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0;
        if (length == 0 || special)
            px_text_add(out, "\xef\xbf\xbd");
        else if (c < 0x20 || c == 0x7f || c1)
            px_text_add(out, " ");
        else
            px_text_add_bytes(out, text, length);
        text += length ? length : 1;
        left -= length ? length : 1;
    }
}

void pxi_scene_set_title(pxi_scene *scene, const char *title)
{
    px_text clean = {0};
    text_clean(&clean, title);
    scene->failed |= px_text_failed(&clean);
    scene->title = scene_copy(scene, px_text_get(&clean), clean.length + 1, 1);
    px_text_done(&clean);
}

const char *pxi_scene_title(const pxi_scene *scene)
{
    return scene->title;
}

void pxi_scene_text_fit(pxi_scene *scene, const pxi_text_style *style, const char *text,
                        double most)
{
    px_text clean = {0};
    text_clean(&clean, text);
    const char *words = px_text_get(&clean);
    if (most > 0 && pxi_font_width(words, style->size) > most && !px_text_failed(&clean)) {
        const double room = most - pxi_font_width("\xe2\x80\xa6", style->size);
        const size_t fits = pxi_font_fit(words, style->size, room);
        clean.length = fits;
        clean.data[fits] = '\0';
        px_text_add(&clean, "\xe2\x80\xa6");
    }
    scene->failed |= px_text_failed(&clean);
    if (clean.length > 0)
        scene_add(scene,
                  &(pxi_shape){.kind = PXI_SHAPE_TEXT,
                               .colour = style->colour,
                               .text = scene_copy(scene, px_text_get(&clean), clean.length + 1, 1),
                               .look = *style});
    px_text_done(&clean);
}

void pxi_scene_text(pxi_scene *scene, const pxi_text_style *style, const char *text)
{
    pxi_scene_text_fit(scene, style, text, 0);
}

void pxi_scene_image(pxi_scene *scene, double x, double y, double width, double height,
                     int image_width, int image_height, const uint8_t *rgb)
{
    const size_t pixels = (size_t)image_width * (size_t)image_height;
    scene_add(scene, &(pxi_shape){.kind = PXI_SHAPE_IMAGE,
                                  .box = {x, y, width, height},
                                  .image_width = image_width,
                                  .image_height = image_height,
                                  .pixels = scene_copy(scene, rgb, pixels, 3)});
}

int pxi_scene_width(const pxi_scene *scene)
{
    return scene->width;
}

int pxi_scene_height(const pxi_scene *scene)
{
    return scene->height;
}

const pxi_shape *pxi_scene_shapes(const pxi_scene *scene, size_t *count)
{
    *count = scene->count;
    return scene->shapes;
}

void pxi_scene_set_failed(pxi_scene *scene)
{
    scene->failed = true;
}

bool pxi_scene_failed(const pxi_scene *scene)
{
    return scene->failed;
}

px_status pxi_scene_save(const pxi_scene *scene, bool png, const char *path, px_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (pxi_has_suffix(path, ".svg"))
        PX_TRY(pxi_scene_svg(scene, &bytes, &size, err));
    else if (png && pxi_has_suffix(path, ".png"))
        PX_TRY(pxi_scene_png(scene, &bytes, &size, err));
    else
        return px_fail(err, PX_E_USAGE, "'%s': %s, as its name says", path,
                       png ? "a picture is written as .svg or .png" : "a chart is written as .svg");
    const px_status status = pxi_file_write(path, bytes, size, err);
    free(bytes);
    return status;
}
