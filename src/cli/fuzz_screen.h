/* src/cli/fuzz_screen.h - what a running campaign shows: a screen on a terminal, else lines
 *
 *     fuzz_screen *screen = fuzz_screen_open("resnet20", threads);
 *     ... fuzz_screen_show(screen, report);       // from px_fuzz_options.progress, as often as
 * told fuzz_screen_close(screen);                  // before anything else is printed
 *
 * All goes to stderr: on a terminal a screen that is drawn at most ten times a second, otherwise a
 * line every five seconds, with --quiet nothing. One at a time.
 *
 * While a screen is drawn the cursor is hidden. It comes back with fuzz_screen_close(), when the
 * program exits, and on signals that end or suspend it; SIGINT and SIGTERM go on to what handled
 * them before, a second one ends the program.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_FUZZ_SCREEN_H
#define PLEXOR_FUZZ_SCREEN_H

#include <plexor/fuzz.h>

typedef struct fuzz_screen fuzz_screen;

/* `model` is copied; threads <= 0: one per core. NULL when out of memory, which the others take. */
fuzz_screen *fuzz_screen_open(const char *model, int threads);
/* Draws it if it is time to; always where report->stopped says that it is over. */
void fuzz_screen_show(fuzz_screen *screen, const px_fuzz_report *report);
/* The last frame stays, the cursor is below it. */
void fuzz_screen_close(fuzz_screen *screen);

#endif
