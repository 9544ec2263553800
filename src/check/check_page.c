/* src/check/check_page.c - the report as one file
 *
 * A page that does not open is no report: findings are taken off it until it is below a limit,
 * unless the user wants all.
 */
#include "check/page_inside.h"

#include "base/file.h"
#include "base/json_most.h"

#include <internal/data.h>
#include <internal/system.h>
#include <plexor/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE_BYTES_MOST = 4900000,
    PAGE_FINDINGS = 600,
    PAGE_FINDINGS_FULL = 20000,
    DOCTOR_BYTES_MOST = 1 << 20 /* as much as is parsed */
};

void pxi_page_class(pxi_page *p, const char *key, int64_t c)
{
    if (c >= 0 && c < p->c->scores.classes)
        px_json_int(&p->json, key, c);
    else
        px_json_null(&p->json, key);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void page_model(pxi_page *p)
{
    const px_check *c = p->c;
    px_probe *probe = NULL;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    options.feeds = &feed;
    options.feed_count = 1;
    px_json_object(&p->json, "model");
    px_json_string(&p->json, "name", base_name(c->model_path));
    px_json_int(&p->json, "parameters", px_model_parameters(c->model, NULL));
    if (px_probe_new(c->model, &options, &probe, NULL) == PX_OK) {
        px_json_int(&p->json, "layers", (int64_t)px_probe_layer_count(probe));
        px_json_int(&p->json, "neurons", px_probe_neuron_count(probe));
    }
    px_json_end(&p->json);
    px_probe_free(probe);
}

static void page_data(pxi_page *p)
{
    const px_check *c = p->c;
    px_json_object(&p->json, "data");
    px_json_string(&p->json, "name", pxi_shown_path(c->data_spec));
    px_json_string(&p->json, "split", c->o.read.split);
    px_json_int(&p->json, "count", c->count);
    px_json_bool(&p->json, "labelled", c->labelled);
    if (!c->labelled)
        px_json_string(&p->json, "no_labels", c->no_labels);
    px_json_bool(&p->json, "recordings", px_dataset_audio(c->set) != NULL);
    px_json_end(&p->json);
    px_json_array(&p->json, "classes");
    for (int i = 0; i < c->scores.classes; i++)
        px_json_string(&p->json, NULL, c->names[i]);
    px_json_end(&p->json);
}

static void page_head(pxi_page *p)
{
    static const px_field gates[] = {
        PX_LIST_MADE(pxi_gate_item, pxi_gate_page_fields, "gates", "what must hold"),
        PX_FIELDS_END,
    };
    const px_check *c = p->c;
    const time_t now = time(NULL);
    struct tm utc;
    char when[32] = "";
    px_text title = {0};
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    px_json_string(&p->json, "schema", "plexor-report/2");
    px_text_format(&title, "LeNet-5 on %s", c->data_spec); /* of those who bring no network */
    px_json_string(&p->json, "title", c->o.model ? base_name(c->model_path) : px_text_get(&title));
    px_text_done(&title);
    px_json_string(&p->json, "created", when);
    px_json_string(&p->json, "version", px_version());
    px_json_string(&p->json, "folder", pxi_shown_path(c->folder));
    page_model(p);
    page_data(p);
    px_json_string(&p->json, "verdict", px_verdict_name(px_check_verdict(c)));
    px_fields_json(gates, c, &p->json);
}

static bool is_finding(const px_json_document *doctor, const char *sentence)
{
    const px_json_value *list = doctor ? px_json_member(px_json_root(doctor), "findings") : NULL;
    for (size_t i = 0; list && list->kind == PX_JSON_ARRAY && i < list->count; i++) {
        const char *found = pxi_json_words(&list->items[i], "sentence");
        if (found && strcmp(found, sentence) == 0)
            return true;
    }
    return false;
}

/* What the doctor found (DOCTOR_FILE of stage eval) and what the run had to say. A file that is not
 * there, or cannot be read, is no reason for no page. */
static void page_doctor(pxi_page *p)
{
    char *path = pxi_check_path(p->c, "doctor.json"), *text = NULL;
    px_json_document *document = NULL;
    size_t size = 0;
    if (path && pxi_file_read(path, DOCTOR_BYTES_MOST, &text, &size, NULL) == PX_OK &&
        px_json_parse(text, size, &document, NULL) == PX_OK)
        pxi_json_verbatim(&p->json, "doctor", text);
    free(text);
    free(path);
    px_json_array(&p->json, "remarks");
    for (const char *line = px_text_get(p->c->remarks); *line;) {
        const size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        /* The stages say what is left out, of earlier runs too; findings are said once. */
        if (copy && !strstr(copy, " is left out: ") && !is_finding(document, copy))
            px_json_string(&p->json, NULL, copy);
        free(copy);
        line += length + (line[length] == '\n');
    }
    px_json_end(&p->json);
    px_json_free(document);
}

/* Every STAGE.json as it is; and beside it what only the library can know. */
static px_status page_results(pxi_page *p, px_error *err)
{
    px_check *c = p->c;
    px_json_object(&p->json, "results");
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        char *text = NULL;
        if (!c->result[i])
            continue;
        PX_TRY(pxi_check_result_text(c, i, &text, err));
        pxi_json_verbatim(&p->json, pxi_stages[i]->public.id, text);
        free(text);
    }
    px_json_end(&p->json);
    px_json_object(&p->json, "beside");
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        if (!c->result[i] || !pxi_stages[i]->page)
            continue;
        px_json_object(&p->json, pxi_stages[i]->public.id);
        PX_TRY(pxi_stages[i]->page(p, c->result[i], err));
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
    return PX_OK;
}

static px_status page_make(pxi_page *p, px_error *err)
{
    px_json_object(&p->json, NULL);
    page_head(p);
    pxi_page_stages(p);
    PX_TRY(page_results(p, err));
    PX_TRY(pxi_page_inputs(p, err));
    PX_TRY(pxi_page_findings(p, err));
    page_doctor(p);
    pxi_page_provenance(p);
    px_json_array(&p->json, "sheets");
    if (p->sprites)
        PX_TRY(px_sprites_json(p->sprites, &p->json, err));
    px_json_end(&p->json);
    px_json_end(&p->json);
    return px_json_text(&p->json) ? PX_OK : pxi_no_memory(err);
}

/* Without line breaks and indents, which in what px_json writes stand outside of strings; chains
 * are on one line. */
static char *compact(const char *json)
{
    char *out = malloc(strlen(json) + 1), *to = out;
    for (const char *from = json; out && *from;) {
        if (*from == '\n') {
            from += 1 + strspn(from + 1, " ");
        } else {
            *to++ = *from++;
        }
    }
    if (out)
        *to = '\0';
    return out;
}

/* One try; *size is what it would take. */
static px_status page_try(px_check *c, px_campaign *campaign, int64_t faults, int64_t findings,
                          char **html, size_t *size, px_error *err)
{
    pxi_page p = {.c = c, .campaign = campaign, .findings = findings, .faults = faults};
    char *json = NULL;
    px_status status = pxi_page_pictures_open(&p, err);
    if (status == PX_OK)
        status = page_make(&p, err);
    if (status == PX_OK && !(json = compact(px_json_text(&p.json))))
        status = pxi_no_memory(err);
    if (status == PX_OK)
        status = px_report_html(json, html, size, err);
    free(json);
    px_json_done(&p.json);
    pxi_page_pictures_close(&p);
    return status;
}

px_status pxi_page_write(px_check *c, px_error *err)
{
    px_campaign *campaign = NULL;
    px_campaign_counts counts = {0};
    char *html = NULL;
    size_t size = 0;
    int64_t findings = c->o.full ? PAGE_FINDINGS_FULL : PAGE_FINDINGS;
    px_status status = pxi_findings_gather(c, &campaign, err);
    if (status == PX_OK && campaign)
        status = px_campaign_count(campaign, &counts, err);
    while (status == PX_OK) {
        free(html);
        html = NULL;
        status = page_try(c, campaign, counts.faults, findings, &html, &size, err);
        if (c->o.full || size <= PAGE_BYTES_MOST || findings < 10)
            break;
        findings = findings * 2 / 3;
    }
    if (status == PX_OK)
        status = pxi_file_write(c->page, html, size, err);
    free(html);
    px_campaign_close(campaign);
    return status;
}
