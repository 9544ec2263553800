/* src/cli/check_print.h - an examination on a terminal */
#ifndef PLEXOR_CHECK_PRINT_H
#define PLEXOR_CHECK_PRINT_H

#include <plexor/check.h>

void check_print(const px_check *check);

#endif
