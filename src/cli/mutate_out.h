/* src/cli/mutate_out.h - where `plexor mutate` puts mutants: a folder, an NPZ, a contact sheet */
#ifndef PLEXOR_CLI_MUTATE_OUT_H
#define PLEXOR_CLI_MUTATE_OUT_H

#include "cli/cli.h"

#include <plexor/mutate.h>
#include <plexor/picture.h>

typedef struct mutate_record {  /* one mutant */
    int64_t row, origin, label; /* row: of the data set */
    px_drawn drawn;             /* of a chain: its first link */
    px_change change;
    size_t size; /* values of the input: pixels, or samples */
} mutate_record;

typedef struct mutate_sound { /* a recording */
    const int16_t *samples;
    size_t count;
    const float *features; /* [frames, n_mels] */
} mutate_sound;

typedef struct mutate_out mutate_out;

typedef struct mutate_request {
    const char *path; /* as it ends: .npz, .png, or a folder */
    const px_dataset *set;
    int64_t count, each; /* inputs; mutants of each */
    const char *chain;   /* what all mutants went through; NULL: each its own */
    bool fresh;          /* in place of a folder that an earlier run made */
} mutate_request;

bool mutate_out_is_sheet(const char *path);

/* Files and folders appear when all is done. */
px_status mutate_out_open(const mutate_request *request, mutate_out **out, px_error *err);
/* Inputs in order, each with its mutants: planes of 8-bit values. */
px_status mutate_out_original(mutate_out *out, int64_t row, const uint8_t *planes, px_error *err);
px_status mutate_out_mutant(mutate_out *out, const mutate_record *record, const uint8_t *planes,
                            px_error *err);
/* The same for recordings: features on a sheet and in an NPZ; a WAV file and a picture of the
 * features in a folder. */
px_status mutate_out_original_sound(mutate_out *out, int64_t row, const mutate_sound *sound,
                                    px_error *err);
px_status mutate_out_mutant_sound(mutate_out *out, const mutate_record *record,
                                  const mutate_sound *sound, px_error *err);
px_status mutate_out_finish(mutate_out *out, const mutate_record *records, int64_t count,
                            px_error *err);
void mutate_out_close(mutate_out *out); /* NULL is fine; what was not finished is given up */

/* "rotation angle=-17.3": three digits, for people. */
const char *mutate_caption(const px_drawn *drawn, char *buffer, size_t size);

#endif
