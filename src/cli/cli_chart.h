/* src/cli/cli_chart.h - bars on a terminal
 *
 *     const cli_bar bars[] = {{"nc", 0.92, "92.0%"}, {"kmnc", 0.61, "61.3%"}};
 *     cli_chart_print(bars, 2, &(cli_chart_look){.most = 1, .indent = "  "});
 *
 *       nc    92.0%  ███████████████████████████████████████████████████▌
 *       kmnc  61.3%  ██████████████████████████████████▎
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_CHART_H
#define PLEXOR_CLI_CHART_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_bar {
    const char *name;
    double value;     /* below 0 and NaN: no bar; beyond the most: a full one */
    const char *text; /* the value in words; NULL: up to four digits of it */
} cli_bar;

typedef enum cli_charset { CLI_CHARSET_LOCALE, CLI_CHARSET_ASCII, CLI_CHARSET_UTF8 } cli_charset;

typedef struct cli_chart_look { /* {0}: all defaults */
    double most;                /* the value of a full bar; 0: the largest of them */
    int width;                  /* columns in all; 0: the terminal's, 80 where there is none */
    const char *indent;         /* NULL: none */
    cli_charset charset; /* blocks in eighths of a column, or # where the locale has no UTF-8 */
} cli_chart_look;

/* The lines, which the caller frees; NULL when out of memory. `look` may be NULL. */
char *cli_chart_text(const cli_bar *bars, size_t count, const cli_chart_look *look);
/* To standard output; nothing when out of memory. */
void cli_chart_print(const cli_bar *bars, size_t count, const cli_chart_look *look);

bool cli_locale_is_utf8(void);

#endif
