/* src/cli/cmd_plan.c - plexor plan COMMAND ...: what it would take for millions of inputs on ranks
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cli/cli_fields.h"

#include <ftw.h>
#include <internal/data.h>
#include <internal/run_plan.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct plan {
    const char *command; /* and what follows: words of the run that is planned */
    char **words;
    size_t count;
    const char *data, *split, *threads;
    int64_t ranks, few, more;
    double images, measure_s, network_gbit, measured_s;
    char temp[64]; /* where short runs write */
    int runs;
    px_run_cost cost;
    px_run_aim aim;
    px_run_prediction is;
    double memory_mib, traffic_mib;
    bool divided;
} plan;

static const px_field line_fields[] = {
    PX_FIELD(px_run_line, base, "base", "to begin with"),
    PX_FIELD(px_run_line, slope, "per_input", "for each input"),
    PX_FIELDS_END,
};

static const px_field measured_fields[] = {
    PX_FIELD(plan, few, "few", "inputs of the shorter run"),
    PX_FIELD(plan, more, "more", "inputs of the longer run"),
    PX_FIELD(plan, runs, "runs", "that were made"),
    PX_FIELD(plan, measured_s, "seconds", "they took together"),
    PX_OBJECT(plan, cost.divided_s, line_fields, "divided", "seconds of work that ranks divide"),
    PX_OBJECT(plan, cost.own_s, line_fields, "own", "seconds that each rank spends by itself"),
    PX_OBJECT(plan, cost.processor_s, line_fields, "processor", "seconds of all threads"),
    PX_OBJECT(plan, cost.memory, line_fields, "memory", "bytes of a rank"),
    PX_OBJECT(plan, cost.traffic, line_fields, "traffic", "bytes that ranks exchange"),
    PX_FIELD(plan, cost.open_s, "open_seconds", "of opening all of the data"),
    PX_FIELD(plan, cost.open_inputs, "data_inputs", "that the data have"),
    PX_FIELDS_END,
};

static const px_field plan_fields[] = {
    PX_FIELD(plan, command, "planned", "the command"),
    PX_FIELD(plan, aim.images, "images", "inputs"),
    PX_FIELD(plan, aim.ranks, "ranks", "processes"),
    PX_FIELD(plan, threads, "threads", "of each rank; null: as many as it finds cores",
             .optional = true),
    PX_FIELD(plan, divided, "divided", "whether ranks divide the command"),
    PX_FIELD(plan, is.seconds, "seconds", "that it would take: the sum of the next three"),
    PX_FIELD(plan, is.divided_s, "divided_seconds", "of work that is divided"),
    PX_FIELD(plan, is.own_s, "own_seconds", "that every rank spends by itself"),
    PX_FIELD(plan, is.network_s, "network_seconds", "of receiving, at --network"),
    PX_FIELD(plan, is.processor_s, "processor_seconds", "of all threads of all ranks"),
    PX_FIELD(plan, memory_mib, "memory_mib", "at most, of each rank"),
    PX_FIELD(plan, traffic_mib, "traffic_mib", "that each rank receives"),
    PX_FIELD(plan, is.speedup, "speedup", "against one rank"),
    PX_FIELD(plan, is.efficiency, "efficiency", "speedup / ranks"),
    PX_OBJECT_OF(measured_fields, "measured", "what this follows from"),
    PX_FIELDS_END,
};

static void plan_print(const void *of)
{
    const plan *p = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    cli_print("%s of %s inputs on %d rank%s: %s\n", p->command, cli_number(p->aim.images, a),
              p->aim.ranks, p->aim.ranks == 1 ? "" : "s", cli_duration(p->is.seconds, b));
    cli_print("  %-10s %s\n", "divided", cli_duration(p->is.divided_s, b));
    cli_print("  %-10s %s, in each rank by itself\n", "own", cli_duration(p->is.own_s, b));
    cli_print("  %-10s %s, for %.0f MiB that each rank receives at %g Gbit/s\n", "network",
              cli_duration(p->is.network_s, b), p->traffic_mib, p->network_gbit);
    cli_print("  %-10s %s of processor time, all ranks together\n", "processor",
              cli_duration(p->is.processor_s, b));
    cli_print("  %-10s %.0f MiB for each rank\n", "memory", p->memory_mib);
    cli_print("  %-10s %.1f times one rank, %.0f%% of %d\n", "speedup", p->is.speedup,
              100.0 * p->is.efficiency, p->aim.ranks);
    cli_print("measured on %s and %s inputs, %.1f s: %s inputs per second\n", cli_number(p->few, a),
              cli_number(p->more, b), p->measured_s,
              cli_metric(1.0 / fmax(p->cost.divided_s.slope + p->cost.own_s.slope, 1e-12), c));
    if (!p->divided && p->aim.ranks > 1)
        cli_print("%s is not divided among ranks: the first would do all of it\n", p->command);
}

/* --- words ----------------------------------------------------------------------------------- */

/* The value of `word` or of what follows it, where it is this option; NULL: it is not. */
static const char *word_value(const char *word, const char *next, char letter, const char *name,
                              bool *took_next)
{
    const size_t length = strlen(name);
    *took_next = false;
    if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0) {
        if (word[2 + length] == '=')
            return word + 3 + length;
        if (word[2 + length] == '\0') {
            *took_next = next != NULL;
            return next;
        }
    } else if (letter && word[0] == '-' && word[1] == letter) {
        *took_next = word[2] == '\0' && next;
        return word[2] ? word + 2 : next;
    }
    return NULL;
}

/* Files that a run makes go where they are thrown away. */
static bool word_is_output(const char *word, const char *next, const char **value, bool *took_next)
{
    static const char *const names[] = {"output", "state", "wrong", "log"};
    for (size_t i = 0; i < PX_LEN(names); i++)
        if ((*value = word_value(word, next, i == 0 ? 'o' : '\0', names[i], took_next)) != NULL)
            return true;
    return false;
}

static const char *plan_output(const plan *p, const char *value, size_t number)
{
    px_text text = {0};
    const char *name = pxi_base_name(value), *dot = strrchr(name, '.');
    px_text_format(&text, "%s/%d-%zu%s", p->temp, p->runs, number, dot && dot != name ? dot : "");
    char *kept = cli_keep_alloc(text.length + 1, 1);
    if (kept && !px_text_failed(&text))
        strcpy(kept, px_text_get(&text));
    px_text_done(&text);
    return kept;
}

/* The words of a run of `limit` inputs; NULL: no memory. */
static char **plan_words(const plan *p, int64_t limit)
{
    char **made = cli_keep_alloc(2 * p->count + 8, sizeof *made);
    char *number = cli_keep_alloc(CLI_NUMBER_TEXT, 1);
    size_t used = 0;
    if (!made || !number)
        return NULL;
    snprintf(number, CLI_NUMBER_TEXT, "%" PRId64, limit);
    made[used++] = (char *)(uintptr_t) "plexor";
    for (size_t i = 0; i < p->count; i++) {
        const char *next = i + 1 < p->count ? p->words[i + 1] : NULL, *value;
        bool took_next;
        if (word_is_output(p->words[i], next, &value, &took_next)) {
            const char *to = plan_output(p, value, i);
            if (!to)
                return NULL;
            if (took_next) {
                made[used++] = p->words[i];
                made[used++] = (char *)(uintptr_t)to;
            } else {
                made[used++] = (char *)(uintptr_t)(p->words[i][1] == '-' ? "--output" : "-o");
                made[used++] = (char *)(uintptr_t)to;
            }
            i += took_next;
        } else if (word_value(p->words[i], next, '\0', "limit", &took_next)) {
            i += took_next;
        } else {
            made[used++] = p->words[i];
        }
    }
    made[used++] = (char *)(uintptr_t) "-q";
    made[used++] = (char *)(uintptr_t) "--limit";
    made[used++] = number;
    return made;
}

/* Divides argv into the options of `plan` and the words of what is planned. */
static int plan_split(const cli_command *self, plan *p, int argc, char **argv, char **own,
                      int *own_count)
{
    static const char *const names[] = {"ranks", "images", "measure", "network"};
    *own_count = 0;
    own[(*own_count)++] = argv[0];
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        bool took_next = false, is_own = false;
        for (size_t k = 0; k < PX_LEN(names) && !is_own; k++)
            is_own = word_value(argv[i], next, '\0', names[k], &took_next) != NULL;
        is_own = is_own || strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "-q") == 0 ||
                 strcmp(argv[i], "--quiet") == 0 || (!p->count && argv[i][0] == '-');
        if (!is_own) {
            p->words[p->count++] = argv[i];
            continue;
        }
        own[(*own_count)++] = argv[i];
        if (took_next)
            own[(*own_count)++] = argv[++i];
    }
    for (size_t i = 0; i < p->count; i++) {
        const char *next = i + 1 < p->count ? p->words[i + 1] : NULL, *value;
        bool took_next;
        if ((value = word_value(p->words[i], next, '\0', "data", &took_next)) && !p->data)
            p->data = value;
        if ((value = word_value(p->words[i], next, '\0', "split", &took_next)))
            p->split = value;
        if ((value = word_value(p->words[i], next, '\0', "threads", &took_next)))
            p->threads = value;
        if ((value = word_value(p->words[i], next, '\0', "limit", &took_next)) && p->images == 0)
            p->images = strtod(value, NULL);
        if (word_value(p->words[i], next, '\0', "shard", &took_next))
            return cli_usage_error(self, "--shard is another way to divide a run; leave it out");
    }
    return CLI_GO;
}

/* --- measuring ------------------------------------------------------------------------------- */

static px_status plan_program(char *to, size_t size, px_error *err)
{
    const ssize_t length = readlink("/proc/self/exe", to, size - 1);
    to[PX_MAX(length, 0)] = '\0';
    if (length <= 0 || strncmp(pxi_base_name(to), "plexor", 6) != 0)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "plan runs the program plexor, and this is another one: run it from there");
    return PX_OK;
}

static px_status plan_open_data(plan *p, px_error *err)
{
    const px_data_options options = {.split = p->split};
    px_dataset *set = NULL;
    const double start = px_clock_s();
    PX_TRY(px_dataset_open(p->data, &options, &set, err));
    p->cost.open_s = px_clock_s() - start;
    p->cost.open_inputs = px_dataset_count(set);
    px_dataset_close(set);
    return PX_OK;
}

static double sample_s(const px_run_sample *sample)
{
    return sample->divided_s + sample->own_s;
}

static px_status plan_run(plan *p, const char *program, int64_t inputs, px_run_sample *best,
                          px_error *err)
{
    px_run_sample sample;
    char **words = plan_words(p, inputs);
    PX_TRY(words ? PX_OK : pxi_no_memory(err));
    PX_TRY(px_run_measure(program, words, inputs, &sample, err));
    p->runs++;
    if (best->inputs != inputs || sample_s(&sample) < sample_s(best))
        *best = sample; /* whatever else the machine did only adds */
    return PX_OK;
}

/* More and more inputs until a run takes so much longer than the one before that their difference
 * counts, and not what every run begins with; then both once more. */
static px_status plan_measure(plan *p, px_error *err)
{
    enum { FIRST = 256 };
    char program[4096];
    px_run_sample few = {0}, more = {0};
    const double start = px_clock_s(), open_s = p->cost.open_s;
    const int64_t all = p->cost.open_inputs;
    PX_TRY(plan_program(program, sizeof program, err));
    int64_t inputs = PX_MIN((int64_t)FIRST, PX_MAX(all / 4, (int64_t)1));
    if (all < 2)
        return px_fail(err, PX_E_INPUT, "'%s' has %" PRId64 " inputs: too few to measure", p->data,
                       all);
    for (;; inputs = PX_MIN(4 * inputs, all)) {
        few = more;
        PX_TRY(plan_run(p, program, inputs, &more, err));
        const double elapsed = px_clock_s() - start;
        const bool enough = few.inputs && (sample_s(&more) - sample_s(&few) > 0.3 * p->measure_s ||
                                           elapsed > 1.5 * p->measure_s);
        if (enough || inputs == all)
            break;
    }
    if (!few.inputs) { /* one run was all of the data */
        few = more;
        more.inputs = 0;
        PX_TRY(plan_run(p, program, PX_MAX(inputs / 2, (int64_t)1), &more, err));
        const px_run_sample swap = few;
        few = more;
        more = swap;
    }
    for (int again = 0; again < 2 && px_clock_s() - start < p->measure_s; again++) {
        PX_TRY(plan_run(p, program, few.inputs, &few, err));
        PX_TRY(plan_run(p, program, more.inputs, &more, err));
    }
    p->cost = px_run_cost_fit(&few, &more);
    p->cost.open_s = open_s;
    p->cost.open_inputs = all;
    p->few = few.inputs;
    p->more = more.inputs;
    p->measured_s = px_clock_s() - start;
    return PX_OK;
}

static int plan_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static px_status plan_make(plan *p, px_error *err)
{
    const char *folder = getenv("TMPDIR");
    snprintf(p->temp, sizeof p->temp, "%.40s/plexor-plan-XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!mkdtemp(p->temp))
        return pxi_file_fail(err, p->temp, "write");
    px_status status = plan_open_data(p, err);
    PX_THEN(status, plan_measure(p, err));
    (void)nftw(p->temp, plan_remove, 16, FTW_DEPTH | FTW_PHYS);
    PX_TRY(status);
    p->aim = (px_run_aim){.images = p->images > 0 ? (int64_t)p->images : p->cost.open_inputs,
                          .ranks = (int)p->ranks,
                          .network = p->network_gbit * 1e9 / 8};
    p->divided = p->cost.divided_s.base + p->cost.divided_s.slope > 0.0;
    p->is = px_run_predict(&p->cost, &p->aim);
    p->memory_mib = p->is.memory / (1 << 20);
    p->traffic_mib = p->is.traffic / (1 << 20);
    return PX_OK;
}

static int plan_run_command(const cli_command *self, int argc, char **argv)
{
    plan *p = cli_keep_alloc(1, sizeof *p);
    char **own = cli_keep_alloc((size_t)argc + 1, sizeof *own);
    int own_count = 0;
    if (!p || !own || !(p->words = cli_keep_alloc((size_t)argc + 1, sizeof *p->words)))
        return cli_no_memory(self);
    p->ranks = 1;
    p->measure_s = 20.0;
    p->network_gbit = 10.0;
    const cli_option options[] = {
        CLI_INT(0, "ranks", &p->ranks, "N", 1, 1000000, "processes that divide the run"),
        CLI_REAL(0, "images", &p->images, "M", 1, 1e15,
                 "inputs of the run that is planned, such as 1.28e6; its --limit, or what the data "
                 "have, if not given"),
        CLI_REAL(0, "measure", &p->measure_s, "SECONDS", 0.1, 1e6, "about how long to measure"),
        CLI_REAL(0, "network", &p->network_gbit, "GBIT", 1e-3, 1e6,
                 "what a rank receives, in Gbit/s"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    CLI_TRY(plan_split(self, p, argc, argv, own, &own_count));
    CLI_TRY(cli_parse(self, own_count, own, options, NULL, 0, 0));
    if (!p->count)
        return cli_usage_error(self, "COMMAND is missing: what would be run, as in 'plexor plan "
                                     "cover net.onnx --data SPEC'");
    p->command = p->words[0];
    if (!cli_command_find(p->command) || strcmp(p->command, self->name) == 0)
        return cli_usage_error(self, "'%s' is no command that can be planned", p->command);
    CLI_TRY(cli_require(self, "data", p->data));
    px_error err = {0};
    const px_status status = plan_make(p, &err);
    if (status != PX_OK)
        px_fail_in(&err, status, "%s", p->command);
    return cli_answer(self, status, &err, p, plan_print);
}

const cli_command cli_command_plan = {
    .name = "plan",
    .usage = "COMMAND ... [--ranks N] [--images M]",
    .help = "what a command would take for millions of inputs on many machines",
    .details =
        "Runs the command on some of its inputs, a few times and each time in a process of its "
        "own, and tells from these how long it would take for --images inputs on --ranks ranks, "
        "and how much memory and traffic. Files that the command writes are thrown away. It "
        "must take --data and --limit.\n"
        "\n"
        "Time is work that ranks divide, work that each does by itself (reading the network, "
        "listing the data, summing up), and what a rank receives from the others. Threads are "
        "those of the command, and machines are taken for ones like this.",
    .examples =
        "plexor plan cover net.onnx --data photos --criteria nc --ranks 64 --images 1.28e6\n"
        "plexor plan attack net.onnx --data digits --threads 8 --ranks 16 --json\n",
    .run = plan_run_command,
    .result = plan_fields,
};
