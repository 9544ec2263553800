/* src/cli/modes_print.h - failure modes in words */
#ifndef PLEXOR_MODES_PRINT_H
#define PLEXOR_MODES_PRINT_H

#include <plexor/modes.h>

/* The `most` worst ones that fail at all, a line each; nothing where there are none. Sorts. */
void modes_print(px_mode *modes, size_t count, size_t most);

#endif
