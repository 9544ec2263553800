/* src/cli/cli_progress.c - a bar on a terminal, a line every few seconds elsewhere; and Ctrl-C */
#include "cli/cli.h"

#include <plexor/system.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double BAR_EVERY_S = 0.1, LINE_EVERY_S = 5.0;
enum { BAR_WIDTH = 30 };

static volatile sig_atomic_t interrupted;

static void signal_caught(int number)
{
    (void)number;
    interrupted = 1;
}

void cli_catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = signal_caught;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART; /* the second one ends at once */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

cli_progress cli_progress_start(const char *label)
{
    const char *term = getenv("TERM");
    const double now = px_clock_s();
    return (cli_progress){
        .label = label,
        .started = now,
        .shown = now,
        .terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
    };
}

static void progress_time(double seconds, char buffer[CLI_NUMBER_TEXT])
{
    const long s = seconds < 0 ? 0 : seconds > 3.5e6 ? 3500000 : (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(buffer, CLI_NUMBER_TEXT, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buffer, CLI_NUMBER_TEXT, "%ld:%02ld", s / 60, s % 60);
}

static void progress_draw(cli_progress *p, int64_t done, int64_t total, double now)
{
    char left[CLI_NUMBER_TEXT] = "?", rate_text[CLI_NUMBER_TEXT], a[CLI_NUMBER_TEXT],
         b[CLI_NUMBER_TEXT];
    const double rate = (double)done / (now - p->started + 1e-9);
    if (done > 0)
        progress_time((double)(total - done) / rate, left);
    cli_metric(rate, rate_text);
    cli_number(done, a);
    cli_number(total, b);
    if (!p->terminal) {
        fprintf(stderr, "%s: %s of %s, %s/s, %s left\n", p->label, a, b, rate_text, left);
        return;
    }
    const bool colour = !getenv("NO_COLOR");
    const int filled = total > 0 ? (int)(done * BAR_WIDTH / total) : BAR_WIDTH;
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '-';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s%s%s] %s/%s  %s/s  %s left\033[K", p->label, colour ? "\033[36m" : "",
            bar, colour ? "\033[0m" : "", a, b, rate_text, left);
    fflush(stderr);
    p->drawn = true;
}

bool cli_progress_tick(void *progress, int64_t done, int64_t total)
{
    cli_progress *p = progress;
    const double now = px_clock_s();
    if (!cli_quiet && done < total &&
        now - p->shown >= (p->terminal ? BAR_EVERY_S : LINE_EVERY_S)) {
        p->shown = now;
        progress_draw(p, done, total, now);
    }
    return !interrupted;
}

void cli_progress_end(cli_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}
