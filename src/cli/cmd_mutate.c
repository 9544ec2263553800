/* src/cli/cmd_mutate.c - plexor mutate --data SPEC [--set SET | --mutation TEXT ...] -o OUT */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"

#include <internal/mutants.h>
#include <internal/mutate.h>
#include <internal/preprocess.h>
#include <stdio.h>

enum { MUTATE_SHEET_INPUTS = 10, MUTATE_EACH_MOST = 1000 };

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
    return px_dataset_open(spec, &wanted, out, err);
}

/* --- what is said ---------------------------------------------------------------------------- */

typedef struct mutate_report {
    const px_mutants_options *o;
    px_mutants made;
    const char *data;
    int64_t seed;
} mutate_report;

typedef struct mutant_row {
    const px_mutant *mutant;
    const char *mutation;
    int64_t l0;
    int linf;
    char name[256], text[PX_DRAWN_TEXT];
} mutant_row;

static const void *mutant_get(const void *of, size_t i, void *place)
{
    const mutate_report *r = of;
    mutant_row *row = place;
    if (i >= (size_t)r->made.count)
        return NULL;
    const px_mutant *m = row->mutant = &r->made.items[i];
    row->mutation = r->made.chain ? r->made.chain : px_drawn_text(&m->drawn, row->text);
    row->l0 = (int64_t)m->change.l0;
    row->linf = m->change.linf;
    px_dataset_name(r->o->set, m->row, row->name, sizeof row->name);
    return row;
}

typedef struct mutation_row { /* the mutants of one mutation */
    const char *name;
    px_mutants_sum sum;
    char changed[CLI_NUMBER_TEXT]; /* for people */
} mutation_row;

static const void *mutation_get(const void *of, size_t i, void *place)
{
    const mutate_report *r = of;
    mutation_row *row = place;
    for (size_t k = 0; k < px_mutation_count(); k++) {
        row->sum = px_mutants_add(&r->made, px_mutation_get(k));
        if (row->sum.count == 0 || i-- > 0)
            continue;
        row->name = r->made.chain ? r->made.chain : px_mutation_get(k)->entry.id;
        snprintf(row->changed, sizeof row->changed, "%.1f %%", 100.0 * row->sum.changed);
        return row;
    }
    return NULL;
}

static const px_field mutation_fields[] = {
    PX_FIELD(mutation_row, name, "mutation", "its id, or the chain", .title = "MUTATION"),
    PX_FIELD(mutation_row, sum.count, "count", "mutants", .title = "MUTANTS"),
    PX_FIELD(mutation_row, sum.changed, "changed", "share of values that differ, on average",
             .unit = PX_SHARE),
    PX_CHARS(mutation_row, changed, NULL, NULL, .title = "VALUES CHANGED", .align = 'r'),
    PX_FIELD(mutation_row, sum.largest, "largest", "difference in levels, on average",
             .title = "LARGEST CHANGE", .format = "%.1f"),
    PX_FIELD(mutation_row, sum.unchanged, "unchanged", "mutants that are the original",
             .title = "UNCHANGED"),
    PX_FIELDS_END,
};

static const px_field origin_fields[] = {
    PX_FIELD(px_mutant, origin, "index", "of the input in its source"),
    PX_FIELDS_END,
};
static const px_field label_fields[] = {
    PX_INDEX(px_mutant, label, "label", "of the input", .optional = true),
    PX_FIELDS_END,
};

static const px_field mutant_fields[] = {
    PX_OBJECT_AT(mutant_row, mutant, origin_fields, ""),
    PX_CHARS(mutant_row, name, "name", "of the input"),
    PX_OBJECT_AT(mutant_row, mutant, label_fields, ""),
    PX_FIELD(mutant_row, mutation, "mutation", "that it went through, or the chain"),
    PX_FIELD(mutant_row, l0, "l0", "values that differ"),
    PX_FIELD(mutant_row, linf, "linf", "largest difference, in levels of 255"),
    PX_FIELDS_END,
};

static const px_field output_fields[] = {
    PX_FIELD(px_mutants_options, path, "output", "where they are; null: nowhere"),
    PX_FIELDS_END,
};

static const px_field mutate_fields[] = {
    PX_FIELD(mutate_report, data, "data", "what was read"),
    PX_FIELD(mutate_report, made.inputs, "inputs", "that mutants were made of"),
    PX_FIELD(mutate_report, made.count, "count", "mutants"),
    PX_FIELD(mutate_report, seed, "seed", "of everything random"),
    PX_OBJECT_AT(mutate_report, o, output_fields, ""),
    PX_MAP_MADE(mutation_get, mutation_fields, "mutations", "what they did"),
    PX_LIST_MADE(mutant_get, mutant_fields, "mutants", "each of them"),
    PX_FIELDS_END,
};

static void mutate_print(const void *of)
{
    const mutate_report *r = of;
    cli_print_list(mutate_fields, "mutations", r, "", 0);
    cli_print("%lld mutants of %lld inputs%s%s\n", (long long)r->made.count,
              (long long)r->made.inputs, r->o->path ? " in " : "", r->o->path ? r->o->path : "");
}

static int mutate_run(const cli_command *self, int argc, char **argv)
{
    cli_list texts = {0};
    const char *spec = NULL, *split = NULL, *size = NULL, *pictures = NULL, *audio = NULL;
    int64_t limit = 0, offset = 0, seed = 0;
    bool shuffle = false;
    px_mutants_options o = px_mutants_options_default();
    const cli_option options[] = {
        CLI_STRING(0, "data", &spec, "SPEC", "the inputs; 'plexor list data' says what it takes"),
        CLI_STRING(
            0, "set", &o.from, "SET",
            "what to draw from: nss, deephunter, nsgen, nsgen+style or tensorfuzz, or a part "
            "as in nss:rotation,shear or deephunter:pixel; nss if nothing is said, audio for "
            "recordings; see 'plexor list mutations'"),
        CLI_STRING(0, "styles", &pictures, "SPEC",
                   "a folder of pictures (or any data) whose colours and textures the mutation "
                   "'style' takes, instead of generated ones"),
        CLI_STRINGS(0, "mutation", &texts, "TEXT",
                    "this mutation instead, as in \"rotation angle=-17\"; may be given again for "
                    "more mutants of every input; see 'plexor list mutations'"),
        CLI_FLAG(0, "chain", &o.chain,
                 "apply the mutations given one after another, for one mutant of every input"),
        CLI_INT(0, "per", &o.each, "N", 0, MUTATE_EACH_MOST,
                "mutants drawn for every input; 0: one, on a sheet one of each mutation"),
        CLI_FLAG(0, "each", &o.one_of_each, "one mutant of each mutation of the set"),
        CLI_STRING(
            'o', "output", &o.path, "OUT",
            "a new folder (PNG or WAV files and index.csv, which is a data SPEC), FILE.npz, or "
            "FILE.png for a contact sheet; without it nothing is written"),
        CLI_FLAG(0, "fresh", &o.fresh, "in place of a folder that an earlier mutate made"),
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
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, NULL, 0, 0));
    CLI_TRY(cli_require(self, "data", spec));
    if (o.chain && texts.count < 2)
        return cli_usage_error(self, "--chain joins mutations: give --mutation at least twice");
    if (texts.count && (o.each || o.one_of_each))
        return cli_usage_error(self, "--per and --each are for sets, not for --mutation");
    if (o.each && o.one_of_each)
        return cli_usage_error(self, "--per and --each cannot both be given");

    px_error err = {0};
    px_dataset *set = NULL;
    px_styles *styles = NULL;
    mutate_report report = {.o = &o};
    const bool sheet = o.path && px_mutants_is_sheet(o.path);
    const px_data_options data = {.split = split,
                                  .limit = limit   ? limit
                                           : sheet ? MUTATE_SHEET_INPUTS
                                                   : 0,
                                  .offset = offset,
                                  .shuffle = shuffle,
                                  .seed = (uint64_t)seed};
    o.given = texts.item;
    o.given_count = (size_t)texts.count;
    o.one_of_each |= sheet && !o.each && !texts.count;
    o.seed = (uint64_t)seed;
    o.progress = cli_tick;
    o.context = CLI_WORDS("mutate");
    px_status status = pictures ? px_styles_open(pictures, &styles, &err) : PX_OK;
    PX_THEN(status, mutate_open_data(spec, &data, size, audio, &set, &err));
    o.set = set;
    o.styles = styles;
    PX_THEN(status, px_mutants_make(&o, &report.made, &err));
    report.data = status == PX_OK ? px_dataset_describe(set) : NULL;
    report.seed = seed;
    const int rc = cli_answer(self, status, &err, &report, mutate_print);
    px_mutants_done(&report.made);
    px_styles_free(styles);
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
        "changed, and by how many of 255 levels at most, on average. An NPZ has x, y, indices (of "
        "the parents in the data) and mutations (their texts as bytes, one a line). With one "
        "mutant per input the mutants are those that 'select --mutate' makes with the same "
        "seed.\n\n"
        "Recordings are changed as 16-bit samples. A folder gets WAV files to listen to, each with "
        "a picture of its features; an NPZ gets features; the table counts samples, and levels are "
        "255ths of full scale.",
    .examples = "plexor mutate --data fashion-mnist -o sheet.png\n"
                "plexor mutate --data photos/ --mutation \"rotation angle=-17\" "
                "--mutation \"blur size=5\" -o sheet.png\n"
                "plexor mutate --data digits --set nss --seed 1 -o candidates.npz\n"
                "plexor mutate --data digits --limit 100 --set deephunter:affine -o mutants/\n"
                "plexor mutate --data wavs/ --mutation \"audio-noise snr=20 seed=1\" -o listen/\n",
    .run = mutate_run,
    .result = mutate_fields,
};
