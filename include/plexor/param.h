/* include/plexor/param.h - one setting of a criterion, a selector, an attack, ... */
#ifndef PLEXOR_PARAM_H
#define PLEXOR_PARAM_H

#include <plexor/error.h>
#include <stdbool.h>

PX_BEGIN_DECLS

typedef struct px_param {
    const char *name;
    double fallback, least, most;
    bool integer;
    const char *const *choices; /* NULL-terminated: the value is an index into it; NULL: a number */
    const char *help;
    bool none; /* the word "none" is taken too, and means infinity */
} px_param;

PX_END_DECLS
#endif
