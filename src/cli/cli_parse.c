/* src/cli/cli_parse.c - the option parser */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_help.h"

#include <errno.h>
#include <internal/text.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *parse_nearest_option(const char *word, const cli_option *options)
{
    const char *names[128];
    size_t count = 0;
    for (const cli_option *o = options; o->name && count < 127; o++)
        names[count++] = o->name;
    names[count++] = "help";
    return px_nearest_word(word, names, count);
}

/* "8/255" is a number too: people write eps and scales that way. */
static bool parse_real(const char *text, double *out)
{
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno)
        return false;
    if (*end == '/') {
        const char *below = end + 1;
        const double divisor = strtod(below, &end);
        if (end == below || errno || divisor == 0.0)
            return false;
        value /= divisor;
    }
    *out = value;
    return *end == '\0' && isfinite(value);
}

static bool parse_int(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    *out = value;
    return end != text && *end == '\0' && errno == 0;
}

const char *cli_choice_word(const char *words, int place, char buffer[CLI_CHOICE_TEXT])
{
    for (; place > 0 && words; place--) {
        words = strchr(words, '|');
        words = words ? words + 1 : NULL;
    }
    if (!words || place < 0)
        return NULL;
    snprintf(buffer, CLI_CHOICE_TEXT, "%.*s", (int)strcspn(words, "|"), words);
    return buffer;
}

static int parse_choice(const cli_command *self, const cli_option *option, const char *text)
{
    char word[CLI_CHOICE_TEXT], next[CLI_CHOICE_TEXT];
    px_text all = {0};
    for (int i = 0; cli_choice_word(option->argument, i, word); i++) {
        if (strcmp(word, text) == 0) {
            *(int *)option->target = i;
            px_text_done(&all);
            return CLI_GO;
        }
        px_text_format(&all, "%s%s",
                       i == 0                                           ? ""
                       : cli_choice_word(option->argument, i + 1, next) ? ", "
                                                                        : " or ",
                       word);
    }
    const int rc =
        cli_usage_error(self, "--%s '%.60s': expected %s", option->name, text, px_text_get(&all));
    px_text_done(&all);
    return rc;
}

static int parse_add(const cli_command *self, const cli_option *option, const char *text)
{
    cli_list *list = option->target;
    if (list->count == CLI_LIST_MAX)
        return cli_usage_error(self, "option '--%s' is given more than %d times", option->name,
                               CLI_LIST_MAX);
    if (!list->item) /* no word is two items */
        list->item = cli_keep_alloc((size_t)cli_now()->argc, sizeof *list->item);
    if (!list->item)
        return cli_no_memory(self);
    list->item[list->count++] = text;
    return CLI_GO;
}

/* Stores one option's value; CLI_GO or an exit status. */
static int parse_store(const cli_command *self, const cli_option *option, const char *text)
{
    double real = 0;
    int64_t whole = 0;
    switch (option->kind) {
    case CLI_KIND_FLAG:
        *(bool *)option->target = true;
        return CLI_GO;
    case CLI_KIND_STRING:
        *(const char **)option->target = text;
        return CLI_GO;
    case CLI_KIND_LIST:
        return parse_add(self, option, text);
    case CLI_KIND_CHOICE:
        return parse_choice(self, option, text);
    case CLI_KIND_REAL:
        if (!parse_real(text, &real))
            return cli_usage_error(self, "option '--%s' needs a number, not '%s'", option->name,
                                   text);
        *(double *)option->target = real;
        break;
    case CLI_KIND_INT:
        if (!parse_int(text, &whole))
            return cli_usage_error(self, "option '--%s' needs a whole number, not '%s'",
                                   option->name, text);
        *(int64_t *)option->target = whole;
        real = (double)whole;
        break;
    }
    if (real < option->least || real > option->most)
        return cli_usage_error(self, "option '--%s' is %s, but must be from %.15g to %.15g",
                               option->name, text, option->least, option->most);
    return CLI_GO;
}

static const cli_option *parse_find_long(const cli_option *options, const char *name, size_t length)
{
    for (const cli_option *o = options; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static const cli_option *parse_find_letter(const cli_option *options, char letter)
{
    for (const cli_option *o = options; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* "--name", "--name=value"; *at is advanced over a value of its own. */
static int parse_long(const cli_command *self, int argc, char **argv, int *at,
                      const cli_option *options)
{
    const char *name = argv[*at] + 2;
    const size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const cli_option *option = parse_find_long(options, name, length);
    if (!option) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
        const char *nearest = parse_nearest_option(word, options);
        return cli_usage_error(self, "there is no option '--%s'%s%s%s; 'plexor help %s' lists them",
                               word, nearest ? ", did you mean '--" : "", nearest ? nearest : "",
                               nearest ? "'" : "", self->name);
    }
    if (option->kind == CLI_KIND_FLAG) {
        if (value)
            return cli_usage_error(self, "option '--%s' takes no value", option->name);
    } else if (!value) {
        if (*at + 1 >= argc)
            return cli_usage_error(self, "option '--%s' needs a value (%s)", option->name,
                                   option->argument);
        value = argv[++*at];
    }
    return parse_store(self, option, value);
}

/* "-q", "-o FILE", "-oFILE", "-qo FILE". */
static int parse_letters(const cli_command *self, int argc, char **argv, int *at,
                         const cli_option *options)
{
    for (const char *p = argv[*at] + 1; *p; p++) {
        const cli_option *option = parse_find_letter(options, *p);
        if (!option)
            return cli_usage_error(self, "there is no option '-%c'; 'plexor help %s' lists them",
                                   *p, self->name);
        if (option->kind == CLI_KIND_FLAG) {
            (void)parse_store(self, option, NULL);
            continue;
        }
        const char *value = p[1] ? p + 1 : *at + 1 < argc ? argv[++*at] : NULL;
        if (!value)
            return cli_usage_error(self, "option '-%c' needs a value (%s)", *p, option->argument);
        return parse_store(self, option, value);
    }
    return CLI_GO;
}

int cli_parse(const cli_command *self, int argc, char **argv, const cli_option *options,
              const char **words, int least, int most)
{
    cli_now()->command = self;
    int count = 0;
    bool only_words = false;
    for (int i = 0; i < most; i++)
        words[i] = NULL;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        int stop = CLI_GO;
        if (only_words || word[0] != '-' || word[1] == '\0') {
            if (count == most)
                return cli_usage_error(self, "'%s' is one word too many; usage: plexor %s %s", word,
                                       self->name, self->usage);
            words[count++] = word;
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (cli_form_find(word)) {
            cli_form_find(word)->print(self, options);
            return CLI_DONE;
        } else if (word[1] == '-') {
            stop = parse_long(self, argc, argv, &i, options);
        } else {
            stop = parse_letters(self, argc, argv, &i, options);
        }
        CLI_TRY(stop);
    }
    if (count < least) {
        const char *missing = self->usage; /* begins with the words, in their order */
        for (int i = 0; i < count; i++)
            missing += strcspn(missing, " ") + 1;
        return cli_usage_error(self, "%.*s is missing; usage: plexor %s %s",
                               (int)strcspn(missing, " "), missing, self->name, self->usage);
    }
    return CLI_GO;
}

int cli_require(const cli_command *self, const char *name, const char *value)
{
    if (value && *value)
        return CLI_GO;
    return cli_usage_error(self, "option '--%s' is needed; 'plexor help %s' says what it takes",
                           name, self->name);
}
