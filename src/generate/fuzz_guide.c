/* src/generate/fuzz_guide.c - the guide of a campaign: coverage of one criterion, or decision paths
 *
 * A campaign keeps what its guide learned: the profile in the database, tau beside it. Going on
 * needs no training data.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/engines.h"

#include "base/memory.h"

#include <internal/data.h>
#include <internal/decision_path.h>
#include <internal/fuzz.h>
#include <internal/training.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char THRESHOLD_FILE[] = "threshold.json";

struct pxi_fuzz_guide {
    px_training training;
    const char **cover_texts, **engine_texts; /* settings apart */
    size_t cover_count, engine_count;
    px_profile *profile;
    px_cover *cover;
    px_path_tools tools;
    px_threshold threshold;
    px_fuzz_paths by;
};

void pxi_fuzz_guide_close(pxi_fuzz_guide *g)
{
    if (!g)
        return;
    px_cover_free(g->cover);
    px_path_tools_close(&g->tools);
    px_profile_free(g->profile);
    free(g->cover_texts);
    free(g->engine_texts);
    free(g);
}

/* "kmnc.k=100" is the criterion's, all else the engine's. */
static px_status guide_settings(px_fuzz *fuzz, pxi_fuzz_guide *g, px_error *err)
{
    px_fuzz_options *o = &fuzz->options;
    PX_TRY(PX_NEW(g->cover_texts, o->setting_count, err));
    PX_TRY(PX_NEW(g->engine_texts, o->setting_count, err));
    for (size_t i = 0; i < o->setting_count; i++) {
        const char *text = o->settings[i];
        char id[64];
        const size_t length = strcspn(text, ".=");
        snprintf(id, sizeof id, "%.*s", (int)length, text);
        if (text[length] == '.' && px_criterion_find(id))
            g->cover_texts[g->cover_count++] = text;
        else
            g->engine_texts[g->engine_count++] = text;
    }
    o->settings = g->engine_texts;
    o->setting_count = g->engine_count;
    return PX_OK;
}

/* --- coverage -------------------------------------------------------------------------------- */

/* The campaign's own, or given, or learned now. */
static px_status guide_profile(const px_fuzz *fuzz, pxi_fuzz_guide *g, const px_shape *shape,
                               const px_cover_options *wish, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    px_lessons lessons = {0};
    PX_TRY(px_fuzz_profile_load(fuzz->campaign, &g->profile, err));
    if (!g->profile && o->guide.profile) {
        PX_TRY(px_profile_open(o->guide.profile, &g->profile, err));
        PX_TRY(px_profile_check(g->profile, o->model, err));
        px_training_remarks(&g->training, o->model, g->profile);
    }
    if (g->profile)
        return px_profile_check(g->profile, o->model, err);
    px_status status = px_cover_lessons(o->model, shape, wish, &lessons, err);
    PX_THEN_IF(status, lessons.count > 0,
               px_training_learn(o->model, &g->training, "criteria", &lessons, NULL, NULL,
                                 &g->profile, err));
    px_lessons_free(&lessons);
    return status;
}

static px_status guide_cover(px_fuzz *fuzz, pxi_fuzz_guide *g, const char *criterion, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    const px_shape sample = px_dataset_shape(o->set);
    px_shape shape = {.rank = sample.rank + 1, .dim = {1}};
    px_cover_options wish = px_cover_options_default();
    for (int d = 0; d < sample.rank; d++)
        shape.dim[d + 1] = sample.dim[d];
    if (!px_criterion_find(criterion))
        return px_fail(err, PX_E_USAGE,
                       "there is no guide '%.60s'; it is random, nsgen, or one of 'plexor list "
                       "criteria'",
                       criterion);
    wish.criteria = criterion;
    wish.preset = o->preset;
    wish.settings = g->cover_texts;
    wish.setting_count = g->cover_count;
    wish.layers = o->guide.layers;
    wish.tap = o->guide.tap;
    wish.neurons = o->guide.neurons;
    wish.seed = o->seed;
    wish.threads = o->threads;
    if (!o->profile)
        PX_TRY(guide_profile(fuzz, g, &shape, &wish, err));
    wish.profile = o->profile ? o->profile : g->profile;
    PX_TRY(px_cover_new(o->model, &shape, &wish, &g->cover, err));
    fuzz->options.profile = wish.profile;
    fuzz->options.cover = g->cover;
    return PX_OK;
}

/* --- decision paths -------------------------------------------------------------------------- */

static px_status guide_threshold(const px_fuzz *fuzz, pxi_fuzz_guide *g, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    px_text path = {0};
    px_text_format(&path, "%s/%s", px_campaign_folder(fuzz->campaign), THRESHOLD_FILE);
    const char *own = px_text_get(&path);
    px_status status = px_text_failed(&path) ? pxi_no_memory(err) : PX_OK;
    if (status == PX_OK && access(own, F_OK) == 0) {
        status = px_threshold_load(own, &g->threshold, err);
    } else if (status == PX_OK) {
        status = px_training_threshold(o->model, &g->training, o->guide.threshold, &g->tools,
                                       &g->threshold, err);
        PX_THEN(status, px_threshold_save(&g->threshold, own, err));
    }
    px_text_done(&path);
    return status;
}

static px_status guide_paths(px_fuzz *fuzz, pxi_fuzz_guide *g, px_path_mode mode, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    px_path_tools_options wish = px_path_tools_options_default();
    wish.paths.layers = o->guide.layers;
    wish.paths.tap = o->guide.tap;
    wish.paths.threads = o->threads;
    wish.bank = o->guide.bank;
    wish.encoder = o->guide.encoder;
    wish.note = g->training.note;
    wish.context = g->training.context;
    if (o->guide.neurons)
        return px_fail(err, PX_E_USAGE, "paths are made of channels; --neurons does not apply");
    PX_TRY(px_path_tools_open(o->model, o->set, o->pre, &wish, &g->tools, err));
    if (mode != PX_PATH_NO_NLDG && !g->tools.bank)
        return px_fail(err, PX_E_USAGE,
                       "guide '%s' compares words of units: give --bank FILE, from 'plexor "
                       "describe', or take nsgen-no-nldg, which needs none",
                       px_fuzz_paths_name(mode));
    PX_TRY(px_path_judge_check(g->tools.judge, mode, err));
    PX_TRY(guide_threshold(fuzz, g, err));
    PX_TRY(px_threshold_check(&g->threshold, g->tools.paths, g->tools.encoder, mode, err));
    g->by = (px_fuzz_paths){.paths = g->tools.paths,
                            .judge = g->tools.judge,
                            .threshold = &g->threshold,
                            .mode = mode,
                            .root = o->guide.root};
    fuzz->options.paths = &g->by;
    if (!o->policy)
        fuzz->options.policy = "nsgen";
    return PX_OK;
}

/* --- which one ------------------------------------------------------------------------------- */

px_status pxi_fuzz_guide_open(px_fuzz *fuzz, px_error *err)
{
    const px_fuzz_options *o = &fuzz->options;
    const char *name = o->guide.name;
    px_path_mode mode = PX_PATH_FULL;
    bool by_paths = false;
    if (o->cover || o->paths)
        return PX_OK;
    if (!fuzz->engine->shown.guided) {
        if (name)
            return px_fail(err, PX_E_USAGE, "engine '%s' has a guide of its own and takes no other",
                           fuzz->engine->shown.entry.id);
        return PX_OK;
    }
    if (!name)
        name = o->policy && strcmp(o->policy, "tensorfuzz") == 0 ? "cc" : "kmnc";
    pxi_fuzz_guide *g = NULL;
    PX_TRY(PX_NEW(g, 1, err));
    fuzz->own_guide = g;
    g->training = o->guide.training;
    if (!g->training.own)
        g->training.own = px_dataset_spec(o->set);
    if (!g->training.pre)
        g->training.pre = o->pre;
    if (!g->training.seed)
        g->training.seed = o->seed;
    if (!g->training.threads)
        g->training.threads = o->threads;
    PX_TRY(guide_settings(fuzz, g, err));
    if (strcmp(name, "random") == 0)
        return PX_OK;
    PX_TRY(px_fuzz_paths_parse(name, &by_paths, &mode, err));
    return by_paths ? guide_paths(fuzz, g, mode, err) : guide_cover(fuzz, g, name, err);
}
