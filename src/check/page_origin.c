/* src/check/page_origin.c - where the page's numbers come from: stages, assumptions, files */
#include "check/page_inside.h"

#include <internal/check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- stages ---------------------------------------------------------------------------------- */

static void stage_json(pxi_page *p, int i)
{
    const px_check *c = p->c;
    const px_check_stage *stage = &pxi_stages[i]->public;
    px_text command = {0};
    if (c->result[i] && pxi_stages[i]->command)
        pxi_stages[i]->command(c, c->result[i], &command);
    px_json_object(&p->json, NULL);
    px_json_string(&p->json, "id", stage->id);
    px_json_string(&p->json, "title", stage->title);
    px_json_string(&p->json, "help", stage->help);
    px_json_bool(&p->json, "labels", stage->labels);
    px_json_string(&p->json, "state", px_check_state_name(c->state[i]));
    if (c->state[i] == PX_CHECK_LEFT_OUT)
        px_json_string(&p->json, "why", c->why[i]);
    if (command.length)
        px_json_string(&p->json, "command", px_text_get(&command));
    px_json_end(&p->json);
    px_text_done(&command);
}

void pxi_page_stages(pxi_page *p)
{
    px_json_array(&p->json, "stages");
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        stage_json(p, i);
    px_json_end(&p->json);
}

/* --- provenance ------------------------------------------------------------------------------ */

static void assumption(pxi_page *p, const char *name, const char *value, const char *from)
{
    px_json_object(&p->json, NULL);
    px_json_string(&p->json, "name", name);
    px_json_string(&p->json, "value", value);
    px_json_string(&p->json, "from", from);
    px_json_end(&p->json);
}

static void assumptions(pxi_page *p)
{
    const px_check *c = p->c;
    const px_preprocess *pre = &c->pre;
    px_text mean = {0}, std = {0};
    char scale[PXI_FRACTION_TEXT];
    for (int i = 0; i < pre->channels; i++) {
        px_text_format(&mean, "%s%.4g", i ? ", " : "", (double)pre->mean[i]);
        px_text_format(&std, "%s%.4g", i ? ", " : "", (double)pre->stddev[i]);
    }
    pxi_fraction_text((double)pre->scale, scale);
    px_json_array(&p->json, "assumptions");
    assumption(p, "scale", scale, pre->scale_from);
    assumption(p, "mean", px_text_get(&mean), pre->mean_from);
    assumption(p, "std", px_text_get(&std), pre->std_from);
    assumption(p, "data", px_dataset_describe(c->set), pre->size_from);
    assumption(p, "channels", pre->bgr ? "bgr" : "as stored", NULL);
    assumption(p, "class scores", c->scores.probabilities ? "probabilities" : "logits",
               c->scores.why);
    px_json_end(&p->json);
    px_text_done(&mean);
    px_text_done(&std);
}

static void hash_row(pxi_page *p, const char *what, const char *path, uint64_t hash)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    px_json_object(&p->json, NULL);
    px_json_string(&p->json, "what", what);
    px_json_string(&p->json, "path", path);
    px_json_string(&p->json, "hash", text);
    px_json_end(&p->json);
}

static void files(pxi_page *p)
{
    const px_check *c = p->c;
    px_json_array(&p->json, "files");
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        for (int k = 0; k < PXI_STAGE_FILES && c->result[i]; k++) {
            const pxi_stage_file *file = &pxi_stages[i]->files[k];
            char *inside = pxi_check_path(c, file->name);
            const bool there = !file->optional || (inside && access(inside, F_OK) == 0);
            free(inside);
            if (!file->what || !there)
                continue;
            char *path = pxi_page_path(c, file->name);
            px_json_object(&p->json, NULL);
            px_json_string(&p->json, "path", path);
            px_json_string(&p->json, "what", file->what);
            px_json_end(&p->json);
            free(path);
        }
    px_json_end(&p->json);
}

void pxi_page_provenance(pxi_page *p)
{
    const px_check *c = p->c;
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, c->o.seed);
    px_json_object(&p->json, "provenance");
    char *command = pxi_shown_command(c->o.command ? c->o.command : "plexor check");
    px_json_string(&p->json, "command", command);
    free(command);
    px_json_string(&p->json, "seed", seed);
    px_json_int(&p->json, "threads", pxi_check_threads(c));
    px_json_array(&p->json, "hashes");
    hash_row(p, "model", pxi_shown_path(c->model_path), px_model_hash(c->model));
    hash_row(p, "data", pxi_shown_path(c->data_spec), px_dataset_hash(c->set));
    px_json_end(&p->json);
    assumptions(p);
    files(p);
    px_json_end(&p->json);
}
