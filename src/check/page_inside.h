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
    void *pixels; /* of an input of the campaign */
} pxi_page;

px_status pxi_page_pictures_open(pxi_page *p, px_error *err);
void pxi_page_pictures_close(pxi_page *p);
/* Members with the tile of a picture, or null: an input of the data, values of such an input, an
 * activation map brought to its size. */
px_status pxi_page_input(pxi_page *p, const char *key, int64_t input, px_error *err);
px_status pxi_page_stored(pxi_page *p, const char *key, int64_t id, px_error *err);
px_status pxi_page_map(pxi_page *p, const char *key, const uint8_t *map, int height, int width,
                       px_error *err);

void pxi_page_stages(pxi_page *p);
void pxi_page_summary(pxi_page *p);
px_status pxi_page_evaluation(pxi_page *p, px_error *err);
void pxi_page_coverage(pxi_page *p);
px_status pxi_page_selection(pxi_page *p, px_error *err);
void pxi_page_quality(pxi_page *p);
void pxi_page_provenance(pxi_page *p);
px_status pxi_page_findings(pxi_page *p, px_error *err);
void pxi_page_clusters(pxi_page *p);
px_status pxi_page_neurons(pxi_page *p, px_error *err);

/* Classes that are not known are null. */
void pxi_page_class(pxi_page *p, const char *key, int64_t c);
/* Copies members of a result that are numbers or strings. */
void pxi_page_copy(pxi_page *p, const px_json_value *from, const char *const *keys, size_t count);
/* The command that does a stage's part alone; to be freed. NULL: there is none. */
char *pxi_page_command(const px_check *c, int stage);

#endif
