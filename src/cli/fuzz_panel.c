/* src/cli/fuzz_panel.c - the figures of a running campaign, arranged in the cells of a terminal
 *
 * Two columns of boxes and a table of mutations below them, after AFL++. Texts have a long and a
 * short form; what has too little room gets the short one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fuzz_panel.h"

#include "cli/cli.h"
#include "cli/fuzz_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANEL_COLUMNS_MOST = 140, /* wider, and figures are too far from their names */
    LEFT_LABEL = 14,          /* "now processing" */
    RIGHT_LABEL = 12,         /* "of the seeds" */
    TIMING_LINES = 4,
    CYCLE_LINES = 3,
    STAGE_LINES = 4,
    YIELD_FIGURES = 4,
    YIELD_FIGURES_WIDTH = 6 + 6 + 6 + 7,
    YIELD_NAME = 10, /* at least */
    YIELD_GAP = 2,   /* between tables that stand side by side */
    YIELD_WIDTH_MOST = 60,
};

typedef struct panel {
    term_cells *cells;
    const px_fuzz_report *report;
    int width;  /* with the frame */
    int split;  /* column of the line between the boxes */
    int bottom; /* the first row that is not ours */
} panel;

/* --- frames ---------------------------------------------------------------------------------- */

typedef enum corner { CORNER_TOP, CORNER_CROSS, CORNER_JOIN, CORNER_BOTTOM, CORNER_END } corner;

/* A line across: its left end, what it does at the split, its right end. */
static const struct {
    uint32_t left, split, right;
} CORNERS[] = {
    [CORNER_TOP] = {0x250c, 0x252c, 0x2510},  [CORNER_CROSS] = {0x251c, 0x253c, 0x2524},
    [CORNER_JOIN] = {0x251c, 0x2534, 0x2524}, [CORNER_BOTTOM] = {0x2514, 0x2534, 0x2518},
    [CORNER_END] = {0x2514, 0x2500, 0x2518},
};

static void panel_head(const panel *p, int column, int row, int room, const char *text)
{
    char words[96];
    snprintf(words, sizeof words, " %s ", text);
    term_cells_put_most(p->cells, column + 2, row, room - 3, TERM_HEAD, words);
}

/* `right` NULL: one box below. */
static void panel_rule(const panel *p, int row, corner kind, const char *left, const char *right)
{
    const bool ascii = p->cells->ascii;
    term_cells_fill(p->cells, 0, row, p->width, TERM_FRAME, ascii ? '-' : 0x2500);
    term_cells_fill(p->cells, 0, row, 1, TERM_FRAME, ascii ? '+' : CORNERS[kind].left);
    term_cells_fill(p->cells, p->split, row, 1, TERM_FRAME,
                    !ascii               ? CORNERS[kind].split
                    : kind == CORNER_END ? '-'
                                         : '+');
    term_cells_fill(p->cells, p->width - 1, row, 1, TERM_FRAME, ascii ? '+' : CORNERS[kind].right);
    if (left)
        panel_head(p, 0, row, right ? p->split : p->width - 1, left);
    if (right)
        panel_head(p, p->split, row, p->width - 1 - p->split, right);
}

static void panel_sides(const panel *p, int row, bool split)
{
    const uint32_t bar = p->cells->ascii ? '|' : 0x2502;
    term_cells_fill(p->cells, 0, row, 1, TERM_FRAME, bar);
    term_cells_fill(p->cells, p->width - 1, row, 1, TERM_FRAME, bar);
    if (split)
        term_cells_fill(p->cells, p->split, row, 1, TERM_FRAME, bar);
}

/* Where values of one half begin, and how many columns they have. */
static int panel_value(const panel *p, bool right, int *room)
{
    const int at = right ? p->split + 1 + 1 + RIGHT_LABEL + 3 : 1 + 1 + LEFT_LABEL + 3;
    *room = (right ? p->width - 1 : p->split) - at;
    return at;
}

/* The first, if it leaves a blank before the frame. */
static const char *panel_fit(const panel *p, bool right, const char *words, const char *fewer)
{
    int room;
    panel_value(p, right, &room);
    return fewer && term_text_width(words) >= room ? fewer : words;
}

/* "label : value" in one half of a row, the short form where the long one has no room. */
static void panel_field(const panel *p, bool right, int row, const char *label, term_style style,
                        const char *words, const char *fewer)
{
    int room;
    const int at = panel_value(p, right, &room);
    term_cells_put(p->cells, at - 3 - term_text_width(label), row, TERM_LABEL, label);
    term_cells_put(p->cells, at - 3, row, TERM_FRAME, " : ");
    term_cells_put_most(p->cells, at, row, room, style, panel_fit(p, right, words, fewer));
}

/* --- boxes ----------------------------------------------------------------------------------- */

static void panel_since(const panel *p, int row, const char *label, double then_s)
{
    char words[FUZZ_FIGURE], fewer[FUZZ_FIGURE];
    const bool never = !(then_s >= 0);
    panel_field(p, false, row, label, never ? TERM_LABEL : TERM_PLAIN,
                never ? "none seen yet" : fuzz_time(p->report->run_s - then_s, words),
                never ? "none yet" : fuzz_time_short(p->report->run_s - then_s, fewer));
}

/* How sure one may be that nothing more will come, by cycles that found nothing. */
static term_style panel_patience(const px_fuzz_report *r)
{
    return r->cycles < 1                   ? TERM_EARLY
           : r->cycles_without_finds < 10  ? TERM_CALM
           : r->cycles_without_finds < 100 ? TERM_HEAD
                                           : TERM_GOOD;
}

static void panel_timing(const panel *p, int row)
{
    const px_fuzz_report *r = p->report;
    char words[2 * FUZZ_FIGURE], fewer[2 * FUZZ_FIGURE], a[FUZZ_FIGURE], b[FUZZ_FIGURE];
    panel_field(p, false, row, "run time", TERM_PLAIN, fuzz_time(r->run_s, words),
                fuzz_time_short(r->run_s, fewer));
    panel_since(p, row + 1, "last new find", r->last_find_s);
    panel_since(p, row + 2, "last failure", r->last_fault_s);
    snprintf(words, sizeof words, "%s (%s wrong)", cli_number(r->seeds, a),
             cli_number(r->seeds_wrong, b));
    panel_field(p, false, row + 3, "seeds", TERM_PLAIN, words, fuzz_short(r->seeds, fewer));

    panel_field(p, true, row, "cycles done", panel_patience(r), cli_number(r->cycles, a),
                fuzz_short(r->cycles, fewer));
    panel_field(p, true, row + 1, "queue", TERM_PLAIN, cli_number(r->queue, a),
                fuzz_short(r->queue, fewer));
    const term_style failures = r->faults > 0 ? TERM_BAD : TERM_PLAIN;
    snprintf(words, sizeof words, "%s (%s close)", cli_number(r->faults, a),
             cli_number(r->close_faults, b));
    snprintf(fewer, sizeof fewer, "%s (%s close)", fuzz_short(r->faults, a),
             fuzz_short(r->close_faults, b));
    panel_field(p, true, row + 2, "failures", failures, panel_fit(p, true, words, fewer), a);
    snprintf(words, sizeof words, "%s, %s kinds", cli_number(r->unique_faults, a),
             cli_number(r->fault_types, b));
    snprintf(fewer, sizeof fewer, "%s, %s kinds", fuzz_short(r->unique_faults, a),
             fuzz_short(r->fault_types, b));
    panel_field(p, true, row + 3, "distinct", failures, panel_fit(p, true, words, fewer), a);
}

/* "235,367 of 688,000, 2 resets" */
static void panel_covered(const panel *p, int row)
{
    const px_fuzz_report *r = p->report;
    char words[4 * FUZZ_FIGURE], fewer[2 * FUZZ_FIGURE], a[FUZZ_FIGURE], b[FUZZ_FIGURE];
    if (r->coverage.total <= 0 && r->coverage.covered <= 0) {
        panel_field(p, true, row, "covered", TERM_LABEL, "-", NULL);
        return;
    }
    const bool bounded = r->coverage.total > 0;
    snprintf(fewer, sizeof fewer, "%s%s%s", fuzz_short(r->coverage.covered, a), bounded ? "/" : "",
             bounded ? fuzz_short(r->coverage.total, b) : "");
    if (r->resets > 0)
        snprintf(words, sizeof words, "%s, %s resets", fewer, fuzz_short(r->resets, a));
    else
        snprintf(words, sizeof words, "%s%s%s", cli_number(r->coverage.covered, a),
                 bounded ? " of " : "", bounded ? cli_number(r->coverage.total, b) : "");
    panel_field(p, true, row, "covered", TERM_PLAIN, words, fewer);
}

static void panel_cycle(const panel *p, int row)
{
    const px_fuzz_report *r = p->report;
    char words[3 * FUZZ_FIGURE], fewer[2 * FUZZ_FIGURE], a[FUZZ_FIGURE], b[FUZZ_FIGURE],
        share[FUZZ_FIGURE];
    snprintf(words, sizeof words, "%s of %s (%s)", cli_number(r->current, a),
             cli_number(r->queue, b), fuzz_share(r->current, r->queue, share));
    snprintf(fewer, sizeof fewer, "%s/%s", fuzz_short(r->current, a), fuzz_short(r->queue, b));
    panel_field(p, false, row, "now processing", TERM_PLAIN, words, fewer);
    snprintf(words, sizeof words, "%s (%s)", cli_number(r->pending, a),
             fuzz_share(r->pending, r->queue, share));
    panel_field(p, false, row + 1, "never picked", TERM_PLAIN, words,
                fuzz_short(r->pending, fewer));
    panel_field(p, false, row + 2, "longest chain", TERM_PLAIN, cli_number(r->depth, a),
                fuzz_short(r->depth, fewer));

    if (isnan(r->coverage.value)) {
        panel_field(p, true, row, "now", TERM_LABEL, "no guide: at random", "no guide");
        panel_field(p, true, row + 1, "of the seeds", TERM_LABEL, "-", NULL);
        panel_field(p, true, row + 2, "covered", TERM_LABEL, "-", NULL);
        return;
    }
    panel_field(p, true, row, "now", TERM_STRONG, fuzz_coverage(&r->coverage, words), NULL);
    const px_coverage seeds = {.value = r->coverage_seeds, .total = r->coverage.total};
    panel_field(p, true, row + 1, "of the seeds", TERM_PLAIN, fuzz_coverage(&seeds, words), NULL);
    panel_covered(p, row + 2);
}

static void panel_stage(const panel *p, int row)
{
    const px_fuzz_report *r = p->report;
    char words[3 * FUZZ_FIGURE], fewer[2 * FUZZ_FIGURE], a[FUZZ_FIGURE], b[FUZZ_FIGURE],
        share[FUZZ_FIGURE];
    panel_field(p, false, row, "now trying", TERM_PLAIN, r->stage ? r->stage : "-", NULL);
    snprintf(words, sizeof words, "%s/%s (%s)", cli_number(r->stage_done, a),
             cli_number(r->stage_total, b), fuzz_share(r->stage_done, r->stage_total, share));
    snprintf(fewer, sizeof fewer, "%s/%s", fuzz_short(r->stage_done, a),
             fuzz_short(r->stage_total, b));
    panel_field(p, false, row + 1, "stage", TERM_PLAIN, r->stage_total > 0 ? words : "-",
                r->stage_total > 0 ? fewer : NULL);
    panel_field(p, false, row + 2, "executions", TERM_PLAIN, cli_number(r->executions, a),
                fuzz_short(r->executions, fewer));
    const bool timed = isfinite(r->executions_per_s);
    snprintf(words, sizeof words, "%s/s (%s/s now)", fuzz_rate(r->executions_per_s, a),
             fuzz_rate(r->executions_per_s_now, b));
    snprintf(fewer, sizeof fewer, "%s/s", b);
    panel_field(p, false, row + 3, "speed", TERM_PLAIN, timed ? words : "-", timed ? fewer : NULL);

    snprintf(words, sizeof words, "%s (%s kept)", cli_number(r->outputs, a),
             cli_number(r->kept, b));
    snprintf(fewer, sizeof fewer, "%s (%s kept)", fuzz_short(r->outputs, a),
             fuzz_short(r->kept, b));
    panel_field(p, true, row, "outputs", TERM_PLAIN, panel_fit(p, true, words, fewer), a);
    snprintf(words, sizeof words, "%s of outputs", fuzz_share(r->faults, r->outputs, share));
    panel_field(p, true, row + 1, "failing", TERM_PLAIN, r->outputs > 0 ? words : "-",
                r->outputs > 0 ? share : NULL);
    snprintf(words, sizeof words, "%s of %s", cli_number(r->classes, a),
             cli_number(r->class_count, b));
    panel_field(p, true, row + 2, "classes hit", TERM_PLAIN, r->class_count > 0 ? words : a,
                fuzz_short(r->classes, fewer));
    panel_field(p, true, row + 3, "not numbers", r->not_finite > 0 ? TERM_BAD : TERM_PLAIN,
                cli_number(r->not_finite, a), fuzz_short(r->not_finite, fewer));
}

/* --- yields ---------------------------------------------------------------------------------- */

static int yield_compare(const void *left, const void *right)
{
    const px_fuzz_yield *a = *(const px_fuzz_yield *const *)left,
                        *b = *(const px_fuzz_yield *const *)right;
    if (a->faults != b->faults)
        return a->faults > b->faults ? -1 : 1;
    if (a->kept != b->kept)
        return a->kept > b->kept ? -1 : 1;
    if (a->tried != b->tried)
        return a->tried > b->tried ? -1 : 1;
    return a < b ? -1 : a > b; /* of one array */
}

static void yield_row(const panel *p, int column, int row, int width, const px_fuzz_yield *yield)
{
    static const char *const heads[YIELD_FIGURES] = {" tried", " valid", "  kept", " failed"};
    const int name = width - YIELD_FIGURES_WIDTH;
    int end = column + name;
    if (yield) /* OpenCV's reading of a mutation, as most are: the name is shorter without */
        term_cells_put_most(p->cells, column, row, name, TERM_PLAIN,
                            term_text_width(yield->name) > name && !strncmp(yield->name, "cv-", 3)
                                ? yield->name + 3
                                : yield->name);
    for (int i = 0; i < YIELD_FIGURES; i++) {
        char words[FUZZ_FIGURE];
        const int64_t values[YIELD_FIGURES] = {yield ? yield->tried : 0, yield ? yield->valid : 0,
                                               yield ? yield->kept : 0, yield ? yield->faults : 0};
        const char *text = yield ? fuzz_short(values[i], words) : heads[i];
        end += (int)strlen(heads[i]);
        const bool failed = yield && i == YIELD_FIGURES - 1 && values[i] > 0;
        term_cells_put(p->cells, end - (int)strlen(text), row,
                       failed  ? TERM_BAD
                       : yield ? TERM_PLAIN
                               : TERM_LABEL,
                       text);
    }
}

/* The table in `lines` rows, its head among them; returns how many it took. Where there are more
 * mutations than places, the best ones are shown and the others summed up. */
static int panel_yields(const panel *p, int row, int lines)
{
    const px_fuzz_report *r = p->report;
    const int inner = p->width - 4, least = YIELD_NAME + YIELD_FIGURES_WIDTH;
    const int most_tables = (inner + YIELD_GAP) / (least + YIELD_GAP);
    const size_t room = (size_t)(lines - 1);
    int tables = 1;
    while (tables < most_tables && (size_t)tables * room < r->yield_count)
        tables++;
    const size_t places = (size_t)tables * room;
    const px_fuzz_yield **best = calloc(r->yield_count + 1, sizeof *best);
    if (!best)
        return 0;
    for (size_t i = 0; i < r->yield_count; i++)
        best[i] = &r->yields[i];
    px_fuzz_yield others = {0};
    char others_name[FUZZ_FIGURE + 16];
    size_t shown = r->yield_count;
    if (shown > places) {
        qsort(best, shown, sizeof *best, yield_compare);
        for (size_t i = places - 1; i < shown; i++) {
            others.tried += best[i]->tried;
            others.valid += best[i]->valid;
            others.kept += best[i]->kept;
            others.faults += best[i]->faults;
        }
        snprintf(others_name, sizeof others_name, "%zu %s", shown - places + 1,
                 places == 1 ? "in all" : "others");
        others.name = others_name;
        best[places - 1] = &others;
        shown = places;
    }
    const int used = 1 + (int)((shown + (size_t)tables - 1) / (size_t)tables);
    int width = (inner + YIELD_GAP) / tables - YIELD_GAP;
    if (width > YIELD_WIDTH_MOST)
        width = YIELD_WIDTH_MOST;
    for (int i = 0; i < used; i++)
        panel_sides(p, row + i, false);
    for (int t = 0; t < tables && (size_t)t * (size_t)(used - 1) < shown; t++) {
        const int column = 2 + t * (width + YIELD_GAP);
        yield_row(p, column, row, width, NULL);
        for (int i = 0; i < used - 1; i++) {
            const size_t at = (size_t)t * (size_t)(used - 1) + (size_t)i;
            if (at < shown)
                yield_row(p, column, row + 1 + i, width, best[at]);
        }
    }
    free(best);
    return used;
}

static void panel_notes(const panel *p, int row)
{
    panel_sides(p, row, false);
    int column = 2;
    for (size_t i = 0; i < p->report->note_count && i < PX_FUZZ_NOTES; i++) {
        const px_fuzz_note *note = &p->report->notes[i];
        char words[FUZZ_FIGURE + sizeof note->value];
        snprintf(words, sizeof words, "%.*s  ", (int)sizeof note->value - 1, note->value);
        if (column + term_text_width(note->name) + 1 + term_text_width(words) > p->width)
            break;
        column += term_cells_put(p->cells, column, row, TERM_LABEL, note->name) + 1;
        column += term_cells_put(p->cells, column, row, TERM_PLAIN, words) + 1;
    }
}

/* --- the whole ------------------------------------------------------------------------------- */

static void panel_title(const panel *p, const fuzz_about *about)
{
    const px_fuzz_report *r = p->report;
    const char *policy = r->policy ? r->policy : r->engine ? r->engine : "-";
    const char *guide = r->guide ? r->guide : "random", *model = about->model ? about->model : "-";
    const int others = (int)(strlen(px_version()) + strlen(policy) + strlen(guide)) + 22;
    char words[400];
    snprintf(words, sizeof words, "plexor fuzz %s {%.80s} (%.*s) [%.80s]", px_version(), policy,
             p->width > others + 8 ? p->width - others : 8, model, guide);
    const int free_columns = p->width - term_text_width(words);
    term_cells_put_most(p->cells, free_columns > 1 ? free_columns / 2 : 0, 0, p->width, TERM_TITLE,
                        words);
}

static void panel_end(const panel *p, const fuzz_about *about, int row, corner kind)
{
    char words[96], stopped[96];
    panel_rule(p, row, kind, NULL, NULL);
    snprintf(words, sizeof words, " %d thread%s ", about->threads, about->threads == 1 ? "" : "s");
    const int at = p->width - 3 - term_text_width(words);
    term_cells_put(p->cells, at, row, TERM_HEAD, words);
    if (p->report->stopped)
        snprintf(stopped, sizeof stopped, " stopped: %.80s ", p->report->stopped);
    else
        snprintf(stopped, sizeof stopped, " Ctrl-C stops, --resume goes on ");
    term_cells_put_most(p->cells, 2, row, at - 3, p->report->stopped ? TERM_STRONG : TERM_HEAD,
                        stopped);
}

static void panel_pair(const panel *p, int *row, corner kind, const char *left, const char *right,
                       int lines, void (*draw)(const panel *p, int row))
{
    panel_rule(p, *row, kind, left, right);
    for (int i = 1; i <= lines; i++)
        panel_sides(p, *row + i, true);
    draw(p, *row + 1);
    *row += 1 + lines;
}

static void panel_boxes(const panel *p, const fuzz_about *about)
{
    const px_fuzz_report *r = p->report;
    char coverage[64] = "coverage";
    if (r->guide && !isnan(r->coverage.value))
        snprintf(coverage, sizeof coverage, "coverage: %.40s", r->guide);
    int row = 1;
    panel_title(p, about);
    panel_pair(p, &row, CORNER_TOP, "process timing", "overall results", TIMING_LINES,
               panel_timing);
    panel_pair(p, &row, CORNER_CROSS, "cycle progress", coverage, CYCLE_LINES, panel_cycle);
    if (p->bottom - row > 1 + STAGE_LINES)
        panel_pair(p, &row, CORNER_CROSS, "stage progress", "findings", STAGE_LINES, panel_stage);
    const int notes = r->note_count > 0;
    const int lines = p->bottom - row - 2 - notes; /* rule and end */
    corner end = CORNER_BOTTOM;
    if (r->yield_count > 0 && lines >= 2) {
        panel_rule(p, row++, CORNER_JOIN, "mutation yields", NULL);
        row += panel_yields(p, row, lines);
        end = CORNER_END;
    }
    if (notes && p->bottom - row >= 2) {
        if (end == CORNER_BOTTOM && p->bottom - row >= 3) {
            panel_rule(p, row++, CORNER_JOIN, r->engine ? r->engine : "engine", NULL);
            end = CORNER_END;
        }
        if (end == CORNER_END)
            panel_notes(p, row++);
    }
    panel_end(p, about, row, end);
}

/* What matters most comes first: the rest may be cut off. */
static void panel_one_line(term_cells *cells, const px_fuzz_report *r)
{
    char words[FUZZ_LINE_TEXT], time[FUZZ_FIGURE], failures[FUZZ_FIGURE], kinds[FUZZ_FIGURE],
        coverage[FUZZ_FIGURE], executions[FUZZ_FIGURE], rate[FUZZ_FIGURE];
    const bool guided = !isnan(r->coverage.value);
    snprintf(words, sizeof words, "%s %s failures, %s kinds%s%.20s%s%s, %s runs, %s/s",
             fuzz_time_short(r->run_s, time), fuzz_short(r->faults, failures),
             fuzz_short(r->fault_types, kinds), guided ? ", " : "",
             guided && r->guide ? r->guide : "", guided ? " " : "",
             guided ? fuzz_coverage(&r->coverage, coverage) : "",
             fuzz_short(r->executions, executions), fuzz_rate(r->executions_per_s_now, rate));
    term_cells_put(cells, 0, 0, TERM_PLAIN, words);
}

void fuzz_panel_draw(term_cells *cells, const fuzz_about *about, const px_fuzz_report *report)
{
    if (cells->columns < FUZZ_PANEL_COLUMNS || cells->rows < FUZZ_PANEL_ROWS) {
        panel_one_line(cells, report);
        return;
    }
    panel p = {.cells = cells, .report = report, .bottom = cells->rows - 1};
    p.width = cells->columns < PANEL_COLUMNS_MOST ? cells->columns : PANEL_COLUMNS_MOST;
    p.split = 1 + (p.width - 3) * 41 / 77;
    panel_boxes(&p, about);
}

const char *fuzz_panel_line(const px_fuzz_report *r, char buffer[FUZZ_LINE_TEXT])
{
    char time[FUZZ_FIGURE], executions[FUZZ_FIGURE], rate[FUZZ_FIGURE], queue[FUZZ_FIGURE],
        faults[FUZZ_FIGURE], unique[FUZZ_FIGURE], types[FUZZ_FIGURE], coverage[FUZZ_FIGURE];
    int length = snprintf(buffer, FUZZ_LINE_TEXT, "%s  %s failures (%s distinct, %s kinds)",
                          fuzz_time_short(r->run_s, time), cli_number(r->faults, faults),
                          cli_number(r->unique_faults, unique), cli_number(r->fault_types, types));
    if (!isnan(r->coverage.value))
        length += snprintf(buffer + length, (size_t)(FUZZ_LINE_TEXT - length), "  %.40s %s",
                           r->guide ? r->guide : "coverage", fuzz_coverage(&r->coverage, coverage));
    snprintf(buffer + length, (size_t)(FUZZ_LINE_TEXT - length),
             "  %s executions (%s/s)  queue %s%s%.60s", cli_number(r->executions, executions),
             fuzz_rate(r->executions_per_s_now, rate), cli_number(r->queue, queue),
             r->stopped ? "  stopped: " : "", r->stopped ? r->stopped : "");
    return buffer;
}
