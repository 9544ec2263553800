/* src/cli/minimize_print.h - what `plexor minimize` has to say */
#ifndef PLEXOR_MINIMIZE_PRINT_H
#define PLEXOR_MINIMIZE_PRINT_H

#include "cli/cli.h"

#include <plexor/minimize.h>

/* `cover` may be NULL; `to` is where they were written; NULL: nowhere. */
void minimize_print_inputs(const px_minimized *few, const px_cover *cover, const char *to);
void minimize_json_inputs(const px_minimized *few, const px_cover *cover, px_json *json);

void minimize_print_faults(const px_shrunk_fault *faults, size_t count, const char *to);
void minimize_json_faults(const px_shrunk_fault *faults, size_t count, px_json *json);

#endif
