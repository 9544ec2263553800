/* src/check/junit.c - the verdict for CI servers: JUnit XML, a test case per gate and per stage */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_internal.h"

#include "base/file.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

/* Text for attributes. XML has no way to write most control characters and no bytes that are not
 * UTF-8: they become U+FFFD. */
static void xml_text(px_text *out, const char *text)
{
    const size_t size = strlen(text);
    for (size_t i = 0; i < size;) {
        const size_t length = pxi_utf8_length(text + i, size - i);
        const unsigned char byte = (unsigned char)text[i];
        const bool noncharacter = length == 3 && byte == 0xEF &&
                                  (unsigned char)text[i + 1] == 0xBF &&
                                  (unsigned char)text[i + 2] >= 0xBE; /* U+FFFE, U+FFFF */
        if (length == 0 || noncharacter || (byte < 32 && byte != '\n' && byte != '\t') ||
            byte == 127)
            px_text_add(out, "\xEF\xBF\xBD");
        else if (byte == '&')
            px_text_add(out, "&amp;");
        else if (byte == '<')
            px_text_add(out, "&lt;");
        else if (byte == '>')
            px_text_add(out, "&gt;");
        else if (byte == '"')
            px_text_add(out, "&quot;");
        else if (byte == '\n' || byte == '\t')
            px_text_format(out, "&#%d;", byte);
        else
            px_text_add_bytes(out, text + i, length);
        i += length ? length : 1;
    }
}

static void junit_gate(const px_check_gate *g, px_text *out)
{
    const char *relation = g->kind->most ? "at most" : "at least";
    px_text_add(out, "    <testcase classname=\"plexor.check.gate\" name=\"");
    xml_text(out, g->kind->entry.id);
    if (g->held) {
        px_text_add(out, "\" time=\"0\"/>\n");
        return;
    }
    px_text_add(out, "\" time=\"0\">\n      <failure message=\"");
    if (isnan(g->value))
        px_text_format(out, "%s was not measured, and must be %s %g", g->kind->entry.id, relation,
                       g->threshold);
    else
        px_text_format(out, "%s is %.6g, and must be %s %g", g->kind->entry.id, g->value, relation,
                       g->threshold);
    px_text_add(out, "\"/>\n    </testcase>\n");
}

static void junit_stage(const px_check *c, int stage, px_text *out)
{
    const bool ran = c->result[stage] != NULL;
    px_text_format(out, "    <testcase classname=\"plexor.check.stage\" name=\"%s\" time=\"%.3f\"",
                   pxi_stages[stage]->public.entry.id, ran ? c->seconds[stage] : 0.0);
    if (ran) {
        px_text_add(out, "/>\n");
        return;
    }
    px_text_add(out, ">\n      <skipped message=\"");
    xml_text(out, c->why[stage]);
    px_text_add(out, "\"/>\n    </testcase>\n");
}

px_status pxi_junit_write(const px_check *c, const char *path, px_error *err)
{
    px_text out = {0};
    size_t failures = 0, skipped = 0, stages = 0; /* those that were asked for */
    double seconds = 0.0;
    for (size_t i = 0; i < c->gate_count; i++)
        failures += !c->gates[i].held;
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        skipped += c->wanted[i] && !c->result[i];
        stages += c->wanted[i];
        seconds += c->result[i] ? c->seconds[i] : 0.0;
    }
    const size_t tests = c->gate_count + stages;
    px_text_add(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    px_text_format(&out,
                   "<testsuites tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n"
                   "  <testsuite name=\"plexor check ",
                   tests, failures, skipped, seconds);
    xml_text(&out, c->model_path);
    px_text_format(&out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" ", tests,
                   failures, skipped);
    px_text_format(&out, "time=\"%.3f\">\n    <properties>\n", seconds);
    const char *const properties[][2] = {
        {"model", c->model_path}, {"data", c->data_spec}, {"report", c->page}};
    for (size_t i = 0; i < PX_LEN(properties); i++) {
        px_text_format(&out, "      <property name=\"%s\" value=\"", properties[i][0]);
        xml_text(&out, properties[i][1]);
        px_text_add(&out, "\"/>\n");
    }
    px_text_add(&out, "    </properties>\n");
    for (size_t i = 0; i < c->gate_count; i++)
        junit_gate(&c->gates[i], &out);
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        if (c->wanted[i])
            junit_stage(c, i, &out);
    px_text_add(&out, "  </testsuite>\n</testsuites>\n");
    const px_status status = px_text_failed(&out)
                                 ? pxi_no_memory(err)
                                 : pxi_file_write(path, px_text_get(&out), out.length, err);
    px_text_done(&out);
    return status;
}

void pxi_junit_write_failure(const px_check_options *options, const char *message)
{
    px_text out = {0};
    px_text_add(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<testsuites tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
                      "  <testsuite name=\"plexor check ");
    xml_text(&out, options->model ? options->model : "");
    px_text_add(&out, "\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
                      "    <testcase classname=\"plexor.check\" name=\"check\">\n"
                      "      <error message=\"");
    xml_text(&out, message);
    px_text_add(&out, "\"/>\n    </testcase>\n  </testsuite>\n</testsuites>\n");
    if (!px_text_failed(&out))
        (void)pxi_file_write(options->junit, px_text_get(&out), out.length, NULL);
    px_text_done(&out);
}
