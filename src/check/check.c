/* src/check/check.c - an examination from beginning to end */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_criteria.h"
#include "check/check_internal.h"

#include <internal/bank.h>
#include <internal/check.h>
#include <internal/ranks.h>
#include <math.h>
#include <plexor/system.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAGE_DECLARE(id) extern const pxi_stage pxi_stage_##id;
PXI_STAGES(STAGE_DECLARE)
const pxi_stage *const pxi_stages[PXI_STAGE_COUNT] = {
#define STAGE_ROW(id) &pxi_stage_##id,
    PXI_STAGES(STAGE_ROW)};

static const px_entry *stage_entry(size_t i)
{
    return i < PXI_STAGE_COUNT ? &pxi_stages[i]->public.entry : NULL;
}

const px_registry pxi_check_stages = {.kind = "stage", .plural = "stages", .own = stage_entry};

int pxi_stage_find(const char *id, size_t length)
{
    const px_entry *found = px_registry_word(&pxi_check_stages, id, length);
    int i = PXI_STAGE_COUNT;
    while (--i >= 0 && &pxi_stages[i]->public.entry != found)
        ;
    return i;
}

px_check_options px_check_options_default(void)
{
    return (px_check_options){
        .read = px_data_options_default(),
        .folder = "plexor-check",
        .low = (double)NAN,
        .high = (double)NAN,
        .minutes = 1.0,
        .tolerance = (double)NAN,
    };
}

void pxi_check_note(const px_check *c, const char *format, ...)
{
    char sentence[600];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    px_text_format(c->remarks, "%s\n", sentence);
    if (c->o.note)
        c->o.note(c->o.context, sentence);
}

static void check_at(px_check *c, int stage, const char *id, const char *title)
{
    c->at_stage = stage;
    c->at = id;
    c->at_title = title;
    c->stage_started = px_clock_s();
    c->stage_share = 0.0;
    c->stage_done = 0;
    c->stage_lap = 0;
}

/* --- which stages ---------------------------------------------------------------------------- */

static px_status stages_parse(const char *list, unsigned *out, px_error *err)
{
    *out = 0;
    for (const char *p = list; p && *p;) {
        const size_t length = strcspn(p, ",");
        const int found = pxi_stage_find(p, length);
        if (found < 0)
            return px_registry_unknown(&pxi_check_stages, p, length, err);
        *out |= 1u << found;
        p += length + (p[length] == ',');
    }
    return PX_OK;
}

static px_status stages_choose(px_check *c, px_error *err)
{
    unsigned only = 0, skip = 0;
    PX_TRY(stages_parse(c->o.only, &only, err));
    PX_TRY(stages_parse(c->o.skip, &skip, err));
    if (!only)
        only = (1u << PXI_STAGE_COUNT) - 1;
    for (int i = PXI_STAGE_COUNT; i-- > 0;) /* what a chosen stage reads comes before it */
        if (only >> i & 1)
            only |= pxi_stages[i]->after;
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        c->wanted[i] = (only & ~skip) >> i & 1;
        c->state[i] = c->wanted[i] ? PX_CHECK_WAITS : PX_CHECK_SKIPPED;
    }
    return PX_OK;
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status check_texts(px_check *c, px_error *err)
{
    px_text page = {0};
    if (c->o.page)
        px_text_add(&page, c->o.page);
    else
        px_text_format(&page, "%s/report.html", c->o.folder);
    c->folder = pxi_strdup(c->o.folder);
    c->page = px_text_take(&page);
    if (c->o.model)
        c->model_path = pxi_strdup(c->o.model);
    if (c->o.data)
        c->data_spec = pxi_strdup(c->o.data);
    if (!c->folder || !c->page || (c->o.model && !c->model_path) || (c->o.data && !c->data_spec))
        return pxi_no_memory(err);
    return PX_OK;
}

static px_status check_open(px_check *c, px_error *err)
{
    if (c->o.model && !c->o.data)
        return px_fail(err, PX_E_USAGE,
                       "a network needs data: --data SPEC; 'plexor list data' says what that is");
    if (!(c->o.minutes > 0.0) || c->o.minutes > 1e6)
        return px_fail(err, PX_E_USAGE, "--minutes must be above 0 and at most a million");
    if (!c->o.folder || !*c->o.folder)
        return px_fail(err, PX_E_USAGE, "-o: the folder has no name");
    PX_TRY(check_texts(c, err));
    PX_TRY(stages_choose(c, err));
    PX_TRY(pxi_gates_parse(c, err));
    PX_TRY(pxi_check_folder_look(c, err));
    check_at(c, -1, "reading", "Reading");
    if (c->o.model) { /* what is wrong with it is told before a folder is made */
        PX_TRY(pxi_check_open_data(c, err));
        PX_TRY(pxi_check_folder_open(c, err));
    } else {
        PX_TRY(pxi_check_folder_open(c, err));
        check_at(c, -1, "train", "Training");
        PX_TRY(pxi_check_train_default(c, err));
        PX_TRY(pxi_ranks_agree("the network is there", 0, err)); /* it is read by all */
        PX_TRY(pxi_check_open_data(c, err));
    }
    return pxi_check_folder_identify(c, err);
}

px_status px_check_new(const px_check_options *options, px_check **out, px_error *err)
{
    px_check *c = NULL;
    PX_TRY(PX_NEW(c, 1, err));
    c->o = *options;
    c->low = c->high = (double)NAN;
    c->lock = -1;
    c->started = px_clock_s();
    c->remarks = pxi_calloc(1, sizeof *c->remarks);
    const px_status status = c->remarks ? check_open(c, err) : pxi_no_memory(err);
    if (status != PX_OK) {
        if (options->junit)
            pxi_junit_write_failure(options, err ? err->message : px_status_text(status));
        px_check_free(c);
        return status;
    }
    *out = c;
    return PX_OK;
}

void px_check_free(px_check *c)
{
    if (!c)
        return;
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        px_json_free(c->document[i]);
    px_profile_free(c->profile);
    px_bank_free(c->bank);
    free(c->predictions);
    free(c->confidence);
    for (int i = 0; c->names && i < c->scores.classes; i++)
        free(c->names[i]);
    free(c->names);
    px_dataset_close(c->set);
    px_model_free(c->model);
    px_json_done(&c->identity);
    if (c->lock >= 0)
        close(c->lock);
    free(c->folder);
    free(c->page);
    free(c->model_path);
    free(c->data_spec);
    free(c->command);
    if (c->remarks)
        px_text_done(c->remarks);
    free(c->remarks);
    free(c);
}

/* --- running --------------------------------------------------------------------------------- */

static void stage_key(px_check *c, int stage)
{
    uint64_t key = c->identity_hash + (uint64_t)pxi_stages[stage]->version;
    for (int i = 0; i <= stage; i++) { /* FNV-1a over the keys of what it reads */
        uint64_t part = (uint64_t)stage;
        if (i < stage)
            part = (pxi_stages[stage]->after >> i & 1) && c->result[i] ? c->key[i] : 0;
        for (int b = 0; b < 8; b++)
            key = (key ^ (part >> (8 * b) & 255)) * UINT64_C(0x100000001b3);
    }
    c->key[stage] = key;
}

static void leave_out(px_check *c, int stage, const char *why)
{
    c->state[stage] = PX_CHECK_LEFT_OUT;
    snprintf(c->why[stage], sizeof c->why[stage], "%s", why);
}

/* Whether it can run at all; if not, it is left out and says why. */
static bool stage_ready(px_check *c, int stage)
{
    const pxi_stage *s = pxi_stages[stage];
    char why[512];
    if (s->public.labels && !c->labelled) {
        leave_out(c, stage, c->no_labels);
        return false;
    }
    for (int i = 0; i < stage; i++) {
        if (!(s->needs >> i & 1) || c->result[i])
            continue;
        snprintf(why, sizeof why, "it needs the result of '%s', which has none%s%.380s",
                 pxi_stages[i]->public.entry.id, *c->why[i] ? ": " : "", c->why[i]);
        leave_out(c, stage, why);
        return false;
    }
    return true;
}

static px_status stage_run(px_check *c, int stage, px_error *err)
{
    const pxi_stage *s = pxi_stages[stage];
    px_json json = {0};
    pxi_check_forget(c, stage);
    px_json_object(&json, NULL);
    px_status status = s->run(c, &json, err);
    if (pxi_ranks_together()) /* and the first has written its files */
        status = pxi_ranks_meet("the end of a stage", c->key[stage], status, 0, err);
    PX_THEN(status, pxi_check_files(c, s, &json, err));
    px_json_end(&json);
    c->seconds[stage] = px_clock_s() - c->stage_started;
    if (status == PX_OK && !px_json_text(&json))
        status = pxi_no_memory(err);
    PX_THEN(status, pxi_check_keep(c, stage, px_json_text(&json), c->seconds[stage], err));
    px_json_done(&json);
    if (status == PX_OK)
        c->state[stage] = PX_CHECK_DONE;
    return status;
}

/* What the user could mend does not end an examination: the stage is left out and says what it is.
 * Only guessing does, since everything after it would be about nothing. */
static px_status stage_do(px_check *c, int stage, px_error *err)
{
    px_error why = {0};
    const pxi_stage *s = pxi_stages[stage];
    if (!stage_ready(c, stage))
        return PX_OK;
    check_at(c, stage, s->public.entry.id, s->public.entry.title);
    stage_key(c, stage);
    PX_TRY(pxi_ranks_agree("the beginning of a stage", c->key[stage], err)); /* all is written */
    const bool kept = pxi_check_recall(c, stage);
    PX_TRY(pxi_ranks_agree("the results in the folder", kept, err));
    if (kept) {
        c->state[stage] = PX_CHECK_KEPT;
    } else {
        char before[64];
        snprintf(before, sizeof before, "before '%s'", s->public.entry.id);
        PX_TRY(pxi_check_ask(c, 0, 0, INFINITY, NULL, before, err));
        PX_TRY(pxi_check_pilot(c, err));
        check_at(c, stage, s->public.entry.id, s->public.entry.title);
        const px_status status = stage_run(c, stage, &why);
        if (status == PX_E_CANCELLED)
            return px_fail(err, status, "interrupted in '%s', stage %zu of %zu", s->public.entry.id,
                           c->at_index + 1, c->at_count);
        if (status != PX_OK && (status > PX_E_MISMATCH || stage == PXI_STAGE_eval))
            return px_fail(err, status, "%s", why.message);
        if (status != PX_OK) {
            leave_out(c, stage, why.message);
            pxi_check_note(c, "%s is left out: %.400s", s->public.entry.id, why.message);
            return PX_OK;
        }
    }
    return stage == PXI_STAGE_eval ? pxi_check_predictions(c, err) : PX_OK;
}

static px_status check_all(px_check *c, px_error *err)
{
    c->at_count = 0;
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        c->at_count += c->wanted[i];
    c->at_index = 0;
    if (c->wanted[PXI_STAGE_cover])
        pxi_cover_announce(c);
    for (int i = 0; i < PXI_STAGE_COUNT; i++) {
        if (!c->wanted[i])
            continue;
        PX_TRY(stage_do(c, i, err));
        c->at_index++;
    }
    pxi_gates_judge(c);
    check_at(c, PXI_STAGE_COUNT, "page", "Report");
    PX_TRY(pxi_check_ask(c, 0, 0, INFINITY, NULL, "before the page was written", err));
    PX_TRY(pxi_page_write(c, err));
    c->page_written = true;
    return c->o.junit ? pxi_junit_write(c, c->o.junit, err) : PX_OK;
}

px_status px_check_run(px_check *c, px_error *err)
{
    const px_status status = check_all(c, err);
    if (status != PX_OK && c->o.junit)
        pxi_junit_write_failure(&c->o, err ? err->message : px_status_text(status));
    return status;
}
