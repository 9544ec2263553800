/* src/base/param_texts.h - settings as texts, of whatever has a table of them */
#ifndef PXI_BASE_PARAM_TEXTS_H
#define PXI_BASE_PARAM_TEXTS_H

#include <plexor/param.h>
#include <stddef.h>

typedef struct pxi_settings { /* the table of one criterion, selector, ... */
    const char *id;
    const px_param *table;
    size_t count;
} pxi_settings;

typedef struct pxi_settings_family { /* all that texts may name */
    const char *noun, *list;         /* "criterion", "criteria": as in 'plexor list criteria' */
    const char *example;             /* "kmnc.k=1000" */
    size_t (*count)(void);
    pxi_settings (*get)(size_t i);
} pxi_settings_family;

void pxi_settings_fallback(const pxi_settings *own, double *values);
/* One text "id.name=value". Another member's is checked and changes nothing; `own` may be one that
 * the family does not have: a test's. */
px_status pxi_settings_apply(const pxi_settings_family *family, const pxi_settings *own,
                             const char *text, double *values, px_error *err);
/* "k=1000 variant=ceil"; the caller frees it, NULL when out of memory. */
char *pxi_settings_text(const pxi_settings *own, const double *values);

#endif
