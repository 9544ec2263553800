/* src/check/page_inside.h - the report: what the page shows beside the stages' own results
 *
 * The page has every FOLDER/STAGE.json as it is, so that a stage's numbers have one name. Written
 * here is what no result has: pictures and recordings, failures of the campaign, values of all
 * neurons, and where everything comes from. docs/report.md has the keys.
 */
#ifndef PXI_PAGE_INSIDE_H
#define PXI_PAGE_INSIDE_H

#include "check/check_inside.h"

#include <internal/report.h>

struct pxi_page {
    px_check *c;
    px_json json;
    px_campaign *campaign; /* what was found; NULL: nothing */
    int64_t findings;      /* on the page, at most */
    int64_t faults;        /* in the campaign */
    bool *shown;           /* [count]: inputs of the data that are on the page */

    px_sprites *sprites; /* NULL: the inputs are no pictures */
    int width, height, channels;
    uint8_t *bytes; /* of one picture */
    float *values;
    void *pixels;     /* of an input of the campaign */
    bool spectrogram; /* inputs are features of recordings: [frames, mels] */
    float low, high;  /* of such features */
    size_t audio_bytes;
};

px_status pxi_page_pictures_open(pxi_page *p, px_error *err);
void pxi_page_pictures_close(pxi_page *p);
/* Members with the tile of a picture, or nothing: an input of the data, of the campaign. */
px_status pxi_page_input(pxi_page *p, const char *key, int64_t input, px_error *err);
px_status pxi_page_stored(pxi_page *p, const char *key, int64_t id, px_error *err);
/* An item with the tile of an activation map, brought to a picture's size, or null. */
px_status pxi_page_map(pxi_page *p, const uint8_t *map, int height, int width, px_error *err);

/* Recordings (page_audio.c): the range of features; values as a picture in p->bytes; a member
 * "audio" of a finding whose recording can be made again, while there is room. */
px_status pxi_page_audio_open(pxi_page *p, px_error *err);
void pxi_page_audio_picture(pxi_page *p);
px_status pxi_page_audio(pxi_page *p, const px_campaign_input *in, px_error *err);

/* Inputs of the data (page_inputs.c): puts one on the page, the first of a list whose items have
 * an "input"; and all that are on it as a member "inputs", by their place in the data. */
void pxi_page_show(pxi_page *p, int64_t input);
void pxi_page_show_list(pxi_page *p, const px_json_value *list, size_t most);
px_status pxi_page_inputs(pxi_page *p, px_error *err);

void pxi_page_stages(pxi_page *p);
void pxi_page_provenance(pxi_page *p);
px_status pxi_page_findings(pxi_page *p, px_error *err);

/* Classes that are not known are null. */
void pxi_page_class(pxi_page *p, const char *key, int64_t c);

#endif
