/* src/probe/layer_map_file.c - a map of inputs as a picture or a table */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/layer_map.h"

#include "base/csv_rows.h"
#include "base/file.h"
#include "base/memory.h"

#include <internal/picture.h>
#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PICTURE_SIDE = 760, CLASS_KEYS_MOST = 24, LABELS_MOST = 65536 };
enum { NO_LABEL = 9 }; /* the colour of inputs without one: grey */

px_status px_map_save_check(const char *path, px_error *err)
{
    if (pxi_has_suffix(path, ".svg") || pxi_has_suffix(path, ".csv"))
        return PX_OK;
    return px_fail(err, PX_E_USAGE, "'%s': a map is written as .svg or .csv", path);
}

/* --- the table ------------------------------------------------------------------------------- */

static px_status map_csv(const px_map *map, const char *path, px_error *err)
{
    px_text text = {0};
    char x[PX_REAL_TEXT], y[PX_REAL_TEXT];
    px_text_add(&text, "origin,index,name,label,prediction,x,y\n");
    for (size_t i = 0; i < map->count; i++) {
        const px_map_point *p = &map->point[i];
        pxi_csv_put(&text, map->origin[p->origin].name);
        px_text_format(&text, ",%" PRId64 ",", p->index);
        pxi_csv_put(&text, map->name[i]);
        px_text_add(&text, ",");
        if (p->label >= 0)
            px_text_format(&text, "%" PRId64, p->label);
        px_text_add(&text, ",");
        if (p->prediction >= 0)
            px_text_format(&text, "%" PRId64, p->prediction);
        px_text_format(&text, ",%s,%s\n", isnan(p->x) ? "" : px_real_text(p->x, x),
                       isnan(p->y) ? "" : px_real_text(p->y, y));
    }
    const px_status status = px_text_failed(&text)
                                 ? pxi_no_memory_for(err, "a table of %zu inputs", map->count)
                                 : pxi_file_write(path, px_text_get(&text), text.length, err);
    px_text_done(&text);
    return status;
}

/* --- the picture ----------------------------------------------------------------------------- */

/* Labels in use, ascending; the caller frees *used. Class c has colour `place of c` there. */
static px_status map_labels(const px_map *map, int64_t **used, size_t *count, px_error *err)
{
    bool *seen = pxi_calloc(LABELS_MOST, sizeof *seen);
    int64_t *list = pxi_calloc(LABELS_MOST, sizeof *list);
    if (!seen || !list) {
        free(seen);
        free(list);
        return pxi_no_memory_for(err, "a picture of %zu inputs", map->count);
    }
    for (size_t i = 0; i < map->count; i++)
        if (map->point[i].label >= 0 && map->point[i].label < LABELS_MOST)
            seen[map->point[i].label] = true;
    size_t n = 0;
    for (int64_t c = 0; c < LABELS_MOST; c++)
        if (seen[c])
            list[n++] = c;
    free(seen);
    *used = list;
    *count = n;
    return PX_OK;
}

/* The colour of no label is kept for that as soon as there are such inputs. */
static uint16_t label_colour(const int64_t *used, size_t count, int64_t label, bool some_without)
{
    size_t place = 0;
    if (label < 0 || label >= LABELS_MOST)
        return NO_LABEL;
    while (place < count && used[place] != label)
        place++;
    place %= some_without ? PX_PLOT_COLOURS - 1 : PX_PLOT_COLOURS;
    return (uint16_t)(some_without && place >= NO_LABEL ? place + 1 : place);
}

static px_status map_keys(const px_map *map, px_plot *plot, const int64_t *used, size_t count,
                          bool some_without, px_error *err)
{
    char number[32];
    for (int o = 0; o < map->origin_count && map->origin_count > 1; o++)
        PX_TRY(px_plot_key(plot, map->origin[o].name, -1, o, err));
    for (size_t c = 0; c < PX_MIN(count, (size_t)CLASS_KEYS_MOST); c++) {
        const char *name = (size_t)used[c] < map->class_count ? map->class_name[used[c]] : NULL;
        snprintf(number, sizeof number, "%" PRId64, used[c]);
        PX_TRY(px_plot_key(plot, name ? name : number,
                           label_colour(used, count, used[c], some_without), -1, err));
    }
    return some_without && count > 0 ? px_plot_key(plot, "no label", NO_LABEL, -1, err) : PX_OK;
}

static px_status map_points(const px_map *map, px_plot *plot, const int64_t *used, size_t count,
                            bool some_without, px_error *err)
{
    const size_t n = map->count;
    double *x = pxi_calloc(n, sizeof *x), *y = pxi_calloc(n, sizeof *y);
    uint16_t *colour = pxi_calloc(n, sizeof *colour), *mark = pxi_calloc(n, sizeof *mark);
    px_status status = PX_OK;
    if (!x || !y || !colour || !mark) {
        status = pxi_no_memory_for(err, "a picture of %zu inputs", n);
    } else {
        for (size_t i = 0; i < n; i++) {
            x[i] = map->point[i].x;
            y[i] = map->point[i].y;
            colour[i] = label_colour(used, count, map->point[i].label, some_without);
            mark[i] = (uint16_t)map->point[i].origin;
        }
        status = px_plot_map(plot, x, y, colour, mark, n, err);
    }
    free(x);
    free(y);
    free(colour);
    free(mark);
    return status;
}

static px_status map_picture(const px_map *map, const char *path, const char *title, px_error *err)
{
    char note[320];
    const px_map_quality *q = &map->quality;
    const px_plot_options options = {
        .title = title, .note = note, .width = PICTURE_SIDE, .height = PICTURE_SIDE};
    px_plot *plot = NULL;
    int64_t *used = NULL;
    size_t count = 0;
    bool some_without = false;
    for (size_t i = 0; i < map->count; i++)
        some_without |= map->point[i].label < 0 || map->point[i].label >= LABELS_MOST;
    px_status status = map_labels(map, &used, &count, err);
    char how[96];
    if (q->umap)
        snprintf(how, sizeof how, "UMAP, %d neighbours, least distance %.4g", q->graph_neighbours,
                 q->min_dist);
    else
        snprintf(how, sizeof how, "t-SNE, perplexity %.4g, KL %.3f", q->perplexity, q->kl);
    snprintf(note, sizeof note, "%zu inputs, %zu neurons; %s, trustworthiness %.3f%s", map->count,
             map->width, how, q->trustworthiness,
             count > PX_PLOT_COLOURS ? "; colours repeat" : "");
    PX_THEN(status, px_plot_new(&options, &plot, err));
    PX_THEN(status, map_keys(map, plot, used, count, some_without, err));
    PX_THEN(status, map_points(map, plot, used, count, some_without, err));
    PX_THEN(status, px_plot_save(plot, path, err));
    px_plot_free(plot);
    free(used);
    return status;
}

px_status px_map_save(const px_map *map, const char *path, const char *title, px_error *err)
{
    PX_TRY(px_map_save_check(path, err));
    return pxi_has_suffix(path, ".csv") ? map_csv(map, path, err)
                                        : map_picture(map, path, title, err);
}
