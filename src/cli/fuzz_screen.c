/* src/cli/fuzz_screen.c - what a running campaign shows: a screen on a terminal, else lines */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fuzz_screen.h"

#include "cli/cli.h"
#include "cli/cli_chart.h"
#include "cli/fuzz_panel.h"

#include <errno.h>
#include <plexor/system.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double FRAME_EVERY_S = 0.1, LINE_EVERY_S = 5.0;
enum { PATIENCE_MS = 1000 }; /* with a terminal that takes no bytes */

struct fuzz_screen {
    fuzz_about about;
    char *model;
    bool terminal, colour;
    double shown_s;
    term_cells shown, next;
    px_text bytes;
};

/* --- the terminal's state, also for signal handlers ------------------------------------------ */

static volatile sig_atomic_t drawing;  /* the cursor is hidden, and there are rows to step over */
static volatile sig_atomic_t repaint;  /* the terminal may show something else by now */
static volatile sig_atomic_t rest_row; /* where the cursor is, from 1 */

static const struct {
    int number;
    bool asks; /* first time: the handler that was there decides */
} SIGNALS[] = {
    {SIGINT, true},   {SIGTERM, true},  {SIGHUP, false},  {SIGQUIT, false},
    {SIGABRT, false}, {SIGSEGV, false}, {SIGBUS, false},  {SIGFPE, false},
    {SIGILL, false},  {SIGTSTP, false}, {SIGCONT, false},
};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0] };
static struct sigaction before[SIGNAL_COUNT];
static bool taken[SIGNAL_COUNT];

/* Shows the cursor again, on a line of its own; safe in a handler. */
static void terminal_restore(void)
{
    if (!drawing)
        return;
    drawing = 0;
    char bytes[48] = "\033[0m\033[", digits[12];
    size_t count = strlen(bytes), length = 0;
    for (int row = rest_row > 0 ? (int)rest_row : 1; row > 0; row /= 10)
        digits[length++] = (char)('0' + row % 10);
    while (length > 0)
        bytes[count++] = digits[--length];
    static const char end[] = ";1H\033[?25h\n";
    memcpy(bytes + count, end, sizeof end - 1);
    count += sizeof end - 1;
    const int saved = errno;
    const ssize_t written = write(STDERR_FILENO, bytes, count);
    (void)written; /* nobody is left to be told */
    errno = saved;
}

static void signal_pass(int number, int at)
{
    const int saved = errno;
    if (number == SIGCONT) {
        repaint = 1; /* the next frame hides the cursor again */
    } else if (SIGNALS[at].asks && before[at].sa_handler != SIG_DFL &&
               before[at].sa_handler != SIG_IGN) {
        void (*handler)(int) = before[at].sa_handler;
        before[at].sa_handler = SIG_DFL; /* the second one ends at once */
        handler(number);
    } else {
        terminal_restore();
        struct sigaction end = {.sa_handler = SIG_DFL}, ours;
        sigaction(number, &end, &ours);
        sigset_t set, old;
        sigemptyset(&set);
        sigaddset(&set, number);
        raise(number);
        pthread_sigmask(SIG_UNBLOCK, &set, &old); /* it comes here: the end, or a pause */
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        sigaction(number, &ours, NULL);
    }
    errno = saved;
}

static void signal_caught(int number)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (SIGNALS[i].number == number)
            signal_pass(number, i);
}

/* What is ignored (under nohup) stays so; what a sanitizer handles is its own. */
static bool signal_is_ours(int at)
{
    return before[at].sa_handler == SIG_DFL ||
           (SIGNALS[at].asks && before[at].sa_handler != SIG_IGN);
}

static void signals_take(void)
{
    struct sigaction action = {.sa_handler = signal_caught, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        sigaction(SIGNALS[i].number, NULL, &before[i]);
        taken[i] = signal_is_ours(i);
        if (taken[i])
            sigaction(SIGNALS[i].number, &action, NULL);
    }
}

static void signals_give_back(void)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (taken[i])
            sigaction(SIGNALS[i].number, &before[i], NULL);
}

/* --- drawing --------------------------------------------------------------------------------- */

/* One write(2) as a rule; the rest of it where the terminal is slow. */
static bool terminal_write(const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t done = write(STDERR_FILENO, bytes, count);
        if (done > 0) {
            bytes += done;
            count -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) {
            struct pollfd wait = {.fd = STDERR_FILENO, .events = POLLOUT};
            if (poll(&wait, 1, PATIENCE_MS) == 0)
                return false;
        } else if (done == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static void screen_size(int *columns, int *rows)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    *columns = known && size.ws_col > 0 ? size.ws_col : 80;
    *rows = known && size.ws_row > 0 ? size.ws_row : 24;
}

/* Makes room on the terminal, and forgets what it showed. */
static bool screen_begin(fuzz_screen *screen, int columns, int rows)
{
    if (!term_cells_resize(&screen->shown, columns, rows))
        return false;
    px_text_add(&screen->bytes, "\033[?25l\033[0m");
    for (int i = 1; !drawing && i < rows; i++) /* what is there goes up and stays readable */
        px_text_add(&screen->bytes, "\n");
    px_text_add(&screen->bytes, "\033[H\033[2J");
    return true;
}

static void screen_draw(fuzz_screen *screen, const px_fuzz_report *report)
{
    int columns, rows;
    screen_size(&columns, &rows);
    if (!term_cells_resize(&screen->next, columns, rows))
        return;
    px_text_clear(&screen->bytes);
    const bool same =
        screen->shown.columns == screen->next.columns && screen->shown.rows == screen->next.rows;
    if ((!same || repaint || !drawing) && !screen_begin(screen, columns, rows))
        return;
    repaint = 0;
    fuzz_panel_draw(&screen->next, &screen->about, report);
    const int rest = term_cells_rest(&screen->next); /* where ^C is echoed */
    term_cells_update(&screen->shown, &screen->next, screen->colour, rest, &screen->bytes);
    if (px_text_failed(&screen->bytes)) {
        px_text_done(&screen->bytes); /* the terminal does not have this frame: begin anew */
        repaint = 1;
        return;
    }
    rest_row = rest + 1;
    drawing = 1;
    if (!terminal_write(px_text_get(&screen->bytes), screen->bytes.length))
        repaint = 1;
}

/* --- screens --------------------------------------------------------------------------------- */

fuzz_screen *fuzz_screen_open(const char *model, int threads)
{
    static bool at_exit;
    const cli_call *call = cli_now();
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    fuzz_screen *screen = calloc(1, sizeof *screen);
    if (!screen || !(screen->model = strdup(model))) {
        free(screen);
        return NULL;
    }
    screen->about =
        (fuzz_about){.model = screen->model, .threads = threads > 0 ? threads : px_cpu_count()};
    screen->terminal = !call->io && !call->quiet && isatty(STDERR_FILENO) && term && *term &&
                       strcmp(term, "dumb") != 0;
    screen->colour = !no_color || !*no_color;
    screen->next.ascii = !cli_locale_is_utf8();
    screen->shown_s = px_clock_s() - (screen->terminal ? FRAME_EVERY_S : 0);
    if (screen->terminal) {
        if (!at_exit && atexit(terminal_restore) == 0)
            at_exit = true;
        signals_take();
    }
    return screen;
}

void fuzz_screen_show(fuzz_screen *screen, const px_fuzz_report *report)
{
    if (!screen || cli_now()->quiet)
        return;
    const double now = px_clock_s();
    const bool often = screen->terminal || cli_now()->io;
    if (!report->stopped && now - screen->shown_s < (often ? FRAME_EVERY_S : LINE_EVERY_S))
        return;
    screen->shown_s = now;
    if (screen->terminal) {
        screen_draw(screen, report);
    } else {
        char line[FUZZ_LINE_TEXT];
        fuzz_panel_line(report, line);
        if (!cli_progress_tell("fuzz", report->executions, 0, line))
            fprintf(stderr, "fuzz: %s\n", line);
    }
}

void fuzz_screen_close(fuzz_screen *screen)
{
    if (!screen)
        return;
    if (screen->terminal) {
        terminal_restore();
        signals_give_back();
    }
    term_cells_done(&screen->shown);
    term_cells_done(&screen->next);
    px_text_done(&screen->bytes);
    free(screen->model);
    free(screen);
}
