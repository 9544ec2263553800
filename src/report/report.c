/* src/report/report.c - a JSON object into the page
 *
 * The object stands in a <script> block of its own, whose end is the first "</script" whatever it
 * is part of, and in which "<!--" starts something else. So no '<', '>' or '&' is left in it: in
 * strings they are written as \u003c, outside of strings JSON has none.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/report.h>

#include "base/json_most.h"
#include "base/memory.h"
#include "report/page.h"

#include <string.h>

enum { REPORT_DIGITS = PX_REPORT_PAGE_ID - 1 };

/* Whether `json` is one object, and nothing else. */
static px_status report_look(const char *json, px_error *err)
{
    px_json_document *document = NULL;
    px_error why = {0};
    const size_t size = strlen(json);
    const px_status status = pxi_json_parse_most(json, size, size, &document, &why);
    const bool object = status == PX_OK && px_json_root(document)->kind == PX_JSON_OBJECT;
    px_json_free(document);
    if (status == PX_E_NOMEM)
        return px_fail(err, status, "%s", why.message);
    return object ? PX_OK
                  : px_fail(err, PX_E_USAGE, "the report's data are not a JSON object%s%s",
                            *why.message ? ": " : "", why.message);
}

/* In JSON these stand inside strings only, where an escape is as good. */
static void report_add_data(px_text *page, const char *json)
{
    for (;;) {
        const size_t plain = strcspn(json, "<>&\xe2"); /* the last begins U+2028 and U+2029 */
        px_text_add_bytes(page, json, plain);
        json += plain;
        if (*json == '\0')
            return;
        const bool line = strncmp(json, "\u2028", 3) == 0, part = strncmp(json, "\u2029", 3) == 0;
        if (line || part)
            px_text_add(page, line ? "\\u2028" : "\\u2029");
        else if (*json == '\xe2')
            px_text_add_bytes(page, json, 1);
        else
            px_text_format(page, "\\u%04x", (unsigned)*json);
        json += line || part ? 3 : 1;
    }
}

px_status px_report_html(const char *json, char **out, size_t *size, px_error *err)
{
    if (!json)
        return pxi_no_memory(err);
    const char *start = (const char *)pxi_report_page;
    const char *mark =
        memmem(start, pxi_report_page_size, PXI_REPORT_MARK, sizeof PXI_REPORT_MARK - 1);
    if (!mark)
        return px_fail(err, PX_E_INTERNAL, "the built page has no place for the report's data");
    PX_TRY(report_look(json, err));
    px_text page = {0};
    px_text_add_bytes(&page, start, (size_t)(mark - start));
    report_add_data(&page, json);
    const char *rest = mark + sizeof PXI_REPORT_MARK - 1;
    px_text_add_bytes(&page, rest, (size_t)(start + pxi_report_page_size - rest));
    if (px_text_failed(&page)) {
        px_text_done(&page);
        return pxi_no_memory(err);
    }
    *size = page.length;
    *out = px_text_take(&page);
    return PX_OK;
}

px_status px_report_page(char id[PX_REPORT_PAGE_ID], px_error *err)
{
    const char *start = (const char *)pxi_report_page;
    const char *at =
        memmem(start, pxi_report_page_size, PXI_REPORT_SOURCES, sizeof PXI_REPORT_SOURCES - 1);
    const size_t offset = at ? (size_t)(at - start) + sizeof PXI_REPORT_SOURCES - 1 : 0;
    if (!at || pxi_report_page_size - offset < REPORT_DIGITS)
        return px_fail(err, PX_E_INTERNAL, "the built page does not say what it was built from");
    memcpy(id, start + offset, REPORT_DIGITS);
    id[REPORT_DIGITS] = '\0';
    return PX_OK;
}
