/* src/report/report.c - a JSON object into the page
 *
 * The object stands in a <script> block of its own, whose end is the first "</script" whatever it
 * is part of, and in which "<!--" starts something else. So no '<', '>' or '&' is left in it: in
 * strings they are written as \u003c, outside of strings JSON has none.
 */
#include <plexor/report.h>

#include "base/file.h"
#include "base/utf8.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

enum { REPORT_DEPTH = 64, REPORT_DIGITS = PX_REPORT_PAGE_ID - 1 };

typedef struct report_scan { /* enough of a JSON reader to know strings from the rest */
    char closing[REPORT_DEPTH];
    int depth;
    bool in_string, escaped;
} report_scan;

static px_status report_bad(px_error *err, size_t at, const char *what)
{
    return px_fail(err, PX_E_USAGE, "the report's data are not a JSON object: byte %zu %s", at,
                   what);
}

/* The bytes of one character inside a string. */
static void report_add_char(px_text *page, const char *c, size_t length)
{
    if (length == 1 && (*c == '<' || *c == '>' || *c == '&'))
        px_text_format(page, "\\u%04x", (unsigned)*c);
    else if (length == 3 && (memcmp(c, "\u2028", 3) == 0 || memcmp(c, "\u2029", 3) == 0))
        px_text_add(page, memcmp(c, "\u2028", 3) == 0 ? "\\u2028" : "\\u2029");
    else
        px_text_add_bytes(page, c, length);
}

static px_status report_scan_string(report_scan *scan, const char *json, size_t at, size_t length,
                                    px_error *err)
{
    const char c = json[at];
    if (length == 0)
        return report_bad(err, at, "is not UTF-8");
    if ((unsigned char)c < 0x20)
        return report_bad(err, at, "is a control character inside a string");
    if (scan->escaped && !strchr("\"\\/bfnrtu", c))
        return report_bad(err, at, "follows a backslash, which it must not");
    if (!scan->escaped && c == '"')
        scan->in_string = false;
    scan->escaped = !scan->escaped && c == '\\';
    return PX_OK;
}

static px_status report_scan_other(report_scan *scan, const char *json, size_t at, px_error *err)
{
    const char c = json[at];
    if (scan->depth == 0 && c != '{' && !strchr(" \t\r\n", c))
        return report_bad(err, at, "stands outside of it");
    if (c == '"') {
        scan->in_string = true;
    } else if (c == '{' || c == '[') {
        if (scan->depth == REPORT_DEPTH)
            return report_bad(err, at, "is nested too deeply");
        scan->closing[scan->depth++] = c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
        if (c != scan->closing[scan->depth - 1])
            return report_bad(err, at, "closes what is not open");
        scan->depth--;
    } else if (!strchr(" \t\r\n:,+-.0123456789eEtrufalsn", c)) {
        return report_bad(err, at, "belongs to no value");
    }
    return PX_OK;
}

static px_status report_add_data(px_text *page, const char *json, px_error *err)
{
    report_scan scan = {0};
    const size_t size = strlen(json);
    size_t objects = 0, plain = 0; /* from `plain` on, bytes go out as they are */
    for (size_t at = 0, length = 1; at < size; at += length) {
        length = 1;
        if (scan.in_string) {
            length = pxi_utf8_length(json + at, size - at);
            PX_TRY(report_scan_string(&scan, json, at, length, err));
            if (strchr("<>&\xe2", json[at])) { /* \xe2 begins U+2028 */
                px_text_add_bytes(page, json + plain, at - plain);
                report_add_char(page, json + at, length);
                plain = at + length;
            }
        } else {
            objects += scan.depth == 0 && json[at] == '{';
            PX_TRY(report_scan_other(&scan, json, at, err));
        }
    }
    px_text_add_bytes(page, json + plain, size - plain);
    if (objects != 1 || scan.depth != 0 || scan.in_string)
        return report_bad(err, size, objects > 1 ? "ends a second one" : "is its end, too early");
    return PX_OK;
}

px_status px_report_html(const char *json, char **out, size_t *size, px_error *err)
{
    if (!json)
        return px_fail(err, PX_E_NOMEM, "out of memory for the report's data");
    const char *start = (const char *)pxi_report_page;
    const char *mark =
        memmem(start, pxi_report_page_size, PXI_REPORT_MARK, sizeof PXI_REPORT_MARK - 1);
    if (!mark)
        return px_fail(err, PX_E_INTERNAL, "the built page has no place for the report's data");
    px_text page = {0};
    px_text_add_bytes(&page, start, (size_t)(mark - start));
    const px_status status = report_add_data(&page, json, err);
    const char *rest = mark + sizeof PXI_REPORT_MARK - 1;
    px_text_add_bytes(&page, rest, (size_t)(start + pxi_report_page_size - rest));
    if (status != PX_OK || px_text_failed(&page)) {
        px_text_done(&page);
        return status != PX_OK ? status : px_fail(err, PX_E_NOMEM, "out of memory for the report");
    }
    *size = page.length;
    *out = px_text_take(&page);
    return PX_OK;
}

px_status px_report_write(const char *path, const char *json, px_error *err)
{
    char *html = NULL;
    size_t size = 0;
    PX_TRY(px_report_html(json, &html, &size, err));
    const px_status status = pxi_file_write(path, html, size, err);
    free(html);
    return status;
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
