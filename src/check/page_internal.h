/* src/check/page_internal.h - the report: what the page shows beside the stages' own results
 *
 * The page has every FOLDER/STAGE.json as it is, so that a stage's numbers have one name. Written
 * here is what no result has: pictures and recordings, failures of the campaign, values of all
 * neurons, and where everything comes from. docs/report.md has the keys.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_PAGE_INTERNAL_H
#define PXI_PAGE_INTERNAL_H

#include "base/arena.h"
#include "check/check_internal.h"

#include <internal/report.h>

struct pxi_page {
    px_check *c;
    px_json json;
    pxi_page *self;        /* of functions of fields, which get a const one */
    px_status *status;     /* what went wrong while fields were made, */
    px_error *err;         /* and how */
    px_campaign *campaign; /* what was found; NULL: nothing */
    int64_t findings;      /* on the page, at most */
    int64_t faults;        /* in the campaign */
    bool *shown;           /* [count]: inputs of the data that are on the page */

    px_sprites *sprites; /* NULL: the inputs are no pictures */
    px_arena *texts;     /* that stand in their place */
    int width, height, channels;
    uint8_t *bytes; /* of one picture */
    float *values;
    void *pixels;     /* of an input of the campaign */
    bool spectrogram; /* inputs are features of recordings: [frames, mels] */
    float low, high;  /* of such features */
    size_t audio_bytes;
    struct pxi_page_finding *chosen; /* failures that are shown */
    size_t chosen_count;
};

px_status pxi_page_pictures_open(pxi_page *p, px_error *err);
void pxi_page_pictures_close(pxi_page *p);
/* Of functions of fields: whether something went wrong, now or before. */
bool pxi_page_failed(const pxi_page *p, px_status status);

typedef struct pxi_page_tile {
    px_shape at;      /* sheet and tile */
    bool is;          /* there is a picture */
    const char *text; /* in place of one; the page's; NULL: none */
} pxi_page_tile;
#define PXI_PAGE_TILE(type, member, key, help)                    \
    PX_FIELD(type, member.at, key, help, PX_IF(type, member.is)), \
        PX_FIELD(type, member.text, key, help ", or its text", .optional = true)

/* The tile of a picture: of an input of the data, of the campaign, of an activation map that is
 * brought to a picture's size. */
px_status pxi_page_input(const pxi_page *p, int64_t input, pxi_page_tile *out, px_error *err);
px_status pxi_page_stored(const pxi_page *p, int64_t id, pxi_page_tile *out, px_error *err);
px_status pxi_page_map(const pxi_page *p, const uint8_t *map, int height, int width,
                       pxi_page_tile *out, px_error *err);

/* Recordings (page_audio.c): the range of features; values as a picture in p->bytes; the sound of
 * a finding whose recording can be made again, while there is room. */
typedef struct pxi_page_sound {
    px_text original, failing; /* "data:audio/wav;base64,..." */
    bool is;
} pxi_page_sound;
px_status pxi_page_audio_open(pxi_page *p, px_error *err);
void pxi_page_audio_picture(const pxi_page *p);
px_status pxi_page_audio(pxi_page *p, const px_campaign_input *in, pxi_page_sound *out,
                         px_error *err);

/* Inputs of the data (page_inputs.c): puts one on the page, the first of a list whose items have
 * an "input"; and all that are on it, by their place in the data. */
void pxi_page_show(pxi_page *p, int64_t input);
void pxi_page_show_list(pxi_page *p, const px_json_value *list, size_t most);
const void *pxi_page_input_item(const void *page, size_t i, void *row);
extern const px_field pxi_page_input_fields[];

/* Stages, and where all is from (page_origin.c); failures (page_findings.c). */
const void *pxi_page_stage(const void *page, size_t i, void *row);
extern const px_field pxi_page_stage_fields[], pxi_page_provenance_fields[];
extern const px_field pxi_page_failure_fields[];
px_status pxi_page_findings_open(pxi_page *p, px_error *err);

/* Classes that are not known are -1. */
int64_t pxi_page_class(const pxi_page *p, int64_t c);

#endif
