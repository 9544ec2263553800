/* src/cli/fuzz_figures.c - figures of a campaign in few columns */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fuzz_figures.h"

#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

_Static_assert(FUZZ_FIGURE >= CLI_NUMBER_TEXT, "cli_number() writes into figures");

const char *fuzz_short(int64_t value, char buffer[FUZZ_FIGURE])
{
    static const char prefixes[] = {'k', 'M', 'G', 'T', 'P', 'E'};
    if (value > -10000 && value < 100000) {
        snprintf(buffer, FUZZ_FIGURE, "%" PRId64, value);
        return buffer;
    }
    double scaled = (double)value / 1000;
    size_t i = 0;
    while (fabs(scaled) >= 999.5 && i + 1 < sizeof prefixes) {
        scaled /= 1000;
        i++;
    }
    const double size = fabs(scaled);
    snprintf(buffer, FUZZ_FIGURE, "%.*f%c",
             size < 9.995   ? 2
             : size < 99.95 ? 1
                            : 0,
             scaled, prefixes[i]);
    return buffer;
}

const char *fuzz_rate(double per_s, char buffer[FUZZ_FIGURE])
{
    if (!isfinite(per_s) || per_s < 0)
        snprintf(buffer, FUZZ_FIGURE, "-");
    else if (per_s >= 1e6)
        fuzz_short(per_s < 9e18 ? (int64_t)per_s : INT64_MAX, buffer);
    else if (per_s >= 99.95)
        cli_number((int64_t)(per_s + 0.5), buffer);
    else
        snprintf(buffer, FUZZ_FIGURE, "%.*f", per_s < 9.995 ? 2 : 1, per_s);
    return buffer;
}

const char *fuzz_share(int64_t part, int64_t whole, char buffer[FUZZ_FIGURE])
{
    if (whole > 0)
        snprintf(buffer, FUZZ_FIGURE, "%.1f%%", 100.0 * (double)part / (double)whole);
    else
        snprintf(buffer, FUZZ_FIGURE, "-");
    return buffer;
}

const char *fuzz_coverage(const px_coverage *coverage, char buffer[FUZZ_FIGURE])
{
    if (isnan(coverage->value))
        snprintf(buffer, FUZZ_FIGURE, "-");
    else if (coverage->total > 0)
        snprintf(buffer, FUZZ_FIGURE, "%.2f%%", 100.0 * coverage->value);
    else
        snprintf(buffer, FUZZ_FIGURE, "%.6g", coverage->value);
    return buffer;
}

static int64_t whole_seconds(double seconds)
{
    return !(seconds > 0) ? 0 : seconds < 1e15 ? (int64_t)seconds : (int64_t)1e15;
}

const char *fuzz_time(double seconds, char buffer[FUZZ_FIGURE])
{
    const int64_t s = whole_seconds(seconds), days = s / 86400;
    const int hours = (int)(s / 3600 % 24), minutes = (int)(s / 60 % 60), rest = (int)(s % 60);
    if (days > 0)
        snprintf(buffer, FUZZ_FIGURE, "%" PRId64 " day%s, %d hrs, %d min", days,
                 days == 1 ? "" : "s", hours, minutes);
    else if (hours > 0)
        snprintf(buffer, FUZZ_FIGURE, "%d hrs, %d min, %d sec", hours, minutes, rest);
    else
        snprintf(buffer, FUZZ_FIGURE, "%d min, %d sec", minutes, rest);
    return buffer;
}

const char *fuzz_time_short(double seconds, char buffer[FUZZ_FIGURE])
{
    const int64_t s = whole_seconds(seconds), days = s / 86400;
    const int hours = (int)(s / 3600 % 24), minutes = (int)(s / 60 % 60), rest = (int)(s % 60);
    if (days > 0)
        snprintf(buffer, FUZZ_FIGURE, "%" PRId64 "d %02d:%02d:%02d", days, hours, minutes, rest);
    else if (hours > 0)
        snprintf(buffer, FUZZ_FIGURE, "%d:%02d:%02d", hours, minutes, rest);
    else
        snprintf(buffer, FUZZ_FIGURE, "%d:%02d", minutes, rest);
    return buffer;
}
