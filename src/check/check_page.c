/* src/check/check_page.c - the report as one file
 *
 * A page that does not open is no report: findings are taken off it until it is below a limit,
 * unless the user wants all.
 */
#include "check/page_inside.h"

#include "base/file.h"

#include <inttypes.h>
#include <plexor/probe.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES_MOST = 4900000, PAGE_FINDINGS = 600, PAGE_FINDINGS_FULL = 20000 };

void pxi_page_class(pxi_page *p, const char *key, int64_t c)
{
    if (c >= 0 && c < p->c->scores.classes)
        px_json_int(&p->json, key, c);
    else
        px_json_null(&p->json, key);
}

void pxi_page_copy(pxi_page *p, const px_json_value *from, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const px_json_value *value = px_json_member(from, keys[i]);
        if (value && value->kind == PX_JSON_NUMBER)
            px_json_real(&p->json, keys[i], value->number);
        else if (value && value->kind == PX_JSON_STRING)
            px_json_string(&p->json, keys[i], value->string);
        else if (value && value->kind == PX_JSON_BOOL)
            px_json_bool(&p->json, keys[i], value->boolean);
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void page_model(pxi_page *p)
{
    const px_check *c = p->c;
    const px_shape shape = px_dataset_shape(c->set);
    px_text input = {0};
    px_probe *probe = NULL;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    options.feeds = &feed;
    options.feed_count = 1;
    for (int d = 0; d < shape.rank; d++)
        px_text_format(&input, "%s%" PRId64, d ? " x " : "", shape.dim[d]);
    px_json_object(&p->json, "model");
    px_json_string(&p->json, "name", base_name(c->model_path));
    px_json_int(&p->json, "parameters", px_model_parameters(c->model, NULL));
    if (px_probe_new(c->model, &options, &probe, NULL) == PX_OK) {
        px_json_int(&p->json, "layers", (int64_t)px_probe_layer_count(probe));
        px_json_int(&p->json, "neurons", px_probe_neuron_count(probe));
    }
    const double flops = px_check_number(c, "eval", "flops");
    if (flops > 0.0)
        px_json_real(&p->json, "flops", flops);
    px_json_string(&p->json, "input", px_text_get(&input));
    px_json_end(&p->json);
    px_probe_free(probe);
    px_text_done(&input);
}

static void page_head(pxi_page *p)
{
    const px_check *c = p->c;
    const time_t now = time(NULL);
    struct tm utc;
    char when[32] = "";
    px_text title = {0};
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    px_json_string(&p->json, "schema", "plexor-report/1");
    px_text_format(&title, "LeNet-5 on %s", c->data_spec); /* of those who bring no network */
    px_json_string(&p->json, "title", c->o.model ? base_name(c->model_path) : px_text_get(&title));
    px_text_done(&title);
    px_json_string(&p->json, "created", when);
    px_json_string(&p->json, "version", px_version());
    page_model(p);
    px_json_object(&p->json, "data");
    px_json_string(&p->json, "name", pxi_shown_path(c->data_spec));
    px_json_string(&p->json, "split", c->o.read.split);
    px_json_int(&p->json, "count", c->count);
    px_json_bool(&p->json, "labelled", c->labelled);
    px_json_end(&p->json);
    px_json_array(&p->json, "classes");
    for (int i = 0; i < c->scores.classes; i++)
        px_json_string(&p->json, NULL, c->names[i]);
    px_json_end(&p->json);
}

static px_status page_make(pxi_page *p, px_error *err)
{
    px_json_object(&p->json, NULL);
    page_head(p);
    pxi_page_stages(p);
    pxi_page_summary(p);
    pxi_page_doctor(p);
    PX_TRY(pxi_page_evaluation(p, err));
    pxi_page_coverage(p);
    PX_TRY(pxi_page_selection(p, err));
    PX_TRY(pxi_page_findings(p, err));
    pxi_page_modes(p);
    pxi_page_clusters(p);
    PX_TRY(pxi_page_neurons(p, err));
    pxi_page_quality(p);
    pxi_page_provenance(p);
    px_json_array(&p->json, "sheets");
    if (p->sprites)
        PX_TRY(px_sprites_json(p->sprites, &p->json, err));
    px_json_end(&p->json);
    px_json_end(&p->json);
    return px_json_text(&p->json) ? PX_OK : pxi_check_nomem(err);
}

/* Without line breaks and indents, which in what px_json writes stand outside of strings. */
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
        status = pxi_check_nomem(err);
    if (status == PX_OK)
        status = px_report_html(json, html, size, err);
    free(json);
    px_json_done(&p.json);
    free(p.made);
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
