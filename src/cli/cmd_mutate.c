/* src/cli/cmd_mutate.c - plexor mutate --data SPEC [--set SET | --mutation TEXT ...] -o OUT */
#include "cli/mutate_out.h"

#include <plexor/system.h>
#include <plexor/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MUTATE_SHEET_INPUTS = 10, MUTATE_EACH_MOST = 1000 };

typedef struct mutate {
    const px_dataset *set;
    px_mutations from;
    px_styles *styles; /* NULL: the generated ones */
    bool one_of_each;  /* mutation of the set */
    px_drawn *given;   /* by --mutation; NULL: drawn from the set */
    int64_t given_count;
    bool chain;
    uint64_t seed;
    int64_t count, each;
    mutate_out *out; /* NULL: nothing is written */
    mutate_record *records;
    int64_t record_count;
} mutate;

/* --- what to do with an input ------------------------------------------------------------------
 */

/* The k-th entry of a part, alone. */
static px_mutations mutate_entry(const px_mutations *from, int64_t k)
{
    px_mutations one = {.set = from->set, .styles = from->styles};
    for (size_t i = 0; i < from->set->entry_count; i++)
        if (from->entries >> i & 1 && k-- == 0)
            one.entries = UINT32_C(1) << i;
    return one;
}

static int64_t mutate_entries(const px_mutations *from)
{
    int64_t count = 0;
    for (size_t i = 0; i < from->set->entry_count; i++)
        count += from->entries >> i & 1;
    return count;
}

/* Mutant k of an input, into record->drawn and `mutant`. */
static px_status mutate_one(const mutate *job, int64_t k, px_random *random, const uint8_t *levels,
                            uint8_t *mutant, uint8_t *scratch, mutate_record *record, px_error *err)
{
    const px_shape shape = px_dataset_shape(job->set);
    const int c = (int)shape.dim[0], h = (int)shape.dim[1], w = (int)shape.dim[2];
    const size_t size = (size_t)px_shape_count(&shape);
    if (!job->given) {
        const px_mutations from = job->one_of_each ? mutate_entry(&job->from, k) : job->from;
        record->drawn = px_mutation_draw(&from, random);
        return px_mutation_apply(&record->drawn, levels, mutant, h, w, c, err);
    }
    record->drawn = job->given[job->chain ? 0 : k];
    PX_TRY(px_mutation_apply(&record->drawn, levels, mutant, h, w, c, err));
    for (int64_t link = 1; job->chain && link < job->given_count; link++) {
        memcpy(scratch, mutant, size);
        PX_TRY(px_mutation_apply_near(&job->given[link], levels, scratch, mutant, h, w, c, err));
    }
    return PX_OK;
}

static px_status mutate_levels(const px_dataset *set, int64_t row, float *values, uint8_t *levels,
                               px_error *err)
{
    const px_shape shape = px_dataset_shape(set);
    const size_t size = (size_t)px_shape_count(&shape);
    const float scale = px_dataset_is_8bit(set) ? 1.0f : 255.0f;
    char name[256];
    PX_TRY(px_dataset_pixels(set, row, values, err));
    for (size_t i = 0; i < size; i++) {
        const float v = values[i] * scale;
        if (!(v >= 0.0f && v <= 255.0f))
            return px_fail(err, PX_E_MISMATCH,
                           "input '%s' has a value of %g; mutations are for 8-bit pictures, or "
                           "floats from 0 to 1",
                           px_dataset_name(set, row, name, sizeof name), (double)values[i]);
        levels[i] = (uint8_t)(v + 0.5f);
    }
    return PX_OK;
}

static px_status mutate_input(mutate *job, int64_t row, float *values, uint8_t *levels,
                              px_error *err)
{
    const px_shape shape = px_dataset_shape(job->set);
    const size_t size = (size_t)px_shape_count(&shape);
    uint8_t *mutant = levels + size, *scratch = mutant + size;
    const int64_t origin = px_dataset_index(job->set, row);
    px_random random = px_rng(job->seed, PX_RNG_MUTATE, (uint32_t)origin, PX_MUTATE_CANDIDATES);
    PX_TRY(mutate_levels(job->set, row, values, levels, err));
    if (job->out)
        PX_TRY(mutate_out_original(job->out, row, levels, err));
    for (int64_t k = 0; k < job->each; k++) {
        mutate_record *record = &job->records[job->record_count];
        *record =
            (mutate_record){.row = row, .origin = origin, .label = px_dataset_label(job->set, row)};
        record->size = size;
        PX_TRY(mutate_one(job, k, &random, levels, mutant, scratch, record, err));
        record->change = px_change_between(levels, mutant, size);
        if (job->out)
            PX_TRY(mutate_out_mutant(job->out, record, mutant, err));
        job->record_count++;
    }
    return PX_OK;
}

/* --- recordings ------------------------------------------------------------------------------ */

/* The same as mutate_one() for samples. */
static px_status mutate_one_sound(const mutate *job, int64_t k, px_random *random,
                                  const int16_t *in, int16_t *mutant, int16_t *scratch,
                                  size_t count, mutate_record *record, px_error *err)
{
    if (!job->given) {
        const px_mutations from = job->one_of_each ? mutate_entry(&job->from, k) : job->from;
        record->drawn = px_mutation_draw(&from, random);
        return px_mutation_apply_samples(&record->drawn, in, mutant, count, err);
    }
    record->drawn = job->given[job->chain ? 0 : k];
    PX_TRY(px_mutation_apply_samples(&record->drawn, in, mutant, count, err));
    for (int64_t link = 1; job->chain && link < job->given_count; link++) {
        memcpy(scratch, mutant, count * sizeof *scratch);
        PX_TRY(px_mutation_apply_samples(&job->given[link], scratch, mutant, count, err));
    }
    return PX_OK;
}

/* `work` has room for three recordings, `wave` for one. */
static px_status mutate_sounds(mutate *job, int64_t row, float *features, float *wave,
                               int16_t *work, size_t count, px_error *err)
{
    int16_t *mutant = work + count, *scratch = mutant + count;
    mutate_sound sound = {.samples = work, .count = count, .features = features};
    const int64_t origin = px_dataset_index(job->set, row);
    px_random random = px_rng(job->seed, PX_RNG_MUTATE, (uint32_t)origin, PX_MUTATE_CANDIDATES);
    PX_TRY(px_dataset_features(job->set, wave, count, features, err));
    px_samples_round(wave, work, count);
    if (job->out)
        PX_TRY(mutate_out_original_sound(job->out, row, &sound, err));
    sound.samples = mutant;
    for (int64_t k = 0; k < job->each; k++) {
        mutate_record *record = &job->records[job->record_count];
        *record = (mutate_record){
            .row = row, .origin = origin, .label = px_dataset_label(job->set, row), .size = count};
        PX_TRY(mutate_one_sound(job, k, &random, work, mutant, scratch, count, record, err));
        record->change = px_change_between_samples(work, mutant, count);
        px_samples_widen(mutant, wave, count);
        PX_TRY(px_dataset_features(job->set, wave, count, features, err));
        if (job->out)
            PX_TRY(mutate_out_mutant_sound(job->out, record, &sound, err));
        job->record_count++;
    }
    return PX_OK;
}

static px_status mutate_recording(mutate *job, int64_t row, float *features, px_error *err)
{
    float *wave = NULL;
    size_t count = 0;
    PX_TRY(px_dataset_clip(job->set, row, &wave, &count, err));
    int16_t *work = calloc(3 * count, sizeof *work);
    const px_status status = work ? mutate_sounds(job, row, features, wave, work, count, err)
                                  : px_fail(err, PX_E_NOMEM, "out of memory");
    free(work);
    free(wave);
    return status;
}

static px_status mutate_all(mutate *job, px_error *err)
{
    const px_shape shape = px_dataset_shape(job->set);
    const size_t size = (size_t)px_shape_count(&shape);
    float *values = calloc(size, sizeof *values);
    uint8_t *levels = calloc(3, size);
    job->records = calloc((size_t)job->count * (size_t)job->each, sizeof *job->records);
    px_status status = PX_OK;
    if (!values || !levels || !job->records)
        status = px_fail(err, PX_E_NOMEM, "out of memory");
    cli_progress progress = cli_progress_start("mutate");
    for (int64_t row = 0; row < job->count && status == PX_OK; row++) {
        status = px_dataset_audio(job->set) ? mutate_recording(job, row, values, err)
                                            : mutate_input(job, row, values, levels, err);
        if (status == PX_OK && !cli_progress_tick(&progress, row + 1, job->count))
            status = px_fail(err, PX_E_CANCELLED, "interrupted");
    }
    cli_progress_end(&progress);
    free(values);
    free(levels);
    return status;
}

/* --- options -----------------------------------------------------------------------------------
 */

static px_status mutate_given(mutate *job, const cli_list *texts, px_text *chain, px_error *err)
{
    job->given = calloc((size_t)texts->count, sizeof *job->given);
    if (!job->given)
        return px_fail(err, PX_E_NOMEM, "out of memory");
    for (int i = 0; i < texts->count; i++) {
        char text[PX_DRAWN_TEXT];
        PX_TRY(px_drawn_parse(texts->item[i], &job->given[i], err));
        job->given[i].styles = job->styles;
        px_text_format(chain, "%s%s", i ? "; " : "", px_drawn_text(&job->given[i], text));
    }
    job->given_count = texts->count;
    return px_text_failed(chain) ? px_fail(err, PX_E_NOMEM, "out of memory") : PX_OK;
}

static px_status mutate_open_data(const char *spec, const px_data_options *options,
                                  const char *size, const char *audio, px_dataset **out,
                                  px_error *err)
{
    const px_shape any = {.rank = 4, .dim = {-1, -1, -1, -1}};
    px_preprocess pre;
    const px_preprocess_options how = {.size = size};
    PX_TRY(px_preprocess_init(&pre, NULL, 0, &any, &how, err));
    px_data_options wanted = *options;
    wanted.height = pre.height;
    wanted.width = pre.width;
    PX_TRY(px_preprocess_audio(&pre, audio, err));
    wanted.audio = audio ? &pre.audio : NULL;
    PX_TRY(px_dataset_open(spec, &wanted, out, err));
    char text[PX_SHAPE_TEXT];
    const px_shape shape = px_dataset_shape(*out);
    if (shape.rank == 3 && shape.dim[1] <= PX_MUTATION_SIDE_MOST &&
        shape.dim[2] <= PX_MUTATION_SIDE_MOST)
        return PX_OK;
    px_dataset_close(*out);
    *out = NULL;
    return px_fail(err, PX_E_MISMATCH,
                   "'%s': mutations are for pictures, [channels,height,width] of up to %d pixels "
                   "each way; the samples are %s",
                   spec, PX_MUTATION_SIDE_MOST, px_shape_text(&shape, text));
}

/* --- report ------------------------------------------------------------------------------------
 */

typedef struct mutate_sum { /* over the mutants of one mutation */
    int64_t count, unchanged;
    double changed, largest;
} mutate_sum;

static mutate_sum mutate_sum_of(const mutate *job, const px_mutation *mutation)
{
    mutate_sum sum = {0};
    for (int64_t i = 0; i < job->record_count; i++) {
        const mutate_record *r = &job->records[i];
        if (r->drawn.mutation != mutation)
            continue;
        sum.count++;
        sum.unchanged += r->change.l0 == 0;
        sum.changed += (double)r->change.l0 / (double)r->size;
        sum.largest += r->change.linf;
    }
    if (sum.count) {
        sum.changed /= (double)sum.count;
        sum.largest /= (double)sum.count;
    }
    return sum;
}

static void mutate_json_mutants(const mutate *job, const char *chain, px_json *json)
{
    char text[PX_DRAWN_TEXT], name[256];
    px_json_array(json, "mutants");
    for (int64_t i = 0; i < job->record_count; i++) {
        const mutate_record *r = &job->records[i];
        px_json_object(json, NULL);
        px_json_int(json, "index", r->origin);
        px_json_string(json, "name", px_dataset_name(job->set, r->row, name, sizeof name));
        if (r->label >= 0)
            px_json_int(json, "label", r->label);
        px_json_string(json, "mutation", chain ? chain : px_drawn_text(&r->drawn, text));
        px_json_int(json, "l0", (int64_t)r->change.l0);
        px_json_int(json, "linf", r->change.linf);
        px_json_end(json);
    }
    px_json_end(json);
}

static int mutate_report(const cli_command *self, const mutate *job, const char *chain,
                         const char *path, bool as_json)
{
    px_json json = {0};
    cli_table *table = as_json ? NULL : cli_table_new("lrrrr");
    static const char *const titles[] = {"MUTATION", "MUTANTS", "VALUES CHANGED", "LARGEST CHANGE",
                                         "UNCHANGED"};
    for (size_t i = 0; i < 5 && table; i++)
        cli_table_cell(table, "%s", titles[i]);
    if (as_json) {
        cli_json_open(&json);
        px_json_string(&json, "data", px_dataset_describe(job->set));
        px_json_int(&json, "inputs", job->count);
        px_json_int(&json, "count", job->record_count);
        px_json_int(&json, "seed", (int64_t)job->seed);
        px_json_string(&json, "output", path);
        px_json_object(&json, "mutations");
    }
    for (size_t i = 0; i < px_mutation_count(); i++) {
        const px_mutation *m = px_mutation_get(i);
        const mutate_sum sum = mutate_sum_of(job, m);
        const char *name = chain ? chain : m->id;
        if (sum.count && as_json) {
            px_json_object(&json, name);
            px_json_int(&json, "count", sum.count);
            px_json_real(&json, "changed", sum.changed);
            px_json_real(&json, "largest", sum.largest);
            px_json_int(&json, "unchanged", sum.unchanged);
            px_json_end(&json);
        } else if (sum.count) {
            cli_table_cell(table, "%s", name);
            cli_table_cell(table, "%lld", (long long)sum.count);
            cli_table_cell(table, "%.1f %%", 100.0 * sum.changed);
            cli_table_cell(table, "%.1f", sum.largest);
            cli_table_cell(table, "%lld", (long long)sum.unchanged);
        }
    }
    if (as_json) {
        px_json_end(&json);
        mutate_json_mutants(job, chain, &json);
        px_json_end(&json);
        return cli_print_json(self, &json);
    }
    cli_table_print_free(table, "");
    printf("%lld mutants of %lld inputs%s%s\n", (long long)job->record_count, (long long)job->count,
           path ? " in " : "", path ? path : "");
    return CLI_DONE;
}

static int mutate_run(const cli_command *self, int argc, char **argv)
{
    static cli_list texts; /* too large for the stack */
    const char *spec = NULL, *split = NULL, *size = NULL, *from = NULL, *path = NULL;
    const char *styles = NULL, *audio = NULL;
    int64_t limit = 0, offset = 0, seed = 0, each = 0;
    bool shuffle = false, one_of_each = false, chain = false, fresh = false;
    cli_output output = {0};
    const cli_option options[] = {
        CLI_STRING(0, "data", &spec, "SPEC", "the inputs; 'plexor list data' says what it takes"),
        CLI_STRING(
            0, "set", &from, "SET",
            "what to draw from: nss, deephunter, nsgen, nsgen+style or tensorfuzz, or a part "
            "as in nss:rotation,shear or deephunter:pixel; nss if nothing is said, audio for "
            "recordings; see 'plexor list mutations'"),
        CLI_STRING(0, "styles", &styles, "SPEC",
                   "a folder of pictures (or any data) whose colours and textures the mutation "
                   "'style' takes, instead of generated ones"),
        CLI_STRINGS(0, "mutation", &texts, "TEXT",
                    "this mutation instead, as in \"rotation angle=-17\"; may be given again for "
                    "more mutants of every input; see 'plexor list mutations'"),
        CLI_FLAG(0, "chain", &chain,
                 "apply the mutations given one after another, for one mutant of every input"),
        CLI_INT(0, "per", &each, "N", 0, MUTATE_EACH_MOST,
                "mutants drawn for every input; 0: one, on a sheet one of each mutation"),
        CLI_FLAG(0, "each", &one_of_each, "one mutant of each mutation of the set"),
        CLI_STRING(
            'o', "output", &path, "OUT",
            "a new folder (PNG or WAV files and index.csv, which is a data SPEC), FILE.npz, or "
            "FILE.png for a contact sheet; without it nothing is written"),
        CLI_FLAG(0, "fresh", &fresh, "in place of a folder that an earlier mutate made"),
        CLI_STRING(0, "split", &split, "NAME",
                   "which part, where the data have parts; test unless another is named"),
        CLI_INT(0, "limit", &limit, "N", 0, 9e15,
                "at most this many inputs; 0: all, on a sheet the first ten"),
        CLI_INT(0, "offset", &offset, "N", 0, 9e15, "leave out the first ones"),
        CLI_FLAG(0, "shuffle", &shuffle, "in an order given by --seed"),
        CLI_INT(0, "seed", &seed, "N", 0, 9e15, "of everything random"),
        CLI_STRING(0, "size", &size, "HxW", "resize images to this first"),
        CLI_STRING(0, "audio", &audio, "SETTINGS",
                   "of features of recordings: frames=64, ...; 'plexor list audio'"),
        CLI_OUTPUT_OPTIONS(&output),
        CLI_END,
    };
    texts.count = 0;
    const int stop = cli_parse(self, argc, argv, options, NULL, 0, 0);
    if (stop != CLI_GO)
        return stop;
    if (!cli_require(self, "data", spec))
        return CLI_BAD_INPUT;
    if (chain && texts.count < 2)
        return cli_usage_error(self, "--chain joins mutations: give --mutation at least twice");
    if (texts.count && (each || one_of_each))
        return cli_usage_error(self, "--per and --each are for sets, not for --mutation");
    if (each && one_of_each)
        return cli_usage_error(self, "--per and --each cannot both be given");

    px_error err = {0};
    px_dataset *set = NULL;
    px_text words = {0};
    const bool sheet = path && mutate_out_is_sheet(path);
    mutate job = {.chain = chain, .seed = (uint64_t)seed};
    job.one_of_each = one_of_each || (sheet && !each);
    const px_data_options data = {.split = split,
                                  .limit = limit   ? limit
                                           : sheet ? MUTATE_SHEET_INPUTS
                                                   : 0,
                                  .offset = offset,
                                  .shuffle = shuffle,
                                  .seed = (uint64_t)seed};
    px_status status = styles ? px_styles_open(styles, &job.styles, &err) : PX_OK;
    if (status == PX_OK)
        status = texts.count ? mutate_given(&job, &texts, &words, &err)
                             : px_mutations_parse(from ? from : "nss", &job.from, &err);
    if (status == PX_OK)
        status = mutate_open_data(spec, &data, size, audio, &set, &err);
    if (status == PX_OK && !texts.count && !from && px_dataset_audio(set))
        status = px_mutations_parse("audio", &job.from, &err);
    if (status == PX_OK && !texts.count)
        status = px_mutations_check(&job.from, set, &err);
    job.from.styles = job.styles;
    if (status == PX_OK) {
        job.set = set;
        job.count = px_dataset_count(set);
        job.each = chain             ? 1
                   : job.given       ? job.given_count
                   : job.one_of_each ? mutate_entries(&job.from)
                   : each            ? each
                                     : 1;
        const mutate_request request = {
            path, set, job.count, job.each, chain ? px_text_get(&words) : NULL, fresh};
        if (path)
            status = mutate_out_open(&request, &job.out, &err);
    }
    if (status == PX_OK)
        status = mutate_all(&job, &err);
    if (status == PX_OK && job.out)
        status = mutate_out_finish(job.out, job.records, job.record_count, &err);
    const int rc = status == PX_OK ? mutate_report(self, &job, chain ? px_text_get(&words) : NULL,
                                                   path, output.json)
                                   : cli_fail(self, &err);
    mutate_out_close(job.out);
    free(job.records);
    free(job.given);
    px_styles_free(job.styles);
    px_text_done(&words);
    px_dataset_close(set);
    return rc;
}

const cli_command cli_command_mutate = {
    .name = "mutate",
    .usage = "--data SPEC [--set SET | --mutation TEXT ...] [-o OUT] [options]",
    .help = "change pictures or recordings in ways that should leave their meaning alone",
    .details =
        "Mutants are 8-bit pictures of the size of their parents; the same seed gives the same "
        "bytes on every machine, whatever --limit and --offset are. The table says how many values "
        "changed, and by how many of 255 levels at most, on average. An NPZ has x, y, indices "
        "(of the parents in the data) and mutations (their texts as bytes, one a line). With one "
        "mutant per input the mutants are those that 'select --mutate' makes with the same "
        "seed.\n\n"
        "Recordings are changed as 16-bit samples. A folder gets WAV files to listen to, each with "
        "a "
        "picture of its features; an NPZ gets features; the table counts samples, and levels are "
        "255ths of full scale.",
    .examples = "plexor mutate --data fashion-mnist -o sheet.png\n"
                "plexor mutate --data photos/ --mutation \"rotation angle=-17\" "
                "--mutation \"blur size=5\" -o sheet.png\n"
                "plexor mutate --data digits --set nss --seed 1 -o candidates.npz\n"
                "plexor mutate --data digits --limit 100 --set deephunter:affine -o mutants/\n"
                "plexor mutate --data wavs/ --mutation \"audio-noise snr=20 seed=1\" -o listen/\n",
    .run = mutate_run,
};
