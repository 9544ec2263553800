/* src/cli/explain_print.h - what plexor explain found, for people, programs and the eye */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_EXPLAIN_PRINT_H
#define PLEXOR_CLI_EXPLAIN_PRINT_H

#include "cli/cli_fields.h"
#include "cli/cli_paths.h"

enum { EXPLAIN_IMAGES = 2 };

typedef struct explain_image {
    const char *given; /* the user's word for it */
    cli_inputs inputs;
    int64_t index, label; /* label -1: none */
    char name[256];
    float *pixels; /* as the data have them, CHW */
    float *row;    /* the network's input */
    px_path path;
    double *contributions; /* of every unit, layer after layer */
    px_text text;          /* its sentence */
} explain_image;

typedef struct explain_result {
    cli_origin origin;
    const char *picture; /* file of a sheet; NULL: none */
    const px_model *model;
    const px_path_tools *tools;
    explain_image image[EXPLAIN_IMAGES];
    int count;
    bool compared[PX_PATH_MODE_COUNT]; /* which modes there is a similarity of */
    double similarity[PX_PATH_MODE_COUNT];
    const px_threshold *threshold; /* NULL: not calibrated */
    px_path_map map;
} explain_result;

extern const px_field explain_fields[];
cli_print_fn explain_print;

/* A sheet with a row per image: the picture itself, then the map of each layer over it. */
px_status explain_sheet(const explain_result *result, const char *path, px_error *err);

/* Whether red, green and blue are the same everywhere: words for colours say nothing about it. */
bool explain_is_grey(const explain_image *image);

#endif
