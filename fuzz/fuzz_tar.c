/* fuzz/fuzz_tar.c - tar shards: members lie within the file, and samples become an index that reads
 * back
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index_file.h"
#include "data/shard_samples.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_back(char *made, size_t made_size)
{
    px_error err = {0};
    pxi_index *index = NULL;
    pxi_bytes view = pxi_bytes_view(made, made_size);
    if (pxi_index_open(&view, "made", &index, &err) != PX_OK)
        abort();
    for (int64_t i = 0; i < pxi_index_count(index); i++) {
        pxi_index_item item;
        if (pxi_index_get(index, i, &item, &err) != PX_OK)
            abort();
    }
    pxi_index_free(index);
}

static void make_index(const pxi_bytes *view)
{
    px_error err = {0};
    char *made = NULL, remark[320] = "";
    size_t made_size = 0;
    pxi_shard_samples samples = {0};
    const pxi_index_part part = {.name = "fuzz", .size = view->size};
    pxi_index_about about = {
        .kind = PXI_INDEX_SHARDS, .split = "", .remark = remark, .parts = &part, .part_count = 1};
    FILE *stream = open_memstream(&made, &made_size);
    bool done = stream && pxi_index_maker_new(stream, &samples.maker, &err) == PX_OK &&
                pxi_shard_samples_read(&samples, view, "fuzz", 0, &err) == PX_OK &&
                pxi_shard_samples_label(&samples, &about, remark, sizeof remark, &err) == PX_OK &&
                pxi_index_maker_finish(samples.maker, &about, &err) == PX_OK;
    pxi_index_maker_free(samples.maker);
    pxi_shard_samples_done(&samples);
    if (stream)
        fclose(stream);
    if (done)
        read_back(made, made_size);
    else if (!err.message[0])
        abort();
    free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static pxi_tar tar;
    pxi_tar_member member;
    px_error err = {0};
    const pxi_bytes view = pxi_bytes_view(bytes, size);
    bool is = false;
    pxi_tar_begin(&tar, &view, "fuzz");
    while (pxi_tar_next(&tar, &member, &err) == PX_OK && member.path)
        if (!strlen(member.path) && size == 0) /* reads the name to its end */
            abort();
        else if (member.place > size || member.size > size - member.place)
            abort();
    pxi_tar_end(&tar);
    if (pxi_shard_is_samples(&view, "fuzz", &is, &err) != PX_OK)
        abort();
    make_index(&view);
    return 0;
}
