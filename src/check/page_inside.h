/* src/check/page_inside.h - the report: results of stages as the object that the page shows
 *
 * The page's own keys are in docs/report.md. Each function adds one member, or nothing where its
 * stage has no result: the page then says why, in the words of the stage.
 */
#ifndef PXI_PAGE_INSIDE_H
#define PXI_PAGE_INSIDE_H

#include "check/check_inside.h"

#include <plexor/report.h>

typedef struct pxi_page {
    px_check *c;
    px_json json;
    px_campaign *campaign; /* what was found; NULL: nothing */
    int64_t findings;      /* on the page, at most */
    int64_t faults;        /* in the campaign */

    px_sprites *sprites; /* NULL: the inputs are no pictures */
    int width, height, channels;
    uint8_t *bytes; /* of one picture */
    float *values;
    void *pixels;     /* of an input of the campaign */
    bool spectrogram; /* inputs are features of recordings: [frames, mels] */
    float low, high;  /* of such features */
    size_t audio_bytes;
    int64_t audio_count; /* failures that can be heard */

    struct pxi_page_made *made; /* how findings on the page were made (page_modes.c) */
    size_t made_count, made_room;
} pxi_page;

px_status pxi_page_pictures_open(pxi_page *p, px_error *err);
void pxi_page_pictures_close(pxi_page *p);
/* Members with the tile of a picture, or null: an input of the data, values of such an input, an
 * activation map brought to its size. */
px_status pxi_page_input(pxi_page *p, const char *key, int64_t input, px_error *err);
px_status pxi_page_stored(pxi_page *p, const char *key, int64_t id, px_error *err);
px_status pxi_page_map(pxi_page *p, const char *key, const uint8_t *map, int height, int width,
                       px_error *err);

/* Recordings (page_audio.c): the range of features; values as a picture in p->bytes; a member
 * "audio" of a finding whose recording can be made again, while there is room. */
px_status pxi_page_audio_open(pxi_page *p, px_error *err);
void pxi_page_audio_picture(pxi_page *p);
px_status pxi_page_audio(pxi_page *p, const px_campaign_input *in, px_error *err);

void pxi_page_stages(pxi_page *p);
void pxi_page_summary(pxi_page *p);
px_status pxi_page_evaluation(pxi_page *p, px_error *err);
void pxi_page_coverage(pxi_page *p);
px_status pxi_page_selection(pxi_page *p, px_error *err);
void pxi_page_quality(pxi_page *p);
void pxi_page_provenance(pxi_page *p);
void pxi_page_doctor(pxi_page *p);
px_status pxi_page_findings(pxi_page *p, px_error *err);
typedef struct pxi_mode_words {
    const char *text; /* "rotation beyond 40 degrees"; NULL: there is none */
    double rate;
    int64_t tries;
} pxi_mode_words;
pxi_mode_words pxi_page_worst_mode(const pxi_page *p);
void pxi_page_clusters(pxi_page *p);
/* Failure modes, with those findings that are on the page: each is noted first. */
px_status pxi_modes_note(pxi_page *p, const px_campaign_input *finding, px_error *err);
void pxi_page_modes(pxi_page *p);
px_status pxi_page_neurons(pxi_page *p, px_error *err);

/* Classes that are not known are null. */
void pxi_page_class(pxi_page *p, const char *key, int64_t c);
/* Copies members of a result that are numbers or strings. */
void pxi_page_copy(pxi_page *p, const px_json_value *from, const char *const *keys, size_t count);
/* A list of numbers; what is none is null. */
void pxi_page_numbers(pxi_page *p, const char *key, const px_json_value *list);
/* Members of an object: an input of the data with its name, classes and picture. */
px_status pxi_page_shown(pxi_page *p, int64_t input, px_error *err);
/* How many more there are than the page shows, and in which file of the folder; nothing for 0. */
void pxi_page_more(pxi_page *p, const char *key, int64_t count, const char *file);

/* --- numbers and paths in words (page_words.c) --- */

enum { PXI_FRACTION_TEXT = 32, PXI_COUNT_TEXT = 32 };
/* "1/255", "8/255", "0.1". */
const char *pxi_fraction_text(double value, char text[PXI_FRACTION_TEXT]);
const char *pxi_count_text(int64_t count, char text[PXI_COUNT_TEXT]); /* "10,000" */
/* A path, or the SPEC of a data set, without the folders of this machine: part of its argument. */
const char *pxi_shown_path(const char *path);
/* "FOLDER/NAME" likewise, and a command; to be freed. */
char *pxi_page_path(const px_check *c, const char *name);
char *pxi_shown_command(const char *command);

/* The command that does a stage's part alone; to be freed. NULL: there is none. */
char *pxi_page_command(const px_check *c, int stage);

#endif
