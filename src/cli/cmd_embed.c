/* src/cli/cmd_embed.c - plexor embed TEXT [TEXT ...] [--encoder SPEC] */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/cli_fields.h"

#include <errno.h>
#include <internal/text_encoder.h>
#include <inttypes.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MOST = 64, HEAD = 4, SHOWN = 40, LINES_MOST = 1000000 };

typedef struct embed_lines { /* of a text, each ended by a NUL */
    char *text;
    const char **line;
    size_t count;
} embed_lines;

typedef struct embed_job {
    const cli_command *self;
    px_text_encoder *encoder;
    embed_lines captions, classes;
    const char *texts[TEXTS_MOST];
    int count;
    float *vectors; /* [count][size] */
    px_text_facts facts[TEXTS_MOST];
    double open_s;
    /* the result */
    const char *about;
    uint64_t id;
    size_t size; /* of a vector */
    double cosine[TEXTS_MOST * TEXTS_MOST];
    px_matrix cosines;
} embed_job;

/* --- lists of texts -------------------------------------------------------------------------- */

static void lines_done(embed_lines *lines)
{
    free(lines->text);
    free(lines->line);
}

/* Cuts the text at each `sep`; empty ones are left out. */
static px_status lines_cut(embed_lines *lines, char sep, px_error *err)
{
    size_t most = 1;
    for (const char *p = lines->text; *p; p++)
        most += *p == sep;
    PX_TRY(PX_NEW(lines->line, most, err));
    for (char *p = lines->text; p;) {
        char *stop = strchr(p, sep);
        if (stop)
            *stop = '\0';
        p[strcspn(p, "\r")] = '\0';
        if (p[strspn(p, " \t")])
            lines->line[lines->count++] = p;
        p = stop ? stop + 1 : NULL;
    }
    return PX_OK;
}

static px_status lines_read(const char *path, embed_lines *out, px_error *err)
{
    px_text text = {0};
    char block[8192];
    size_t got;
    FILE *file = fopen(path, "r");
    if (!file)
        return px_fail(err, PX_E_INPUT, "'%s' cannot be opened: %s", path, strerror(errno));
    while ((got = fread(block, 1, sizeof block, file)) > 0 && text.length < 256u << 20)
        px_text_add_bytes(&text, block, got);
    const bool broken = ferror(file) != 0, more = got > 0;
    fclose(file);
    const size_t length = text.length;
    out->text = px_text_take(&text);
    if (!out->text)
        return pxi_no_memory(err);
    if (broken)
        return px_fail(err, PX_E_IO, "'%s' cannot be read", path);
    if (more || strlen(out->text) != length)
        return px_fail(err, PX_E_INPUT, "'%s' is no text of captions, or more than 256 MiB", path);
    return lines_cut(out, '\n', err);
}

static px_status embed_lists(embed_job *job, const char *captions, const char *classes,
                             px_error *err)
{
    if (captions)
        PX_TRY(lines_read(captions, &job->captions, err));
    if (!classes)
        return PX_OK;
    job->classes.text = strdup(classes);
    return job->classes.text ? lines_cut(&job->classes, ',', err) : pxi_no_memory(err);
}

/* --- the work -------------------------------------------------------------------------------- */

static px_status embed_work(embed_job *job, px_text_encoder_options *options, px_error *err)
{
    options->captions = job->captions.line;
    options->caption_count = job->captions.count;
    options->classes = job->classes.line;
    options->class_count = job->classes.count;
    const double start = px_clock_s();
    PX_TRY(px_text_encoder_open(options, &job->encoder, err));
    job->open_s = px_clock_s() - start;
    const size_t size = px_text_encoder_size(job->encoder);
    PX_TRY(PX_NEW(job->vectors, (size_t)job->count * size, err));
    for (int i = 0; i < job->count; i++)
        PX_TRY(px_text_encoder_embed(job->encoder, job->texts[i], job->vectors + (size_t)i * size,
                                     &job->facts[i], err));
    return PX_OK;
}

static double embed_cosine(const embed_job *job, int i, int j)
{
    const size_t size = px_text_encoder_size(job->encoder);
    return px_text_cosine(job->vectors + (size_t)i * size, job->vectors + (size_t)j * size, size);
}

static void embed_remarks(const embed_job *job)
{
    for (int i = 0; i < job->count; i++) {
        const px_text_facts *f = &job->facts[i];
        if (f->dropped)
            cli_note(job->self,
                     "text %d is longer than the encoder reads: its last %" PRId64
                     " tokens were left out",
                     i + 1, f->dropped);
        if (f->tokens && f->unknown == f->tokens)
            cli_note(job->self,
                     "text %d: none of its words is known; its vector is made of letters only",
                     i + 1);
    }
}

/* --- what is printed ------------------------------------------------------------------------- */

typedef struct text_row {
    int64_t number; /* from 1 */
    const char *text;
    px_text_facts facts;
    const float *vector;
    size_t size;
    char shown[SHOWN + 8], head[16 * HEAD + 8]; /* the beginnings */
} text_row;

static const void *text_row_get(const void *of, size_t i, void *place)
{
    const embed_job *job = of;
    text_row *row = place;
    if (i >= (size_t)job->count)
        return NULL;
    *row = (text_row){.number = (int64_t)i + 1,
                      .text = job->texts[i],
                      .facts = job->facts[i],
                      .vector = job->vectors + i * job->size,
                      .size = job->size};
    for (size_t d = 0; d < HEAD && d < job->size; d++)
        snprintf(row->head + strlen(row->head), sizeof row->head - strlen(row->head), "%s%.4g",
                 d ? " " : "", (double)row->vector[d]);
    if (job->size > HEAD)
        strcat(row->head, " ...");
    const bool cut = strlen(row->text) > SHOWN;
    int shown = cut ? SHOWN : (int)strlen(row->text);
    while (cut && shown > 0 && ((unsigned char)row->text[shown] & 0xc0) == 0x80)
        shown--; /* not in the middle of a character */
    snprintf(row->shown, sizeof row->shown, "%.*s%s", shown, row->text, cut ? "..." : "");
    return row;
}

static const px_field text_fields[] = {
    PX_FIELD(text_row, number, NULL, NULL, .title = ""),
    PX_FIELD(text_row, text, "text", "as given"),
    PX_CHARS(text_row, shown, NULL, NULL, .title = "TEXT"),
    PX_FIELD(text_row, facts.tokens, "tokens", "that it has", .title = "TOKENS"),
    PX_FIELD(text_row, facts.unknown, "unknown", "tokens", .title = "UNKNOWN"),
    PX_FIELD(text_row, facts.dropped, "dropped", "tokens, as it is too long", .title = "DROPPED"),
    PX_VALUES(text_row, vector, size, "vector", "of the text"),
    PX_CHARS(text_row, head, NULL, NULL, .title = "VECTOR"),
    PX_FIELDS_END,
};

typedef struct cosine_row {
    int64_t number;
    const double *cosines;
    int count;
} cosine_row;

static const void *cosine_row_get(const void *of, size_t i, void *place)
{
    const embed_job *job = of;
    if (i >= (size_t)job->count)
        return NULL;
    *(cosine_row *)place =
        (cosine_row){(int64_t)i + 1, job->cosine + i * (size_t)job->count, job->count};
    return place;
}

static const px_field cosine_cell[] = {
    {.kind = PX_FIELD_REAL, .size = sizeof(double), .key = "", .format = "%.3f"}, PX_FIELDS_END};
static const px_field cosine_columns[] = {
    PX_FIELD(cosine_row, number, NULL, NULL, .title = "COSINE"),
    PX_LIST(cosine_row, cosines, count, cosine_cell, NULL, NULL, .title = "%s"),
    PX_FIELDS_END,
};

static const px_field embed_fields[] = {
    PX_FIELD(embed_job, about, "encoder", "what it is"),
    PX_HASH(embed_job, id, "id", "of its contents"),
    PX_FIELD(embed_job, size, "size", "of a vector"),
    PX_FIELD(embed_job, open_s, "open_s", "to open or train it", .unit = "s"),
    PX_LIST_MADE(text_row_get, text_fields, "texts", "as given"),
    PX_FIELD(embed_job, cosines, "cosines", "of each text with each"),
    PX_LIST_MADE(cosine_row_get, cosine_columns, NULL, NULL, .title = "cosines, a row each"),
    PX_FIELDS_END,
};

static void embed_print(const void *of)
{
    const embed_job *job = of;
    cli_print("%s\n", job->about);
    cli_print_list(embed_fields, "texts", job, "", 0);
    if (job->count > 1)
        cli_print_list(embed_fields, "cosines, a row each", job, "", 0);
}

/* What follows from the vectors. */
static void embed_sum(embed_job *job)
{
    const size_t count = (size_t)job->count;
    job->about = px_text_encoder_describe(job->encoder);
    job->id = px_text_encoder_id(job->encoder);
    job->size = px_text_encoder_size(job->encoder);
    for (size_t i = 0; i < count * count; i++)
        job->cosine[i] = embed_cosine(job, (int)(i / count), (int)(i % count));
    job->cosines = (px_matrix){.values = job->cosine, .rows = count, .columns = count};
}

/* --- the command ----------------------------------------------------------------------------- */

static int embed_run(const cli_command *self, int argc, char **argv)
{
    px_text_encoder_options o = px_text_encoder_options_default();
    embed_job job = {.self = self};
    const char *captions = NULL, *classes = NULL;
    int64_t dimensions = o.dimensions, seed = 0;
    const cli_option options[] = {
        CLI_STRING(0, "encoder", &o.spec, "SPEC",
                   "ppmi (the default), glove:FILE, fasttext:FILE or onnx:FILE"),
        CLI_STRING(0, "pool", &o.pool, "NAME",
                   "how words become a text: sif or mean; of a network eot, mean, cls or last"),
        CLI_STRING(0, "captions", &captions, "FILE",
                   "what texts will be made of, one per line: learnt from, and for what all texts "
                   "have in common"),
        CLI_STRING(0, "classes", &classes, "LIST", "class names, with commas between them"),
        CLI_STRING(0, "glosses", &o.glosses, "FILE",
                   "more of what words mean: 'word: attribute, attribute' per line"),
        CLI_INT(0, "dimensions", &dimensions, "N", 1, 1024, "of ppmi"),
        CLI_INT(0, "words", &o.most_words, "N", 0, 9e15,
                "of a text file of vectors, the first so many rows; 0: all"),
        CLI_STRING(0, "tokenizer", &o.tokenizer, "NAME",
                   "of a network: clip, gpt2, roberta or wordpiece; told from its files unless "
                   "given"),
        CLI_STRING(0, "vocabulary", &o.vocabulary, "FILE",
                   "vocab.json or vocab.txt; the one beside the network unless given"),
        CLI_STRING(0, "merges", &o.merges, "FILE",
                   "merges.txt; the one beside the network unless given"),
        CLI_STRING(0, "tensor", &o.output, "NAME", "which output of the network"),
        CLI_FLAG(0, "cased", &o.cased, "wordpiece: leave capitals and accents as they are"),
        CLI_INT(0, "length", &o.length, "N", 0, 65536,
                "most tokens of a network; 0: its own, or what its kind has"),
        CLI_INT(0, "seed", &seed, "N", 0, 9e15, "of everything random"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(cli_parse(self, argc, argv, options, job.texts, 1, TEXTS_MOST));
    while (job.count < TEXTS_MOST && job.texts[job.count])
        job.count++;
    o.dimensions = (int)dimensions;
    o.seed = (uint64_t)seed;
    px_error err = {0};
    px_status status = embed_lists(&job, captions, classes, &err);
    PX_THEN(status, embed_work(&job, &o, &err));
    if (status == PX_OK) {
        embed_remarks(&job);
        embed_sum(&job);
    }
    const int rc = cli_answer(self, status, &err, &job, embed_print);
    px_text_encoder_free(job.encoder);
    free(job.vectors);
    lines_done(&job.captions);
    lines_done(&job.classes);
    return rc;
}

const cli_command cli_command_embed = {
    .name = "embed",
    .usage = "TEXT [TEXT ...] [--encoder SPEC] [options]",
    .help = "texts as vectors, and how near they are to each other",
    .details =
        "Tries a text encoder: how many tokens a text has, how many of them are unknown, the head "
        "of its vector, and the cosines between texts. The default learns from glosses that come "
        "with plexor and from --captions and --classes. It is a bag of words: order does not "
        "matter, and words are near each other where a gloss says so. Vectors of other people are "
        "read from GloVe's and fastText's files and from ONNX encoders with their tokenisers.",
    .examples =
        "plexor embed 'red regions' 'orange regions' 'blue regions'\n"
        "plexor embed 'a photo of a cat' 'a photo of a dog' --encoder glove:glove.6B.50d.txt\n"
        "plexor embed 'a photo of a cat' --encoder onnx:clip/text.onnx --json\n",
    .run = embed_run,
    .result = embed_fields,
};
