/* src/check/page_data.c - what speaks for and against the data, and what breaks the network most
 *
 * Findings of the doctor (FOLDER/doctor.json), remarks of the examination.
 */
#include "check/page_inside.h"

#include "base/file.h"

#include <plexor/modes.h>
#include <stdlib.h>
#include <string.h>

#define DOCTOR_FILE "doctor.json"
enum { DOCTOR_MOST_BYTES = 1 << 24, DOCTOR_INPUTS = 40 };

/* --- the doctor ---------------------------------------------------------------------------------
 */

static void doctor_finding(pxi_page *p, const px_json_value *finding)
{
    static const char *const keys[] = {"id", "level", "sentence", "advice", "count"};
    const px_json_value *inputs = px_json_member(finding, "inputs");
    px_json_object(&p->json, NULL);
    pxi_page_copy(p, finding, keys, PX_LEN(keys));
    if (inputs && inputs->kind == PX_JSON_ARRAY) {
        px_json_array(&p->json, "inputs");
        for (size_t i = 0; i < inputs->count && i < DOCTOR_INPUTS; i++)
            if (inputs->items[i].kind == PX_JSON_STRING)
                px_json_string(&p->json, NULL, inputs->items[i].string);
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
}

static void remarks_json(pxi_page *p)
{
    const char *text = px_text_get(p->c->remarks);
    px_json_array(&p->json, "notes");
    while (*text) {
        const size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        if (line &&
            !strstr(line, " is left out: ")) /* which the summary says, of earlier runs too */
            px_json_string(&p->json, NULL, line);
        free(line);
        text += length + (text[length] == '\n');
    }
    px_json_end(&p->json);
}

/* A file that is not there, or cannot be read, is no reason for no page. */
static px_json_document *doctor_open(const px_check *c)
{
    char *path = pxi_check_path(c, DOCTOR_FILE), *text = NULL;
    px_json_document *document = NULL;
    size_t size = 0;
    if (path && pxi_file_read(path, DOCTOR_MOST_BYTES, &text, &size, NULL) == PX_OK)
        (void)px_json_parse(text, size, &document, NULL);
    free(text);
    free(path);
    return document;
}

void pxi_page_doctor(pxi_page *p)
{
    px_json_document *document = doctor_open(p->c);
    const px_json_value *list =
        document ? px_json_member(px_json_root(document), "findings") : NULL;
    const bool found = list && list->kind == PX_JSON_ARRAY;
    const bool remarks = *px_text_get(p->c->remarks) != '\0';
    if (found || remarks) {
        px_json_object(&p->json, "doctor");
        px_json_array(&p->json, "findings");
        for (size_t i = 0; found && i < list->count; i++)
            doctor_finding(p, &list->items[i]);
        px_json_end(&p->json);
        remarks_json(p);
        px_json_end(&p->json);
    }
    px_json_free(document);
}

/* --- failure modes ------------------------------------------------------------------------------
 */

/* The one that breaks it most often, over all classes: rows come worst first, those tried too
 * seldom behind the others. */
pxi_mode_words pxi_page_worst_mode(const pxi_page *p)
{
    const px_json_value *rows = pxi_json_path(p->c->result[PXI_STAGE_fuzz], "modes");
    if (!rows || rows->kind != PX_JSON_ARRAY || rows->count == 0 ||
        pxi_json_int(&rows->items[0], "tries", 0) < PX_MODE_TRIES)
        return (pxi_mode_words){0};
    return (pxi_mode_words){pxi_json_words(&rows->items[0], "text"),
                            pxi_json_number(&rows->items[0], "rate"),
                            pxi_json_int(&rows->items[0], "tries", 0)};
}
