/* studies/frame/cells.c - cells.jsonl: read, append, find */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/cells.h"

#include "base/file.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <internal/system.h>
#include <math.h>
#include <plexor/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CELLS_MOST = 1 << 20 };                     /* cells in a file */
static const size_t CELLS_BYTES = (size_t)1 << 28; /* of a file */

struct study_cells {
    char *path;
    study_cell *cell;
    size_t count, room;
    study_command *command;
    size_t command_count, command_room;
};

static void cell_done(study_cell *cell)
{
    free(cell->key);
    free(cell->values);
}

/* --- in memory -------------------------------------------------------------------------------- */

size_t pxi_cells_count(const study_cells *cells)
{
    return cells->count;
}

const study_cell *pxi_cells_at(const study_cells *cells, size_t i)
{
    return &cells->cell[i];
}

const study_cell *pxi_cells_find(const study_cells *cells, const char *key)
{
    for (size_t i = 0; i < cells->count; i++)
        if (strcmp(cells->cell[i].key, key) == 0)
            return &cells->cell[i];
    return NULL;
}

double pxi_cell_number(const study_cell *cell, const char *name)
{
    for (size_t i = 0; cell && i < cell->count; i++)
        if (strcmp(cell->values[i].name, name) == 0)
            return cell->values[i].number;
    return (double)NAN;
}

size_t pxi_cells_command_count(const study_cells *cells)
{
    return cells->command_count;
}

const study_command *pxi_cells_command_at(const study_cells *cells, size_t i)
{
    return &cells->command[i];
}

void pxi_cell_put(cell_list *list, double number, const char *name, ...)
{
    assert(list->count < CELL_VALUES);
    cell_value *value = &list->value[list->count++];
    va_list words;
    va_start(words, name);
    const int length = vsnprintf(value->name, sizeof value->name, name, words);
    va_end(words);
    assert(length > 0 && length < CELL_NAME);
    (void)length;
    value->number = number;
}

/* Takes the cell over, on failure too. */
static px_status cells_keep(study_cells *cells, study_cell cell, px_error *err)
{
    for (size_t i = 0; i < cells->count; i++)
        if (strcmp(cells->cell[i].key, cell.key) == 0) {
            cell_done(&cells->cell[i]);
            cells->cell[i] = cell;
            return PX_OK;
        }
    if (pxi_grow(&cells->cell, &cells->room, cells->count + 1, sizeof *cells->cell) != 0) {
        cell_done(&cell);
        return pxi_no_memory(err);
    }
    cells->cell[cells->count++] = cell;
    return PX_OK;
}

static px_status cells_keep_command(study_cells *cells, const char *text, const char *at,
                                    px_error *err)
{
    study_command *command = NULL;
    for (size_t i = 0; i < cells->command_count && !command; i++)
        if (strcmp(cells->command[i].text, text) == 0)
            command = &cells->command[i];
    if (!command) {
        if (pxi_grow(&cells->command, &cells->command_room, cells->command_count + 1,
                     sizeof *cells->command) != 0)
            return pxi_no_memory(err);
        command = &cells->command[cells->command_count];
        *command = (study_command){.text = pxi_strdup(text)};
        if (!command->text)
            return pxi_no_memory(err);
        cells->command_count++;
        snprintf(command->first, sizeof command->first, "%s", at);
    }
    snprintf(command->last, sizeof command->last, "%s", at);
    return PX_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static const char *cells_string(const px_json_value *object, const char *key, size_t most)
{
    const px_json_value *value = px_json_member(object, key);
    return value && value->kind == PX_JSON_STRING && strlen(value->string) < most ? value->string
                                                                                  : NULL;
}

/* False: not a cell. */
static bool cells_values(const px_json_value *values, study_cell *cell)
{
    for (size_t i = 0; i < values->count; i++) {
        const px_json_value *v = &values->items[i];
        if (strlen(values->keys[i]) >= CELL_NAME ||
            (v->kind != PX_JSON_NUMBER && v->kind != PX_JSON_NULL))
            return false;
        memcpy(cell->values[i].name, values->keys[i], strlen(values->keys[i]) + 1);
        cell->values[i].number = v->kind == PX_JSON_NUMBER ? v->number : (double)NAN;
    }
    cell->count = values->count;
    return true;
}

static px_status cells_read_object(study_cells *cells, const px_json_value *root, px_error *err)
{
    const char *at = cells_string(root, "at", sizeof((study_cell *)NULL)->at);
    const char *command = cells_string(root, "command", (size_t)1 << 16);
    if (at && command)
        return cells_keep_command(cells, command, at, err);
    const char *key = cells_string(root, "key", CELL_KEY);
    const px_json_value *values = px_json_member(root, "values");
    const px_json_value *seconds = px_json_member(root, "seconds");
    if (!at || !key || !values || values->kind != PX_JSON_OBJECT || values->count > CELL_VALUES ||
        !seconds || seconds->kind != PX_JSON_NUMBER)
        return px_fail(err, PX_E_INPUT, "not a cell of a study");
    study_cell cell = {
        .key = pxi_strdup(key),
        .values = pxi_calloc(values->count + 1, sizeof *cell.values),
        .seconds = seconds->number,
    };
    snprintf(cell.at, sizeof cell.at, "%s", at);
    if (cell.key && cell.values && cells_values(values, &cell))
        return cells_keep(cells, cell, err);
    const bool memory = !cell.key || !cell.values;
    cell_done(&cell);
    return memory ? pxi_no_memory(err) : px_fail(err, PX_E_INPUT, "its values are not numbers");
}

static px_status cells_read_line(study_cells *cells, const char *line, size_t size, px_error *err)
{
    px_json_document *document = NULL;
    PX_TRY(px_json_parse(line, size, &document, err));
    const px_json_value *root = px_json_root(document);
    const px_status status = root->kind == PX_JSON_OBJECT
                                 ? cells_read_object(cells, root, err)
                                 : px_fail(err, PX_E_INPUT, "not a cell of a study");
    px_json_free(document);
    return status;
}

static px_status cells_read(study_cells *cells, px_error *err)
{
    char *text = NULL;
    size_t size = 0;
    if (access(cells->path, F_OK) != 0)
        return PX_OK;
    PX_TRY(pxi_file_read(cells->path, CELLS_BYTES, &text, &size, err));
    px_status status = PX_OK;
    size_t number = 1;
    for (const char *line = text; status == PX_OK; number++) {
        const char *end = memchr(line, '\n', size - (size_t)(line - text));
        if (!end) /* the end, or a torn line */
            break;
        if (end > line)
            status = cells_read_line(cells, line, (size_t)(end - line), err);
        if (status == PX_OK && cells->count > CELLS_MOST)
            status = px_fail(err, PX_E_INPUT, "more cells than a study can have");
        if (status != PX_OK && status != PX_E_NOMEM)
            status = px_fail_in(err, status, "'%s', line %zu", cells->path, number);
        line = end + 1;
    }
    free(text);
    return status;
}

px_status pxi_cells_open(const char *path, study_cells **out, px_error *err)
{
    study_cells *cells = NULL;
    PX_TRY(PX_NEW(cells, 1, err));
    cells->path = pxi_strdup(path);
    const px_status status = cells->path ? cells_read(cells, err) : pxi_no_memory(err);
    if (status != PX_OK) {
        pxi_cells_close(cells);
        return status;
    }
    *out = cells;
    return PX_OK;
}

void pxi_cells_close(study_cells *cells)
{
    if (!cells)
        return;
    for (size_t i = 0; i < cells->count; i++)
        cell_done(&cells->cell[i]);
    for (size_t i = 0; i < cells->command_count; i++)
        free(cells->command[i].text);
    free(cells->cell);
    free(cells->command);
    free(cells->path);
    free(cells);
}

/* --- appending -------------------------------------------------------------------------------- */

static void cells_now(char at[24])
{
    const time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(at, 24, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(at, 24, "unknown");
}

/* Where the last whole line ends. */
static off_t cells_end(int fd, off_t size)
{
    char block[4096];
    while (size > 0) {
        const off_t from = size > (off_t)sizeof block ? size - (off_t)sizeof block : 0;
        const ssize_t got = pread(fd, block, (size_t)(size - from), from);
        if (got != size - from)
            return -1;
        for (ssize_t i = got; i > 0; i--)
            if (block[i - 1] == '\n')
                return from + i;
        size = from;
    }
    return 0;
}

static bool cells_write(int fd, const char *text, size_t size)
{
    struct stat file;
    if (flock(fd, LOCK_EX) != 0 || fstat(fd, &file) != 0)
        return false;
    const off_t end = cells_end(fd, file.st_size);
    if (end < 0 || (end < file.st_size && ftruncate(fd, end) != 0))
        return false;
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write(fd, text + done, size - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        done += (size_t)wrote;
    }
    return fsync(fd) == 0;
}

/* The writer's lines as one, with an end. */
static px_status cells_append(const study_cells *cells, const px_json *json, px_error *err)
{
    if (pxi_ranks_mute())
        return PX_OK;
    const char *words = px_json_text(json);
    px_text line = {0};
    for (const char *p = words ? words : ""; *p;) {
        const size_t length = strcspn(p, "\n");
        px_text_add_bytes(&line, p, length);
        p += length;
        p += strspn(p, "\n ");
    }
    px_text_add(&line, "\n");
    px_status status = PX_OK;
    if (!words || px_text_failed(&line)) {
        status = pxi_no_memory(err);
    } else {
        const int fd = open(cells->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd < 0 || !cells_write(fd, line.data, line.length))
            status = px_fail(err, PX_E_IO, "'%s': %s", cells->path, strerror(errno));
        if (fd >= 0 && close(fd) != 0 && status == PX_OK)
            status = px_fail(err, PX_E_IO, "'%s': %s", cells->path, strerror(errno));
    }
    px_text_done(&line);
    return status;
}

px_status pxi_cells_add(study_cells *cells, const char *key, double seconds,
                        const cell_value *values, size_t count, px_error *err)
{
    assert(count <= CELL_VALUES && strlen(key) < CELL_KEY);
    px_json json = {0};
    study_cell cell = {
        .key = pxi_strdup(key),
        .values = pxi_calloc(count + 1, sizeof *cell.values),
        .count = count,
        .seconds = isfinite(seconds) ? seconds : 0.0,
    };
    if (!cell.key || !cell.values) {
        cell_done(&cell);
        return pxi_no_memory(err);
    }
    if (count > 0)
        memcpy(cell.values, values, count * sizeof *values);
    cells_now(cell.at);
    px_json_object(&json, NULL);
    px_json_string(&json, "key", key);
    px_json_string(&json, "at", cell.at);
    px_json_string(&json, "version", px_version());
    px_json_real(&json, "seconds", cell.seconds);
    px_json_object(&json, "values");
    for (size_t i = 0; i < count; i++)
        px_json_real(&json, values[i].name, values[i].number);
    px_json_end(&json);
    px_json_end(&json);
    const px_status status = cells_append(cells, &json, err);
    px_json_done(&json);
    if (status != PX_OK) {
        cell_done(&cell);
        return status;
    }
    return cells_keep(cells, cell, err);
}

px_status pxi_cells_command(study_cells *cells, const char *text, px_error *err)
{
    char at[24];
    px_json json = {0};
    cells_now(at);
    px_json_object(&json, NULL);
    px_json_string(&json, "command", text);
    px_json_string(&json, "at", at);
    px_json_end(&json);
    const px_status status = cells_append(cells, &json, err);
    px_json_done(&json);
    return status == PX_OK ? cells_keep_command(cells, text, at, err) : status;
}
