/* bench/caption_speed.c - a captioner trained and asked, for bench/captioner
 *
 *     caption_speed FEATURES.npy CAPTIONS.txt HIDDEN EPOCHS THREADS
 *
 * FEATURES is float32 (units, k, numbers), CAPTIONS has a line "UNIT TEXT" per caption. Prints one
 * line: seconds of the decoder, of the language model, of 100 phrases; words trained on by both;
 * processor seconds of training.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/captioner.h>
#include <plexor/data.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CAPTIONS = 1 << 16, ASKED = 100 };

static size_t read_captions(const char *path, px_caption *captions)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, count = 0;
    while (file && count < MOST_CAPTIONS && getline(&line, &room, file) > 0) {
        char *text = NULL;
        captions[count].unit = strtoul(line, &text, 10);
        captions[count++].text = strdup(text);
    }
    free(line);
    if (file)
        fclose(file);
    return count;
}

static px_status run(const px_caption_data *data, const px_captioner_options *options,
                     px_error *err)
{
    px_captioner *captioner = NULL;
    px_captioner_report report;
    char *texts[ASKED];
    const clock_t before = clock();
    PX_TRY(px_captioner_train(data, options, &captioner, &report, err));
    const double processor = (double)(clock() - before) / CLOCKS_PER_SEC;
    px_caption_decoding how = px_captioner_decoding(captioner);
    how.threads = options->threads;
    const size_t asked = data->units < ASKED ? data->units : ASKED;
    const double start = px_clock_s();
    const px_status status =
        px_captioner_describe(captioner, data->features, asked, &how, texts, NULL, err);
    if (status == PX_OK)
        printf("%.3f %.3f %.3f %lld %.3f\n", report.seconds, report.language_seconds,
               px_clock_s() - start, (long long)report.tokens, processor);
    for (size_t i = 0; status == PX_OK && i < asked; i++)
        free(texts[i]);
    px_captioner_free(captioner);
    return status;
}

int main(int argc, char **argv)
{
    static px_caption captions[MOST_CAPTIONS];
    px_error err = {0};
    px_tensor x = {0};
    if (argc < 6) {
        fputs("usage: caption_speed FEATURES.npy CAPTIONS.txt HIDDEN EPOCHS THREADS\n", stderr);
        return 2;
    }
    px_captioner_options options = px_captioner_options_default();
    options.hidden = options.attention = atoi(argv[3]);
    options.epochs = atoi(argv[4]);
    options.threads = atoi(argv[5]);
    options.held_out = 0.0; /* every epoch is run */
    px_status status = px_npy_load(argv[1], &x, &err);
    if (status == PX_OK && (x.dtype != PX_FLOAT32 || x.shape.rank != 3))
        status = px_fail(&err, PX_E_INPUT, "'%s': expected float32 of three axes", argv[1]);
    const size_t count = read_captions(argv[2], captions);
    if (status == PX_OK) {
        const px_caption_data data = {.features = x.data,
                                      .units = (size_t)x.shape.dim[0],
                                      .k = (size_t)x.shape.dim[1],
                                      .size = (size_t)x.shape.dim[2],
                                      .captions = captions,
                                      .caption_count = count};
        status = run(&data, &options, &err);
    }
    if (status != PX_OK)
        fprintf(stderr, "caption_speed: %s\n", err.message);
    for (size_t i = 0; i < count; i++)
        free((char *)captions[i].text);
    px_tensor_done(&x);
    return status == PX_OK ? 0 : 2;
}
