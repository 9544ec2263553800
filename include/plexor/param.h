/* include/plexor/param.h - settings: their names, what they may be, and where they lie
 *
 *     typedef struct nc_config {
 *         double t;
 *         int variant;
 *     } nc_config;
 *     static const px_param nc_params[] = {
 *         PX_PARAM_REAL(nc_config, t, 0.5, -1e30, 1e30, "a neuron counts once it was above this"),
 *         PX_PARAM_CHOICE(nc_config, variant, 0, nc_variants, "what is compared with t"),
 *         PX_PARAM_END,
 *     };
 *
 * A table describes the members of a struct. Texts are read into the struct and printed from it by
 * the table ("nc.t=0.25"), and 'plexor list', help and JSON show it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PARAM_H
#define PLEXOR_PARAM_H

#include <plexor/error.h>
#include <stdbool.h>
#include <stddef.h>

PX_BEGIN_DECLS

typedef enum px_param_type {
    PX_TYPE_REAL,  /* double */
    PX_TYPE_INT,   /* int or int64_t */
    PX_TYPE_CHOICE /* int, an enum or bool: an index into the choices */
} px_param_type;

typedef struct px_param {
    const char *name; /* NULL: the end of a table */
    double def, min, max;
    px_param_type type;
    const char *const *choices; /* NULL-terminated; NULL: a number */
    const char *help;
    bool none;           /* the word "none" is taken too, and means infinity; only for reals */
    size_t offset, size; /* of the member */
} px_param;

/* The same under another name than the member's. */
#define PX_PARAM_MEMBER(config, member) \
    .offset = offsetof(config, member), .size = sizeof(((config *)0)->member)
#define PX_PARAM_REAL_AS(id, config, member, default_, min_, max_, help_)               \
    {                                                                                   \
        .name = (id), .def = (default_), .min = (min_), .max = (max_), .help = (help_), \
        PX_PARAM_MEMBER(config, member)                                                 \
    }
#define PX_PARAM_INT_AS(id, config, member, default_, min_, max_, help_)                    \
    {                                                                                       \
        .name = (id), .def = (default_), .min = (min_), .max = (max_), .type = PX_TYPE_INT, \
        .help = (help_), PX_PARAM_MEMBER(config, member)                                    \
    }
#define PX_PARAM_CHOICE_AS(id, config, member, default_, choices_, help_)               \
    {                                                                                   \
        .name = (id), .def = (default_), .type = PX_TYPE_CHOICE, .choices = (choices_), \
        .help = (help_), PX_PARAM_MEMBER(config, member)                                \
    }

#define PX_PARAM_REAL(config, member, default_, min_, max_, help_) \
    PX_PARAM_REAL_AS(#member, config, member, default_, min_, max_, help_)
#define PX_PARAM_INT(config, member, default_, min_, max_, help_) \
    PX_PARAM_INT_AS(#member, config, member, default_, min_, max_, help_)
#define PX_PARAM_CHOICE(config, member, default_, choices_, help_) \
    PX_PARAM_CHOICE_AS(#member, config, member, default_, choices_, help_)
/* yes or no, no by default, in a bool */
#define PX_PARAM_FLAG(config, member, help_) \
    PX_PARAM_CHOICE_AS(#member, config, member, 0, px_no_yes, help_)
#define PX_PARAM_END \
    {                \
        .name = NULL \
    }

PX_API extern const char *const px_no_yes[]; /* "no", "yes", NULL */

/* "k=1000 variant=ceil"; the caller frees it, NULL when out of memory. */
PX_API char *px_params_text(const px_param *params, const void *config);

PX_END_DECLS
#endif
