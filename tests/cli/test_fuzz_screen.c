/* tests/cli/test_fuzz_screen.c - the status screen on a terminal of its own, and how it leaves it
 *
 * A child draws on the far end of a pseudo terminal; what it sent is looked at here.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/fuzz_screen.h"
#include "cmocka_all.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, BYTES = 1 << 20 };

typedef enum ending { END_CLOSE, END_EXIT, END_LOOP, END_ABORT } ending;

typedef struct terminal { /* a child that draws, and what came of it */
    pid_t child;
    int master;
    char *bytes;
    size_t count;
} terminal;

static px_fuzz_report frame(int i)
{
    return (px_fuzz_report){.engine = "loop",
                            .policy = "nlc",
                            .guide = "nc",
                            .run_s = i,
                            .faults = 1234 + i,
                            .executions = 1000 * i,
                            .coverage = {.value = 0.5, .covered = 1, .total = 2},
                            .last_find_s = -1,
                            .last_fault_s = -1};
}

_Noreturn static void child_main(ending end)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL); /* nohup and background shells have some of them ignored */
    cli_call call = {.out = stdout};
    cli_catch_signals();
    cli_call_begin(&call);
    fuzz_screen *screen = fuzz_screen_open("net.onnx", 2);
    for (int i = 0; end == END_LOOP || i < 3; i++) {
        px_fuzz_report report = frame(i);
        fuzz_screen_show(screen, &report);
        usleep(120000);
        if (cli_interrupted() && end != END_LOOP)
            break;
    }
    if (end == END_ABORT)
        abort();
    if (end == END_EXIT)
        exit(3); /* an error somewhere deep */
    px_fuzz_report report = frame(9);
    report.stopped = "3 turns";
    fuzz_screen_show(screen, &report);
    fuzz_screen_close(screen);
    fprintf(stderr, "after\n");
    _exit(0);
}

static terminal terminal_open(ending end, const char *term, const char *no_color)
{
    struct winsize size = {.ws_col = 80, .ws_row = 24};
    terminal t = {.bytes = calloc(1, BYTES)};
    assert_non_null(t.bytes);
    t.child = forkpty(&t.master, NULL, NULL, &size);
    if (t.child < 0) { /* bare chroots have none */
        free(t.bytes);
        print_message("# there are no pseudo-terminals here\n");
        skip();
    }
    if (t.child == 0) {
        setenv("TERM", term, 1);
        setenv("LC_ALL", "C", 1);
        if (no_color)
            setenv("NO_COLOR", no_color, 1);
        else
            unsetenv("NO_COLOR");
        child_main(end);
    }
    return t;
}

/* Reads until `text` has come (true), or nothing more will. */
static bool terminal_expect(terminal *t, const char *text, size_t from)
{
    while (!memmem(t->bytes + from, t->count - from, text, strlen(text))) {
        struct pollfd wait = {.fd = t->master, .events = POLLIN};
        if (poll(&wait, 1, PATIENCE_MS) <= 0)
            return false;
        const ssize_t got = read(t->master, t->bytes + t->count, BYTES - 1 - t->count);
        if (got <= 0)
            return false;
        t->count += (size_t)got;
    }
    return true;
}

/* The child's status; all that it sent is there. */
static int terminal_end(terminal *t)
{
    int status = 0;
    while (terminal_expect(t, "never sent", t->count))
        ;
    assert_int_equal(waitpid(t->child, &status, 0), t->child);
    close(t->master);
    return status;
}

/* The last word about the cursor is that it is shown. */
static bool cursor_is_back(const terminal *t)
{
    const char *shown = NULL, *hidden = NULL;
    for (const char *at = t->bytes; (at = strstr(at, "\033[?25")); at++)
        *(at[5] == 'h' ? &shown : &hidden) = at;
    return shown && (!hidden || shown > hidden);
}

static void test_endings(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        ending end;
        int signals[2]; /* sent one after another; 0: none */
        int exits, dies;
    } cases[] = {
        {"close", END_CLOSE, {0}, 0, 0},
        {"exit", END_EXIT, {0}, 3, 0},
        {"abort", END_ABORT, {0}, -1, SIGABRT},
        {"hang up", END_LOOP, {SIGHUP}, -1, SIGHUP},
        {"quit", END_LOOP, {SIGQUIT}, -1, SIGQUIT},
        {"two interrupts", END_LOOP, {SIGINT, SIGINT}, -1, SIGINT},
        {"two terminations", END_LOOP, {SIGTERM, SIGTERM}, -1, SIGTERM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        terminal t = terminal_open(cases[i].end, "xterm", NULL);
        assert_true(terminal_expect(&t, "process timing", 0));
        assert_non_null(strstr(t.bytes, "\033[?25l")); /* hidden before anything is drawn */
        for (int k = 0; k < 2 && cases[i].signals[k]; k++) {
            if (k) { /* the first one has arrived, and did not end it */
                const size_t from = t.count;
                assert_true(terminal_expect(&t, "H", from));
                usleep(300000);
            }
            kill(t.child, cases[i].signals[k]);
        }
        const int status = terminal_end(&t);
        if (!cursor_is_back(&t))
            fail_msg("case '%s': the cursor is gone", cases[i].name);
        if (cases[i].dies ? !WIFSIGNALED(status) || WTERMSIG(status) != cases[i].dies
                          : !WIFEXITED(status) || WEXITSTATUS(status) != cases[i].exits)
            fail_msg("case '%s': status %d", cases[i].name, status);
        free(t.bytes);
    }
}

/* After a pause the screen comes again, whole. */
static void test_pause(void **state)
{
    (void)state;
    terminal t = terminal_open(END_LOOP, "xterm", NULL);
    int status = 0;
    assert_true(terminal_expect(&t, "process timing", 0));
    kill(t.child, SIGTSTP);
    assert_true(terminal_expect(&t, "\033[?25h", 0));
    /* An orphaned process group is not stopped by SIGTSTP: the loop goes on by itself then. */
    kill(t.child, SIGCONT);
    const size_t from = t.count;
    assert_true(terminal_expect(&t, "process timing", from));
    kill(t.child, SIGKILL);
    waitpid(t.child, &status, 0);
    close(t.master);
    free(t.bytes);
}

static void test_resize(void **state)
{
    (void)state;
    static const struct {
        unsigned short columns, rows;
    } sizes[] = {{100, 30}, {50, 10}, {60, 20}};
    terminal t = terminal_open(END_LOOP, "xterm", NULL);
    int status = 0;
    assert_true(terminal_expect(&t, "process timing", 0));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct winsize size = {.ws_col = sizes[i].columns, .ws_row = sizes[i].rows};
        const size_t from = t.count;
        assert_int_equal(ioctl(t.master, TIOCSWINSZ, &size), 0);
        if (!terminal_expect(&t, "\033[H\033[2J", from)) /* drawn anew */
            fail_msg("%dx%d: not drawn anew", sizes[i].columns, sizes[i].rows);
    }
    kill(t.child, SIGKILL);
    waitpid(t.child, &status, 0);
    close(t.master);
    free(t.bytes);
}

/* Only differences are sent: a frame in which three figures change is small. */
static void test_differences(void **state)
{
    (void)state;
    terminal t = terminal_open(END_CLOSE, "xterm", NULL);
    assert_int_equal(terminal_end(&t), 0);
    const char *stopped = strstr(t.bytes, "stopped: 3 turns");
    assert_non_null(stopped);
    assert_non_null(strstr(stopped, "after"));
    assert_true(t.count < 6000); /* a whole screen is about 3,000 with its colours */
    const char *first = strstr(t.bytes, "process timing");
    assert_null(strstr(first + 1, "process timing"));
    free(t.bytes);
}

static void test_no_colour(void **state)
{
    (void)state;
    static const struct {
        const char *no_color;
        bool coloured;
    } cases[] = {{"1", false}, {"", true}, {NULL, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        terminal t = terminal_open(END_CLOSE, "xterm", cases[i].no_color);
        assert_int_equal(terminal_end(&t), 0);
        assert_int_equal(strstr(t.bytes, "\033[0;") != NULL, cases[i].coloured);
        free(t.bytes);
    }
}

/* Lines without any control; the last one tells why it stopped. */
static void test_dumb(void **state)
{
    (void)state;
    terminal t = terminal_open(END_CLOSE, "dumb", NULL);
    assert_int_equal(terminal_end(&t), 0);
    assert_null(strchr(t.bytes, '\033'));
    assert_non_null(strstr(t.bytes, "fuzz: 0:09  1,243 failures (0 distinct, 0 kinds)  nc 50.00%"));
    assert_non_null(strstr(t.bytes, "stopped: 3 turns"));
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),   cmocka_unit_test(test_pause),
        cmocka_unit_test(test_resize),    cmocka_unit_test(test_differences),
        cmocka_unit_test(test_no_colour), cmocka_unit_test(test_dumb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
