/* studies/frame/study.c - the studies there are, what an invocation asks for, and running it */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <internal/folder.h>
#include <internal/ranks.h>
#include <math.h>
#include <plexor/system.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const study_plan *const plans[] = {&pxi_study_nss,        &pxi_study_deepfault,
                                          &pxi_study_fuzz,       &pxi_study_revisit,
                                          &pxi_study_deepsensor, &pxi_study_nsgen};

/* --- what there is ---------------------------------------------------------------------------- */

size_t px_study_count(void)
{
    return PX_LEN(plans);
}

const px_study_kind *px_study_get(size_t i)
{
    return i < PX_LEN(plans) ? &plans[i]->kind : NULL;
}

static const study_plan *study_plan_find(const char *id)
{
    for (size_t i = 0; i < PX_LEN(plans); i++)
        if (strcmp(plans[i]->kind.id, id) == 0)
            return plans[i];
    return NULL;
}

const px_study_kind *px_study_find(const char *id)
{
    const study_plan *plan = study_plan_find(id);
    return plan ? &plan->kind : NULL;
}

px_study_options px_study_options_default(void)
{
    return (px_study_options){.runs = 5};
}

const px_study_kind *px_study_of(const px_study *study)
{
    return &study->plan->kind;
}

const char *px_study_folder(const px_study *study)
{
    return study->folder;
}

/* --- reading the options ---------------------------------------------------------------------- */

/* Whether `word` is in a comma list. */
static bool study_listed(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *p = list;; p++) {
        const size_t length = strcspn(p, ",");
        if (length == size && strncmp(p, word, size) == 0)
            return true;
        p += length;
        if (!*p)
            return false;
    }
}

static size_t study_dataset_find(const study_plan *plan, const char *name, size_t length)
{
    size_t i = 0;
    while (i < plan->kind.dataset_count && (strlen(plan->kind.datasets[i].id) != length ||
                                            strncmp(plan->kind.datasets[i].id, name, length) != 0))
        i++;
    return i;
}

static px_status study_unknown(const study_plan *plan, const char *option, const char *word,
                               size_t length, bool datasets, px_error *err)
{
    px_text names = {0};
    for (size_t i = 0; i < (datasets ? plan->kind.dataset_count : plan->kind.part_count); i++)
        px_text_format(&names, "%s%s", i ? ", " : "",
                       datasets ? plan->kind.datasets[i].id : plan->kind.parts[i].id);
    const px_status status =
        px_fail(err, PX_E_USAGE, "%s '%.*s': the study '%s' has %s", option,
                (int)PX_MIN(length, (size_t)60), word, plan->kind.id, px_text_get(&names));
    px_text_done(&names);
    return status;
}

static px_status study_read_data(px_study *study, const px_study_options *options, px_error *err)
{
    const study_plan *plan = study->plan;
    for (size_t i = 0; i < plan->kind.dataset_count; i++)
        if (plan->kind.datasets[i].spec) {
            PX_TRY(PX_DUP(study->specs[i], plan->kind.datasets[i].spec, err));
        }
    for (size_t i = 0; i < options->data_count; i++) {
        const char *text = options->data[i];
        const size_t length = strcspn(text, "=");
        if (!text[length] || !text[length + 1])
            return px_fail(err, PX_E_USAGE, "--data '%.80s': expected NAME=SPEC, such as %s=%s",
                           text, plan->kind.datasets[0].id, "folder/");
        const size_t d = study_dataset_find(plan, text, length);
        if (d == plan->kind.dataset_count)
            return study_unknown(plan, "--data", text, length, true, err);
        free(study->specs[d]);
        PX_TRY(PX_DUP(study->specs[d], text + length + 1, err));
    }
    return PX_OK;
}

static size_t study_model_find(const study_plan *plan, const char *name, size_t length)
{
    size_t i = 0;
    while (plan->kind.models && plan->kind.models[i] &&
           (strlen(plan->kind.models[i]) != length ||
            strncmp(plan->kind.models[i], name, length) != 0))
        i++;
    return plan->kind.models && plan->kind.models[i] ? i : STUDY_MODELS;
}

static px_status study_no_model(const study_plan *plan, const char *text, size_t length,
                                px_error *err)
{
    px_text names = {0};
    if (!plan->kind.models)
        return px_fail(err, PX_E_USAGE, "--model '%.80s': the study '%s' makes its own networks",
                       text, plan->kind.id);
    for (size_t i = 0; plan->kind.models[i]; i++)
        px_text_format(&names, "%s%s", i ? ", " : "", plan->kind.models[i]);
    const px_status status =
        px_fail(err, PX_E_USAGE, "--model '%.*s': the study '%s' has %s",
                (int)PX_MIN(length, (size_t)60), text, plan->kind.id, px_text_get(&names));
    px_text_done(&names);
    return status;
}

static px_status study_read_models(px_study *study, const px_study_options *options, px_error *err)
{
    for (size_t i = 0; i < options->model_count; i++) {
        const char *text = options->models[i];
        const size_t length = strcspn(text, "=");
        if (!text[length] || !text[length + 1])
            return px_fail(err, PX_E_USAGE, "--model '%.80s': expected NAME=PATH", text);
        const size_t m = study_model_find(study->plan, text, length);
        if (m == STUDY_MODELS)
            return study_no_model(study->plan, text, length, err);
        free(study->models[m]);
        PX_TRY(PX_DUP(study->models[m], text + length + 1, err));
    }
    return PX_OK;
}

/* "select,prima:1". */
static px_status study_read_parts(px_study *study, const px_study_options *options, px_error *err)
{
    const px_study_kind *kind = &study->plan->kind;
    if (!options->parts) {
        for (size_t i = 0; i < kind->part_count; i++)
            study->part_runs[i] = kind->parts[i].standard ? options->runs : 0;
        return PX_OK;
    }
    for (const char *p = options->parts; *p; p += *p == ',') {
        const size_t length = strcspn(p, ","), name = PX_MIN(strcspn(p, ":"), length);
        size_t i = 0;
        while (i < kind->part_count &&
               (strlen(kind->parts[i].id) != name || strncmp(kind->parts[i].id, p, name) != 0))
            i++;
        if (i == kind->part_count)
            return study_unknown(study->plan, "--parts", p, name, false, err);
        study->part_runs[i] = options->runs;
        if (name < length) {
            char *end = NULL;
            const long long runs = strtoll(p + name + 1, &end, 10);
            if (end != p + length || runs < 1 || runs > 1000)
                return px_fail(err, PX_E_USAGE,
                               "--parts '%.*s': expected PART:RUNS with 1 to 1000 runs",
                               (int)PX_MIN(length, (size_t)60), p);
            study->part_runs[i] = runs;
        }
        p += length;
    }
    return PX_OK;
}

static px_status study_read_datasets(const px_study *study, const char *list, px_error *err)
{
    for (const char *p = list; p && *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");
        if (study_dataset_find(study->plan, p, length) == study->plan->kind.dataset_count)
            return study_unknown(study->plan, "--dataset", p, length, true, err);
        p += length;
    }
    return PX_OK;
}

static bool study_copy(const char *text, const char **out)
{
    *out = text ? pxi_strdup(text) : NULL;
    return !text == !*out;
}

/* The options with texts of our own; those that were read already are left out. */
static px_status study_keep_options(px_study *study, const px_study_options *options, px_error *err)
{
    px_study_options *own = &study->options;
    *own = *options;
    own->data = NULL;
    own->data_count = 0;
    own->models = NULL;
    own->model_count = 0;
    own->folder = own->parts = own->command = own->cells = NULL;
    own->dataset = own->arch = own->mean = own->std = NULL;
    px_text folder = {0};
    const char *slash = options->cells ? strrchr(options->cells, '/') : NULL;
    if (options->cells)
        px_text_format(&folder, "%.*s", slash ? (int)(slash - options->cells) : 1,
                       slash ? options->cells : ".");
    else if (options->folder)
        px_text_add(&folder, options->folder);
    else
        px_text_format(&folder, "%s-study", study->plan->kind.id);
    study->folder = px_text_take(&folder);
    return study->folder && study_copy(options->dataset, &own->dataset) &&
                   study_copy(options->arch, &own->arch) &&
                   study_copy(options->command, &own->command) &&
                   study_copy(options->mean, &own->mean) && study_copy(options->std, &own->std)
               ? PX_OK
               : pxi_no_memory(err);
}

/* Cells alone: nothing is planned, and nothing written. */
static px_status study_open_cells(px_study *study, const char *path, px_error *err)
{
    if (access(path, R_OK) != 0)
        return px_fail(err, PX_E_INPUT, "'%s': %s", path, strerror(errno));
    PX_TRY(pxi_cells_open(path, &study->cells, err));
    return pxi_cells_count(study->cells) > 0
               ? PX_OK
               : px_fail(err, PX_E_INPUT, "'%s': there are no cells in it", path);
}

static px_status study_open(px_study *study, const px_study_options *options, px_error *err)
{
    px_text path = {0};
    PX_TRY(study_keep_options(study, options, err));
    PX_TRY(study_read_data(study, options, err));
    PX_TRY(study_read_models(study, options, err));
    PX_TRY(study_read_parts(study, options, err));
    PX_TRY(study_read_datasets(study, options->dataset, err));
    if (options->runs < 1 || options->networks < 0 || options->limit < 0)
        return px_fail(err, PX_E_USAGE, "a study needs at least one run, and counts from 0");
    if ((options->each_pieces || options->each_s > 0.0) && !study->plan->kind.piece)
        return px_fail(err, PX_E_USAGE, "--each: what a cell of the study '%s' takes is no choice",
                       study->plan->kind.id);
    if (options->each_s > 0.0 && !(study->plan->kind.piece_seconds > 0.0))
        return px_fail(err, PX_E_USAGE, "--each: a cell of the study '%s' takes %s, not a time",
                       study->plan->kind.id, study->plan->kind.piece);
    if (options->cells)
        return study_open_cells(study, options->cells, err);
    PX_TRY(px_folder_make(study->folder, err));
    px_text_format(&path, "%s/cells.jsonl", study->folder);
    px_status status = px_text_failed(&path) ? pxi_no_memory(err) : PX_OK;
    if (status == PX_OK && options->fresh)
        status = pxi_study_fresh(study, px_text_get(&path), err);
    if (pxi_ranks_together()) /* what the first removes is gone */
        status = pxi_ranks_meet("the folder of the study", 0, status, 0, err);
    if (status == PX_OK)
        status = pxi_cells_open(px_text_get(&path), &study->cells, err);
    PX_THEN(status, pxi_ranks_agree("the cells of the study", pxi_cells_count(study->cells), err));
    if (status == PX_OK)
        status = pxi_study_own(study, px_text_get(&path), err);
    px_text_done(&path);
    PX_TRY(status);
    return study->plan->plan(study, err);
}

px_status px_study_new(const char *name, const px_study_options *options, px_study **out,
                       px_error *err)
{
    const study_plan *plan = study_plan_find(name);
    if (!plan)
        return px_fail(err, PX_E_USAGE, "there is no study '%.60s'; 'plexor list studies' has them",
                       name);
    px_study *study = NULL;
    PX_TRY(PX_NEW(study, 1, err));
    study->plan = plan;
    const px_status status = study_open(study, options, err);
    if (status != PX_OK) {
        px_study_free(study);
        return status;
    }
    *out = study;
    return PX_OK;
}

void px_study_free(px_study *study)
{
    if (!study)
        return;
    for (size_t i = 0; i < STUDY_DATASETS; i++)
        free(study->specs[i]);
    for (size_t i = 0; i < STUDY_MODELS; i++)
        free(study->models[i]);
    free((char *)study->options.mean);
    free((char *)study->options.std);
    free((char *)study->options.dataset);
    free((char *)study->options.arch);
    free((char *)study->options.command);
    free(study->folder);
    free(study->jobs);
    pxi_cells_close(study->cells);
    free(study);
}

/* --- for plans -------------------------------------------------------------------------------- */

const char *pxi_study_spec(const px_study *study, const char *dataset)
{
    const size_t d = study_dataset_find(study->plan, dataset, strlen(dataset));
    return d < study->plan->kind.dataset_count ? study->specs[d] : NULL;
}

const char *pxi_study_model(const px_study *study, const char *name)
{
    const size_t m = study_model_find(study->plan, name, strlen(name));
    return m < STUDY_MODELS ? study->models[m] : NULL;
}

bool pxi_study_wants(const px_study *study, const char *dataset, const char *arch)
{
    return (!study->options.dataset || study_listed(study->options.dataset, dataset)) &&
           (!study->options.arch || study_listed(study->options.arch, arch));
}

int64_t pxi_study_runs(const px_study *study, const char *part)
{
    for (size_t i = 0; i < study->plan->kind.part_count; i++)
        if (strcmp(study->plan->kind.parts[i].id, part) == 0)
            return study->part_runs[i];
    return 0;
}

int64_t pxi_study_network(const px_study *study, int64_t run)
{
    const int64_t networks =
        study->options.networks ? study->options.networks : study->options.runs;
    return 1 + (run - 1) % networks;
}

px_status pxi_study_add_job(px_study *study, const study_job *job, px_error *err)
{
    if (pxi_grow(&study->jobs, &study->job_room, study->job_count + 1, sizeof *job) != 0)
        return pxi_no_memory(err);
    study->jobs[study->job_count++] = *job;
    return PX_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

void pxi_study_tell(const px_study *study, const char *format, ...)
{
    char line[512];
    va_list words;
    if (!study->options.tell)
        return;
    va_start(words, format);
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    study->options.tell(study->options.context, line);
}

px_status pxi_study_put(px_study *study, const char *key, double seconds, const cell_list *list,
                        px_error *err)
{
    return pxi_cells_add(study->cells, key, seconds, list->value, list->count, err);
}

static double study_job_seconds(const px_study *study, const study_job *job)
{
    char prefix[CELL_KEY];
    double sum = 0.0;
    size_t count = 0;
    snprintf(prefix, sizeof prefix, "job %s #", job->cost);
    for (size_t i = 0; i < pxi_cells_count(study->cells); i++) {
        const study_cell *cell = pxi_cells_at(study->cells, i);
        if (strncmp(cell->key, prefix, strlen(prefix)) != 0)
            continue;
        sum += cell->seconds;
        count++;
    }
    return count ? sum / (double)count : job->seconds;
}

void px_study_left(const px_study *study, int64_t *jobs, double *seconds)
{
    *jobs = (int64_t)study->job_count;
    *seconds = 0.0;
    for (size_t i = 0; i < study->job_count; i++)
        *seconds += study_job_seconds(study, &study->jobs[i]);
}

px_status px_study_run(px_study *study, px_error *err)
{
    const double start = px_clock_s();
    const size_t planned = study->job_count;
    px_status status = PX_OK;
    size_t done = 0;
    while (done < planned && status == PX_OK) {
        const study_job job = study->jobs[done];
        const double at = px_clock_s();
        uint64_t late = study->options.budget_s > 0.0 && at - start >= study->options.budget_s;
        status = pxi_ranks_first("a job of the study", PX_OK, 0, &late, err);
        if (status != PX_OK)
            break;
        if (late) {
            pxi_study_tell(study, "the budget of %.0f s is used up: %zu of %zu jobs are left",
                           study->options.budget_s, planned - done, planned);
            break;
        }
        pxi_study_tell(study, "%zu/%zu %s (about %.0f s)", done + 1, planned, job.label,
                       study_job_seconds(study, &job));
        status = study->plan->run(study, &job, err);
        if (status == PX_OK) {
            const cell_list none = {.count = 0};
            char key[CELL_KEY];
            snprintf(key, sizeof key, "job %s #%lld", job.cost, (long long)job.run);
            status = pxi_study_put(study, key, px_clock_s() - at, &none, err);
            if (status == PX_OK && done == 0 && study->options.command)
                status = pxi_cells_command(study->cells, study->options.command, err);
            done++;
        } else if (status != PX_E_CANCELLED && status != PX_E_NOMEM) {
            px_fail_in(err, status, "%s", job.label);
        }
    }
    study->job_count -= done;
    if (study->job_count > 0)
        memmove(study->jobs, study->jobs + done, study->job_count * sizeof *study->jobs);
    return status;
}

/* --- the report ------------------------------------------------------------------------------- */

/* `stem` NULL: no files for charts. */
static px_status study_print(const px_study *study, px_study_format format, const char *stem,
                             char **out, px_error *err)
{
    study_document *doc = pxi_document_new();
    px_text text = {0};
    study->plan->report(study, doc);
    pxi_doc_glance(doc);
    pxi_study_provenance(study, doc);
    px_status status = stem ? pxi_doc_save_plots(doc, stem, err) : PX_OK;
    if (status == PX_OK)
        status = pxi_doc_print(doc, format, &text, err);
    pxi_document_free(doc);
    char *taken = status == PX_OK ? px_text_take(&text) : NULL;
    px_text_done(&text);
    if (status == PX_OK && !taken)
        status = pxi_no_memory(err);
    if (status == PX_OK)
        *out = taken;
    return status;
}

px_status px_study_report(const px_study *study, px_study_format format, char **out, px_error *err)
{
    return study_print(study, format, /* stem= */ NULL, out, err);
}

px_status px_study_save(const px_study *study, px_study_format format, const char *path,
                        px_error *err)
{
    const size_t length = strlen(path);
    const bool plots =
        format == PX_STUDY_MARKDOWN && length > 3 && strcmp(path + length - 3, ".md") == 0;
    char *text = NULL, *stem = plots ? pxi_strdup(path) : NULL;
    if (plots && !stem)
        return pxi_no_memory(err);
    if (plots)
        stem[length - 3] = '\0';
    px_status status = study_print(study, format, stem, &text, err);
    free(stem);
    if (status == PX_OK)
        status = pxi_file_write(path, text, strlen(text), err);
    free(text);
    return status;
}
