/* src/cli/cli_progress.c - a bar on a terminal, a line every few seconds elsewhere; and Ctrl-C */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <plexor/system.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double BAR_EVERY_S = 0.1, LINE_EVERY_S = 5.0;
enum { BAR_WIDTH = 30 };

static volatile sig_atomic_t interrupted; /* signals are the process's */

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

/* Of any thread that works for the call. */
static bool progress_cancelled(void *context)
{
    const px_call_io *io = ((const cli_call *)context)->io;
    if (!io)
        return interrupted != 0;
    return (io->stop && *io->stop != 0) || (io->cancelled && io->cancelled(io->context));
}

px_canceller cli_canceller(cli_call *call)
{
    return (px_canceller){progress_cancelled, call};
}

void cli_end_in_order(void)
{
    (void)px_cancel_here((px_canceller){0});
}

bool cli_interrupted(void)
{
    cli_call *call = cli_now();
    return call->stopped || progress_cancelled(call);
}

cli_progress cli_progress_start(const char *label)
{
    const char *term = getenv("TERM");
    const double now = px_clock_s();
    return (cli_progress){
        .label = label,
        .started = now,
        .shown = now,
        .terminal = !cli_now()->io && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
    };
}

const char *cli_duration(double seconds, char buffer[CLI_NUMBER_TEXT])
{
    const long s = seconds < 0 ? 0 : seconds > 3.5e6 ? 3500000 : (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(buffer, CLI_NUMBER_TEXT, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buffer, CLI_NUMBER_TEXT, "%ld:%02ld", s / 60, s % 60);
    return buffer;
}

static int progress_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void progress_bar(const cli_progress *p, double share, int width)
{
    if (width < 3) {
        fprintf(stderr, "\r%s ", p->label);
        return;
    }
    const bool colour = !getenv("NO_COLOR");
    const int filled = !(share > 0.0) ? 0 : share < 1.0 ? (int)(share * width) : width;
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < width; i++)
        bar[i] = i < filled ? '#' : '-';
    bar[width] = '\0';
    fprintf(stderr, "\r%s [%s%s%s] ", p->label, colour ? "\033[36m" : "", bar,
            colour ? "\033[0m" : "");
}

static void progress_draw(cli_progress *p, int64_t done, int64_t total, double now)
{
    char left[CLI_NUMBER_TEXT] = "?", rate_text[CLI_NUMBER_TEXT], a[CLI_NUMBER_TEXT],
         b[CLI_NUMBER_TEXT];
    const double rate = (double)done / (now - p->started + 1e-9);
    if (done > 0)
        cli_duration((double)(total - done) / rate, left);
    cli_metric(rate, rate_text);
    cli_number(done, a);
    cli_number(total, b);
    if (!p->terminal) {
        fprintf(stderr, "%s: %s of %s, %s/s, %s left\n", p->label, a, b, rate_text, left);
        return;
    }
    progress_bar(p, total > 0 ? (double)done / (double)total : 1.0, BAR_WIDTH);
    fprintf(stderr, "%s/%s  %s/s  %s left\033[K", a, b, rate_text, left);
    fflush(stderr);
    p->drawn = true;
}

bool cli_progress_due(const cli_progress *p)
{
    const cli_call *call = cli_now();
    const bool often = call->io ? call->io->progress != NULL : p->terminal;
    return !call->quiet && px_clock_s() - p->shown >= (often ? BAR_EVERY_S : LINE_EVERY_S);
}

bool cli_progress_tell(const char *label, int64_t done, int64_t total, const char *text)
{
    cli_call *call = cli_now();
    const px_call_progress progress = {sizeof progress, label, done, total, text};
    if (call->io && call->io->progress && !call->io->progress(call->io->context, &progress))
        call->stopped = true;
    return call->io != NULL;
}

void cli_progress_show(cli_progress *p, double share, const char *text)
{
    enum { PARTS = 1000 };
    p->shown = px_clock_s();
    if (cli_progress_tell(p->label, (int64_t)(share * PARTS), PARTS, text))
        return;
    if (!p->terminal) {
        fprintf(stderr, "%s: %s\n", p->label, text);
        return;
    }
    /* The words matter more than the bar: it gets what they leave of the line. */
    const int columns = progress_columns();
    const int left = columns - (int)strlen(p->label) - (int)strlen(text) - 5;
    progress_bar(p, share, left < 0 ? 0 : left < BAR_WIDTH ? left : BAR_WIDTH);
    const int room = columns - (int)strlen(p->label) - 5;
    fprintf(stderr, "%.*s\033[K", room > 0 ? room : 0, text);
    fflush(stderr);
    p->drawn = true;
}

bool cli_tick(void *words, int64_t done, int64_t total)
{
    cli_call *call = cli_now();
    cli_progress *p = &call->bar;
    if (!p->label || strcmp(p->label, words) != 0) {
        cli_bar_end();
        *p = cli_progress_start(words);
    }
    const bool last = done >= total && call->io && !call->quiet; /* a terminal's bar goes away */
    if (last || (done < total && cli_progress_due(p))) {
        p->shown = px_clock_s();
        if (!cli_progress_tell(p->label, done, total, NULL))
            progress_draw(p, done, total, p->shown);
    }
    if (done >= total)
        cli_bar_end();
    return !cli_interrupted();
}

bool cli_tick_step(void *context, const char *what, int64_t done, int64_t total)
{
    (void)context;
    return cli_tick(CLI_WORDS(what), done, total);
}

void cli_note_step(void *context, const char *sentence)
{
    (void)context;
    cli_note(cli_now()->command, "%s", sentence);
}

void cli_bar_end(void)
{
    cli_progress_end(&cli_now()->bar);
    cli_now()->bar.label = NULL;
}

void cli_progress_end(cli_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}
