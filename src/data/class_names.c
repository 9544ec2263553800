/* src/data/class_names.c - lists of class names, as metadata and users give them */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLASS_FILE_MAX ((size_t)64 << 20)

void px_class_names_free(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

px_status px_class_names_parse(const char *json, char ***out, int *count, px_error *err)
{
    px_json_document *document = NULL;
    char **names = NULL;
    int used = 0;
    PX_TRY(px_json_parse(json, strlen(json), &document, err));
    const px_json_value *root = px_json_root(document);
    px_status status = PX_OK;
    const bool object = root->kind == PX_JSON_OBJECT;
    if ((!object && root->kind != PX_JSON_ARRAY) || root->count == 0) {
        status = px_fail(err, PX_E_INPUT, "class names: expected a JSON list of names");
        goto done;
    }
    names = pxi_calloc(root->count, sizeof *names);
    for (size_t i = 0; names && i < root->count && status == PX_OK; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        const px_json_value *item = object ? px_json_member(root, key) : &root->items[i];
        if (!item || item->kind != PX_JSON_STRING)
            status = px_fail(err, PX_E_INPUT, "class names: class %zu has none", i);
        else if ((names[used] = pxi_strdup(item->string)) != NULL)
            used++;
        else
            status = pxi_no_memory(err);
    }
    if (!names)
        status = pxi_no_memory(err);
    if (status == PX_OK) {
        *out = names;
        *count = used;
        names = NULL;
    }
done:
    px_class_names_free(names, used);
    px_json_free(document);
    return status;
}

/* The parts between separators, without the blanks around them. An empty one is left out where
 * `blank_lines`, a mistake otherwise. */
static px_status names_split(const char *text, char separator, bool blank_lines, char ***out,
                             int *count, px_error *err)
{
    char **names = NULL;
    size_t used = 0, capacity = 0;
    px_status status = PX_OK;
    for (const char *at = text; status == PX_OK;) {
        const char *end = strchr(at, separator), *last = end ? end : at + strlen(at);
        const char *next = end ? end + 1 : NULL;
        at += strspn(at, " \t\r");
        while (last > at && strchr(" \t\r", last[-1]))
            last--;
        if (last <= at && !blank_lines) {
            status = px_fail(err, PX_E_USAGE, "name %zu is empty", used);
        } else if (last > at) {
            if (pxi_grow(&names, &capacity, used + 1, sizeof *names) != 0 ||
                !(names[used] = strndup(at, (size_t)(last - at))))
                status = pxi_no_memory(err);
            else
                used++;
        }
        if (!next)
            break;
        at = next;
    }
    if (status == PX_OK && used == 0)
        status = px_fail(err, PX_E_INPUT, "holds no names");
    if (status != PX_OK) {
        px_class_names_free(names, (int)used);
        return status;
    }
    *out = names;
    *count = (int)used;
    return PX_OK;
}

static px_status names_file(const char *path, char ***out, int *count, px_error *err)
{
    char *bytes = NULL;
    size_t size = 0;
    PX_TRY(pxi_file_read(path, CLASS_FILE_MAX, &bytes, &size, err));
    const char *first = strncmp(bytes, "\xef\xbb\xbf", 3) == 0 ? bytes + 3 : bytes;
    first += strspn(first, " \t\r\n");
    const px_status status = *first == '[' || *first == '{'
                                 ? px_class_names_parse(first, out, count, err)
                                 : names_split(first, '\n', true, out, count, err);
    free(bytes);
    return status;
}

px_status px_class_names_read(const char *text, char ***out, int *count, px_error *err)
{
    px_status status;
    if (access(text, F_OK) == 0)
        status = names_file(text, out, count, err);
    else if (strchr(text, ','))
        status = names_split(text, ',', false, out, count, err);
    else
        status = px_fail(err, PX_E_USAGE,
                         "no such file, and no list of names such as cat,dog,frog either");
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "--classes '%.100s'", text);
}
