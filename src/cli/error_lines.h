/* src/cli/error_lines.h - errors of a campaign as DeepSensor counts them (paper 003) */
#ifndef PLEXOR_CLI_ERROR_LINES_H
#define PLEXOR_CLI_ERROR_LINES_H

#include <plexor/json.h>
#include <plexor/store.h>

enum { ERROR_LINES_MOST = 4, ERROR_LINE_REMARK = 120 };

typedef struct error_line {
    const char *what;
    int64_t value;
    char remark[ERROR_LINE_REMARK];
} error_line;

/* For a table; returns how many. None where there are no examples yet. */
int error_lines(const px_error_counts *errors, error_line lines[ERROR_LINES_MOST]);
/* The object "errors". */
void error_lines_json(const px_error_counts *errors, px_json *json);

#endif
