/* src/check/page_origin.c - stages, verdict and provenance on the page */
#include "check/page_inside.h"

#include "check/check_criteria.h"
#include "check/label_suspects.h"

#include <inttypes.h>
#include <math.h>
#include <plexor/system.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- commands -----------------------------------------------------------------------------------
 */

/* As a shell reads it back. */
static void quoted(px_text *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./,:=+%@";
    if (*word && word[strspn(word, plain)] == '\0') {
        px_text_add(out, word);
        return;
    }
    px_text_add(out, "'");
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            px_text_add(out, "'\\''");
        else
            px_text_add_bytes(out, p, 1);
    }
    px_text_add(out, "'");
}

static void option(px_text *out, const char *name, const char *value)
{
    if (!value)
        return;
    px_text_format(out, " --%s ", name);
    quoted(out, value);
}

static void command_data(const px_check *c, px_text *out)
{
    const px_data_options *read = &c->o.read;
    option(out, "data", pxi_shown_path(c->data_spec));
    option(out, "split", read->split);
    if (read->limit > 0)
        px_text_format(out, " --limit %" PRId64, read->limit);
    if (read->offset > 0)
        px_text_format(out, " --offset %" PRId64, read->offset);
    if (read->shuffle)
        px_text_add(out, " --shuffle");
}

static void command_values(const px_check *c, px_text *out)
{
    option(out, "preprocess", c->o.pixels.preprocess);
    option(out, "scale", c->o.pixels.scale);
    option(out, "mean", c->o.pixels.mean);
    option(out, "std", c->o.pixels.std);
    option(out, "size", c->o.pixels.size);
    option(out, "audio", c->o.audio);
    if (c->o.seed)
        px_text_format(out, " --seed %" PRIu64, c->o.seed);
}

char *pxi_page_command(const px_check *c, int stage)
{
    static const char *const commands[PXI_STAGE_COUNT] = {
        [PXI_STAGE_profile] = "profile",   [PXI_STAGE_eval] = "eval",
        [PXI_STAGE_cover] = "cover",       [PXI_STAGE_select] = "select",
        [PXI_STAGE_localize] = "localize", [PXI_STAGE_synthesize] = "synthesize",
        [PXI_STAGE_attack] = "attack",     [PXI_STAGE_fuzz] = "fuzz",
        [PXI_STAGE_assess] = "assess",     [PXI_STAGE_cluster] = "map",
    };
    const px_json_value *result = c->result[stage];
    px_text out = {0};
    if (!commands[stage])
        return NULL;
    px_text_format(&out, "plexor %s ", commands[stage]);
    quoted(&out, pxi_shown_path(c->model_path));
    if (stage == PXI_STAGE_assess) {
        char *folder = pxi_page_path(c, "campaign");
        option(&out, "adversarial", folder);
        px_text_add(&out, " --adversarial-split faults");
        free(folder);
    } else if (stage == PXI_STAGE_profile) {
        option(&out, "train", pxi_shown_path(c->o.train ? c->o.train : c->data_spec));
        px_text_format(&out,
                       " --train-limit %" PRId64 " --criteria " PXI_CRITERIA_ALL " -o profile.npz",
                       c->o.train_limit > 0 ? c->o.train_limit : 1000);
    } else {
        command_data(c, &out);
    }
    command_values(c, &out);
    if (!isnan(c->o.low) &&
        (stage == PXI_STAGE_synthesize || stage == PXI_STAGE_attack || stage == PXI_STAGE_fuzz))
        px_text_format(&out, " --range %.9g,%.9g", c->o.low, c->o.high);
    if (stage == PXI_STAGE_cover)
        px_text_add(&out, c->result[PXI_STAGE_profile]
                              ? " --criteria " PXI_CRITERIA_ALL " --per-layer --baseline"
                              : " --criteria " PXI_CRITERIA_UNTAUGHT " --per-layer --baseline");
    else if (stage == PXI_STAGE_select)
        px_text_format(&out, " --by gini,pcs,entropy,random --budget 5%%%s",
                       c->labelled ? " --evaluate" : "");
    else if (stage == PXI_STAGE_localize)
        px_text_add(&out, " --measure ochiai -k 60 --pooled");
    else if (stage == PXI_STAGE_synthesize)
        px_text_format(&out, " --measure ochiai -k 10 --limit %" PRId64,
                       pxi_json_int(result, "count", 0));
    else if (stage == PXI_STAGE_attack)
        px_text_format(&out, " --limit %" PRId64, pxi_json_int(result, "count", 0));
    else if (stage == PXI_STAGE_fuzz)
        px_text_format(&out, " --guide %s --seeds %" PRId64 " --turns %" PRId64 " -o fuzz.campaign",
                       c->result[PXI_STAGE_profile] ? "kmnc" : "nc", (int64_t)200,
                       pxi_json_int(result, "turns", 0));
    else if (stage == PXI_STAGE_cluster)
        px_text_add(&out, " -o map.svg");
    return px_text_take(&out);
}

/* --- stages -------------------------------------------------------------------------------------
 */

static const char *const page_ids[PXI_STAGE_COUNT] = {
    [PXI_STAGE_profile] = "profile",  [PXI_STAGE_eval] = "evaluation",
    [PXI_STAGE_cover] = "coverage",   [PXI_STAGE_select] = "selection",
    [PXI_STAGE_localize] = "neurons", [PXI_STAGE_synthesize] = "synthesize",
    [PXI_STAGE_attack] = "attack",    [PXI_STAGE_fuzz] = "fuzz",
    [PXI_STAGE_assess] = "quality",   [PXI_STAGE_describe] = "descriptions",
    [PXI_STAGE_cluster] = "clusters",
};

static bool cut_short(const px_json_value *result)
{
    const px_json_value *cut = result ? px_json_member(result, "cut_short") : NULL;
    return cut && cut->kind == PX_JSON_BOOL && cut->boolean;
}

static void page_stage(pxi_page *p, int i)
{
    const px_check *c = p->c;
    const bool partial = cut_short(c->result[i]);
    char reason[600] = "";
    if (partial)
        snprintf(reason, sizeof reason,
                 "the time was up after %.0f of %.0f; more --minutes go further, and another "
                 "machine may get another way",
                 pxi_json_number(c->result[i], i == PXI_STAGE_fuzz ? "turns" : "count"),
                 pxi_json_number(c->result[i], "planned"));
    else if (c->state[i] == PX_CHECK_LEFT_OUT)
        snprintf(reason, sizeof reason, "%s", c->why[i]);
    else if (c->state[i] == PX_CHECK_SKIPPED)
        snprintf(reason, sizeof reason, "it was not asked for");
    px_json_object(&p->json, NULL);
    px_json_string(&p->json, "id", page_ids[i]);
    px_json_string(&p->json, "title", pxi_stages[i]->public.title);
    px_json_string(&p->json, "status", partial ? "partial" : c->result[i] ? "done" : "skipped");
    if (*reason)
        px_json_string(&p->json, "reason", reason);
    if (c->result[i]) {
        char *command = pxi_page_command(c, i);
        px_json_real(&p->json, "seconds", c->seconds[i]);
        px_json_string(&p->json, "command", command);
        free(command);
    }
    px_json_end(&p->json);
}

void pxi_page_stages(pxi_page *p)
{
    const px_check *c = p->c;
    px_json_array(&p->json, "stages");
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        page_stage(p, i);
    if (!p->campaign) { /* the part has no stage of its own */
        const bool made = c->result[PXI_STAGE_synthesize] || c->result[PXI_STAGE_attack] ||
                          c->result[PXI_STAGE_fuzz];
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "id", "findings");
        px_json_string(&p->json, "status", made ? "done" : "skipped");
        px_json_string(&p->json, "reason",
                       made ? "none was found" : "synthesize, attack and fuzz have no results");
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
}

/* --- summary ------------------------------------------------------------------------------------
 */

static const char *gate_unit(const px_gate_kind *kind)
{
    if (strstr(kind->name, "fault") && strcmp(kind->name, "fdr") != 0)
        return "count";
    return strcmp(kind->name, "loss") == 0 ? "real" : "share";
}

static void summary_gates(pxi_page *p)
{
    const px_check *c = p->c;
    px_json_array(&p->json, "gates");
    for (size_t i = 0; i < c->gate_count; i++) {
        const px_check_gate *g = &c->gates[i];
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "name", g->kind->name);
        px_json_string(&p->json, "title", g->kind->help);
        px_json_string(&p->json, "relation", g->kind->most ? "<=" : ">=");
        px_json_real(&p->json, "threshold", g->threshold);
        px_json_real(&p->json, "value", g->value);
        px_json_string(&p->json, "unit", gate_unit(g->kind));
        px_json_bool(&p->json, "pass", g->held);
        if (isnan(g->value))
            px_json_string(&p->json, "note", "was not measured");
        px_json_end(&p->json);
    }
    px_json_end(&p->json);
}

/* Why it fails, if it does: the first threshold that does not hold. */
static void headline_gate(const px_check *c, px_text *out)
{
    for (size_t i = 0; i < c->gate_count; i++) {
        const px_check_gate *g = &c->gates[i];
        if (g->held)
            continue;
        if (isnan(g->value))
            px_text_format(out, "It fails: %s was not measured. ", g->kind->name);
        else
            px_text_format(out, "It fails: %s is %.6g and must be at %s %g. ", g->kind->name,
                           g->value, g->kind->most ? "most" : "least", g->threshold);
        return;
    }
}

static void headline_accuracy(const px_check *c, px_text *out)
{
    char count[PXI_COUNT_TEXT];
    const double accuracy = px_check_number(c, "eval", "accuracy");
    const char *worst = pxi_json_words(c->result[PXI_STAGE_eval], "worst.name");
    pxi_count_text(c->count, count);
    if (!c->labelled || isnan(accuracy)) {
        px_text_format(out,
                       "The %s inputs have no labels, so that it cannot be said how often "
                       "the network is right.",
                       count);
        return;
    }
    px_text_format(out, "The network is right on %.1f%% of %s inputs", 100.0 * accuracy, count);
    if (worst)
        px_text_format(out, "; the weak spot is '%s' with %.1f%%", worst,
                       100.0 * px_check_number(c, "eval", "worst.accuracy"));
    px_text_add(out, ".");
}

static void headline_failures(const pxi_page *p, px_text *out)
{
    char count[PXI_COUNT_TEXT], near[PXI_COUNT_TEXT];
    const px_json_value *assess = p->c->result[PXI_STAGE_assess];
    const int64_t close = pxi_json_int(assess, "close_faults", -1);
    if (!assess)
        return;
    if (p->faults == 0) {
        px_text_add(out, " No failure was found.");
        return;
    }
    px_text_format(out, " %s failure%s", pxi_count_text(p->faults, count),
                   p->faults == 1 ? " was found" : "s were found");
    if (close >= 0)
        px_text_format(out, ", %s of them close to their originals", pxi_count_text(close, near));
    const pxi_mode_words worst = pxi_page_worst_mode(p);
    if (worst.text && worst.rate > 0.0)
        px_text_format(out, "; %s breaks it most often, in %.0f%% of %s tries", worst.text,
                       100.0 * worst.rate, pxi_count_text(worst.tries, count));
    px_text_add(out, ".");
}

/* Of data without labels, "robust" would count what never was right. */
static void headline_attack(const px_check *c, px_text *out)
{
    const px_json_value *attack = c->result[PXI_STAGE_attack];
    const double robust = pxi_json_number(attack, "robust_accuracy");
    char eps[PXI_FRACTION_TEXT], count[PXI_COUNT_TEXT];
    if (!attack || !c->labelled || isnan(robust))
        return;
    px_text_format(out,
                   " Noise of at most %s, made to mislead it, leaves %.1f%% of %s inputs right.",
                   pxi_fraction_text(pxi_json_number(attack, "eps"), eps), 100.0 * robust,
                   pxi_count_text(pxi_json_int(attack, "count", 0), count));
}

/* How right it is, what breaks it, what is left under attack: a sentence each. */
static void summary_headline(pxi_page *p)
{
    px_text out = {0};
    headline_gate(p->c, &out);
    headline_accuracy(p->c, &out);
    headline_failures(p, &out);
    headline_attack(p->c, &out);
    px_json_string(&p->json, "headline", px_text_get(&out));
    px_text_done(&out);
}

PX_PRINTF(2, 3)
static void remark(pxi_page *p, const char *format, ...)
{
    char words[600];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    px_json_string(&p->json, NULL, words);
}

void pxi_page_summary(pxi_page *p)
{
    const px_check *c = p->c;
    char scale[PXI_FRACTION_TEXT];
    px_json_object(&p->json, "summary");
    px_json_string(&p->json, "verdict", px_verdict_name(px_check_verdict(c)));
    summary_headline(p);
    summary_gates(p);
    px_json_array(&p->json, "remarks");
    if (c->gate_count == 0)
        remark(p, "No thresholds were given, so nothing can fail; --fail-under accuracy=0.9 sets "
                  "one.");
    remark(p, "Inputs are taken as (%s * %s - mean) / std; scale is %s, mean %s, std %s.",
           px_dataset_audio(c->set) ? "feature" : "pixel",
           pxi_fraction_text((double)c->pre.scale, scale), c->pre.scale_from, c->pre.mean_from,
           c->pre.std_from);
    if (!c->labelled)
        remark(p, "%s.", c->no_labels);
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        if (c->state[i] == PX_CHECK_LEFT_OUT && (c->labelled || !pxi_stages[i]->public.labels))
            remark(p, "'%s' was left out: %.400s.", pxi_stages[i]->public.id, c->why[i]);
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        if (cut_short(c->result[i]))
            remark(p,
                   "The time for '%s' was up before its work was done: another run may find a "
                   "little more or less.",
                   pxi_stages[i]->public.id);
    px_json_end(&p->json);
    px_json_end(&p->json);
}

/* --- provenance ---------------------------------------------------------------------------------
 */

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
    static const struct {
        const char *name, *what;
        int stage;
    } all[] = {
        {"campaign/", "all findings: for plexor replay, export and assess", PXI_STAGE_assess},
        {"fuzz/", "the fuzzer's campaign: plexor fuzz --resume goes on", PXI_STAGE_fuzz},
        {"selection.csv", "the inputs to label", PXI_STAGE_select},
        {"suspicious.csv", "suspicious neurons of every class, for plexor synthesize",
         PXI_STAGE_localize},
        {"spectrum.npz", "hit counts of all neurons", PXI_STAGE_localize},
        {"profile.npz", "ranges of neurons on training data", PXI_STAGE_profile},
        {PXI_SUSPECTS_FILE, "inputs whose label may be wrong", PXI_STAGE_eval},
        {"predictions.npz", "what the network says of every input", PXI_STAGE_eval},
    };
    px_json_array(&p->json, "files");
    for (size_t i = 0; i < PX_LEN(all); i++) {
        if (!p->c->result[all[i].stage] ||
            (!p->c->labelled && strcmp(all[i].name, PXI_SUSPECTS_FILE) == 0))
            continue;
        char *path = pxi_page_path(p->c, all[i].name);
        px_json_object(&p->json, NULL);
        px_json_string(&p->json, "path", path);
        px_json_string(&p->json, "what", all[i].what);
        px_json_end(&p->json);
        free(path);
    }
    px_json_end(&p->json);
}

void pxi_page_provenance(pxi_page *p)
{
    const px_check *c = p->c;
    char seed[32];
    double seconds = 0.0;
    for (int i = 0; i < PXI_STAGE_COUNT; i++)
        seconds += c->result[i] ? c->seconds[i] : 0.0;
    snprintf(seed, sizeof seed, "%" PRIu64, c->o.seed);
    px_json_object(&p->json, "provenance");
    char *command = pxi_shown_command(c->o.command ? c->o.command : "plexor check");
    px_json_string(&p->json, "command", command);
    free(command);
    px_json_string(&p->json, "seed", seed);
    px_json_real(&p->json, "seconds", seconds);
    px_json_int(&p->json, "threads", pxi_check_threads(c));
    px_json_array(&p->json, "hashes");
    hash_row(p, "model", pxi_shown_path(c->model_path), px_model_hash(c->model));
    hash_row(p, "data", pxi_shown_path(c->data_spec), px_dataset_hash(c->set));
    px_json_end(&p->json);
    assumptions(p);
    files(p);
    px_json_end(&p->json);
}
