/* fuzz/fuzz_index.c - indexes of data sets: whatever they say leads nowhere but down */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool leads_up(const char *name)
{
    const size_t length = strlen(name);
    return name[0] == '/' || strncmp(name, "../", 3) == 0 || strcmp(name, "..") == 0 ||
           strstr(name, "/../") || (length > 3 && strcmp(name + length - 3, "/..") == 0);
}

static void look(const pxi_index *index, size_t size)
{
    const pxi_index_about *about = pxi_index_tell(index);
    for (size_t i = 0; i < about->part_count; i++)
        if (strlen(about->parts[i].name) > size || leads_up(about->parts[i].name))
            abort();
    for (int64_t i = 0; i < pxi_index_count(index); i++) {
        pxi_index_item item;
        px_error err = {0};
        if (pxi_index_label(index, i) < -1 || pxi_index_label(index, i) >= about->class_count)
            abort();
        if (pxi_index_get(index, i, &item, &err) != PX_OK) {
            if (!strstr(err.message, "'fuzz'"))
                abort();
            continue;
        }
        if (item.part >= about->part_count || !item.name[0] ||
            (about->kind == PXI_INDEX_SHARDS &&
             item.size > about->parts[item.part].size - item.place) ||
            (about->kind == PXI_INDEX_FOLDERS && leads_up(item.name)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pxi_index *index = NULL;
    px_error err = {0};
    pxi_bytes view = pxi_bytes_view(bytes, size);
    if (pxi_index_open(&view, "fuzz", &index, &err) != PX_OK) {
        if (!strstr(err.message, "'fuzz'"))
            abort();
        return 0;
    }
    look(index, size);
    pxi_index_free(index);
    return 0;
}
