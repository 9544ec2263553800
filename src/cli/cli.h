/* src/cli/cli.h - what commands share: options, exit statuses, printing
 *
 * A command is one descriptor and one file. Its option table is the only place where options are
 * written down: parsing, --help, `plexor help` and the man pages all read it.
 *
 *     static int greet_run(const cli_command *self, int argc, char **argv)
 *     {
 *         const char *name = "you";
 *         const cli_option options[] = {
 *             CLI_STRING(0, "name", &name, "NAME", "whom to greet"),
 *             CLI_END,
 *         };
 *         const char *model = NULL;
 *         CLI_TRY(cli_parse(self, argc, argv, options, &model, 1, 1));
 *         ...
 *         return CLI_DONE;
 *     }
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_CLI_H
#define PLEXOR_CLI_H

#include "cli/cli_call.h"

#include <plexor/field.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CLI_GO = -1, /* of cli_parse(): not an exit status, carry on */
    CLI_DONE = 0,
    CLI_CHECK_FAILED = 1, /* a gate that was asked for did not hold */
    CLI_BAD_INPUT = 2,    /* wrong usage, or a file that cannot be used */
    CLI_TROUBLE = 3,      /* disk, memory, internal */
};

typedef struct cli_command cli_command;
struct cli_command {
    const char *name;
    const char *usage;    /* "MODEL --data SPEC": what follows the name */
    const char *help;     /* one line, lower case */
    const char *details;  /* paragraphs for --help and the man page; NULL: none */
    const char *examples; /* lines "plexor ...", each ending in \n; NULL: none */
    int (*run)(const cli_command *self, int argc, char **argv); /* argv[0]: the command's name */
    bool ranks;             /* run by all of them (internal/ranks.h); else by the first alone */
    bool signal_is_done;    /* Ctrl-C is an ordinary end: exit status 0 */
    const px_field *result; /* members of what it prints with --json; NULL: it is not told */
};

extern const cli_command *cli_commands[]; /* NULL-terminated */
const cli_command *cli_command_find(const char *name);
/* For main(), before px_main(): a command that the library lacks (CLI_PROGRAM_COMMANDS), listed
 * before another one. */
void cli_command_add(const cli_command *command, const char *before);
/* A command of the program `plexor`, which whoever runs here has not. */
bool cli_command_elsewhere(const char *name);

/* --- options --------------------------------------------------------------------------------- */

typedef enum cli_kind {
    CLI_KIND_STRING,
    CLI_KIND_LIST,
    CLI_KIND_REAL,
    CLI_KIND_INT,
    CLI_KIND_FLAG,
    CLI_KIND_CHOICE
} cli_kind;

enum { CLI_LIST_MAX = 1024 };
typedef struct cli_list { /* an option that may be given again and again */
    const char **item;    /* kept with the call */
    int count;
} cli_list;

typedef struct cli_option {
    char letter;      /* 0: none */
    const char *name; /* NULL: the end of the table */
    cli_kind kind;
    void *target; /* holds the default beforehand */
    const char *argument, *help;
    double least, most; /* of REAL and INT */
} cli_option;

#define CLI_STRING(letter, name, target, argument, help)                                      \
    {                                                                                         \
        letter, name, CLI_KIND_STRING, CLI_TARGET(const char *, target), argument, help, 0, 0 \
    }
#define CLI_STRINGS(letter, name, target, argument, help)                               \
    {                                                                                   \
        letter, name, CLI_KIND_LIST, CLI_TARGET(cli_list, target), argument, help, 0, 0 \
    }
#define CLI_REAL(letter, name, target, argument, least, most, help)                          \
    {                                                                                        \
        letter, name, CLI_KIND_REAL, CLI_TARGET(double, target), argument, help, least, most \
    }
#define CLI_INT(letter, name, target, argument, least, most, help)                           \
    {                                                                                        \
        letter, name, CLI_KIND_INT, CLI_TARGET(int64_t, target), argument, help, least, most \
    }
#define CLI_FLAG(letter, name, target, help)                                    \
    {                                                                           \
        letter, name, CLI_KIND_FLAG, CLI_TARGET(bool, target), NULL, help, 0, 0 \
    }
/* One of the words of `words`, "pca|random": *target is its place there, 0 the first. Before it was
 * given *target is the default's, or -1 where there is none. */
#define CLI_CHOICE(letter, name, target, words, help)                             \
    {                                                                             \
        letter, name, CLI_KIND_CHOICE, CLI_TARGET(int, target), words, help, 0, 0 \
    }
/* The words of an X list, so that their places are its enumerators. */
#define CLI_CHOICES(list) (&list(CLI_CHOICE_WORD)[1])
#define CLI_CHOICE_WORD(enumerator, id, help) "|" id
#define CLI_END                                        \
    {                                                  \
        0, NULL, CLI_KIND_FLAG, NULL, NULL, NULL, 0, 0 \
    }
#define CLI_TARGET(type, target) (1 ? (target) : (type *)NULL) /* the compiler checks the type */

/* Reads argv[1..] into the options' targets and the words between them into words[0..most-1] (NULL
 * where there are fewer). Returns CLI_GO, or an exit status: the command is over, after --help
 * (which every command has) or a message. `words` may be NULL with most == 0. */
int cli_parse(const cli_command *self, int argc, char **argv, const cli_option *options,
              const char **words, int least, int most);

/* Word `place` of a choice's words into `buffer`, which is returned; NULL: there are not so many.
 */
#define CLI_CHOICE_TEXT 32
const char *cli_choice_word(const char *words, int place, char buffer[CLI_CHOICE_TEXT]);

/* CLI_GO, or an exit status, with a message, where an option that is needed was not given. */
int cli_require(const cli_command *self, const char *name, const char *value);

/* Ends the command where a step of reading its words says so. */
#define CLI_TRY(step)                \
    do {                             \
        const int cli_try_ = (step); \
        if (cli_try_ != CLI_GO)      \
            return cli_try_;         \
    } while (0)

void cli_print_help(const cli_command *command, const cli_option *options);
void cli_print_man(const cli_command *command, const cli_option *options);

/* --- messages and results -------------------------------------------------------------------- */

/* "plexor COMMAND: MESSAGE" on stderr, and `error` in JSON; CLI_BAD_INPUT or CLI_TROUBLE as the
 * status says. `self` is NULL where there is no command. */
int cli_fail(const cli_command *self, const px_error *err);
int cli_no_memory(const cli_command *self);
int cli_usage_error(const cli_command *self, const char *format, ...) PX_PRINTF(2, 3);
/* A remark on stderr, unless --quiet was given, and one of `remarks` in JSON in any case. */
void cli_note(const cli_command *self, const char *format, ...) PX_PRINTF(2, 3);
/* Begins the object that a command prints with `version` and `command`, as typed. */
void cli_json_open(px_json *json);
/* Takes the finished object over: it is printed on stdout when the command is over, with `remarks`
 * and, where something failed after all, `error` at its end. */
int cli_print_json(const cli_command *self, px_json *json);
int cli_print_json_text(const cli_command *self, const char *text); /* with at least one member */

/* After the command: finishes the JSON object, if there is one or if a failure needs one, and
 * returns the exit status. The object is printed, or left in the call where that has an io. */
int cli_message_end(int status);

/* The options of every command that reports something. */
#define CLI_OUTPUT_OPTIONS                                               \
    CLI_FLAG(0, "json", &cli_now()->json,                                \
             "print one JSON object on stdout, and nothing else there"), \
        CLI_FLAG('q', "quiet", &cli_now()->quiet, "no progress and no remarks on stderr")

/* Where a command prints its result, and how: it never names stdout itself, for it may be
 * run by a program that has its own. */
FILE *cli_out(void);
void cli_print(const char *format, ...) PX_PRINTF(1, 2);

/* 1234567 as "1,234,567"; returns `buffer`. */
#define CLI_NUMBER_TEXT 32
const char *cli_number(int64_t value, char buffer[CLI_NUMBER_TEXT]);
/* 1.35e9 as "1.35 G". */
const char *cli_metric(double value, char buffer[CLI_NUMBER_TEXT]);

/* A table for people: columns as wide as their widest cell, two spaces between. */
typedef struct cli_table cli_table;
/* One letter per column: l(eft) or r(ight). NULL when out of memory, which the others take. */
cli_table *cli_table_new(const char *columns);
void cli_table_cell(cli_table *table, const char *format, ...) PX_PRINTF(2, 3);
void cli_table_print_free(cli_table *table, const char *indent);

/* --- progress -------------------------------------------------------------------------------- */

/* A px_progress_fn that draws a bar with these words, a text that lives on; false after Ctrl-C. The
 * bar goes away when all is done, and before anything else is said. */
bool cli_tick(void *words, int64_t done, int64_t total);
#define CLI_WORDS(text) ((void *)(uintptr_t)(const char *)(text))
void cli_bar_end(void);

/* The same for what a library function does in several steps, and its remarks; no context. */
bool cli_tick_step(void *context, const char *what, int64_t done, int64_t total);
void cli_note_step(void *context, const char *sentence);

/* For work that has more to say than counts: whether it is time to, and a bar with these words. */
cli_progress cli_progress_start(const char *label);
void cli_progress_end(cli_progress *progress); /* takes the bar away */
bool cli_progress_due(const cli_progress *progress);
void cli_progress_show(cli_progress *progress, double share, const char *text);
/* Where the call has somebody else to tell, tells them, and returns true. */
bool cli_progress_tell(const char *label, int64_t done, int64_t total, const char *text);
/* 75.2 as "1:15". */
const char *cli_duration(double seconds, char buffer[CLI_NUMBER_TEXT]);
/* "90", "90s", "30m", "2h", "1d"; false: it is none of these. */
bool cli_seconds(const char *text, double *seconds);
/* As it would be typed again; what has no plain letters is quoted. */
void cli_command_line(px_text *text, int argc, char **argv);

/* Memory that is freed when the call is over; NULL when out of memory. */
void *cli_keep_alloc(size_t count, size_t size);

/* Ctrl-C and SIGTERM, or whoever made the call, ask for an end: networks stop between two layers; a
 * second signal ends at once. From cli_end_in_order() on, only what asks cli_interrupted() itself
 * stops. */
void cli_catch_signals(void); /* the program's */
void cli_end_in_order(void);
bool cli_interrupted(void);

#endif
