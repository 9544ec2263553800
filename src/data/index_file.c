/* src/data/index_file.c - indexes are written, and read with suspicion */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/index_file.h"

#include "base/memory.h"

#include <assert.h>
#include <internal/source.h>
#include <plexor/text.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structs below are written as they are");

static const char index_magic[16] = "plexor index 1\n";

enum { BLOCK_ITEMS = 256 };
#define INDEX_PARTS_MAX ((size_t)16 << 20)
#define INDEX_ABOUT_MAX ((uint64_t)4 << 30)

typedef struct index_record {
    uint64_t place, size;
    uint32_t part, name_end; /* of the names of its block */
} index_record;

typedef struct index_block {
    uint64_t start, hash;
} index_block;

typedef struct index_part_head { /* the name follows */
    uint64_t size;
    int64_t changed_s, changed_ns;
} index_part_head;

typedef struct index_foot {
    uint64_t count, directory, labels, about, about_hash;
    uint32_t kind, class_count, has_names, part_count;
    uint64_t hash; /* of all before it and of directory and labels */
} index_foot;

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { HASHES_COUNT = 0 }; /* a fuzzer would get no further */
#else
enum { HASHES_COUNT = 1 };
#endif

static size_t index_blocks(int64_t count)
{
    return (size_t)((count + BLOCK_ITEMS - 1) / BLOCK_ITEMS);
}

static uint64_t foot_hash(const index_foot *foot, const index_block *blocks, size_t block_count,
                          const int32_t *labels)
{
    const uint64_t hashes[] = {XXH3_64bits(foot, offsetof(index_foot, hash)),
                               XXH3_64bits(blocks, block_count * sizeof *blocks),
                               XXH3_64bits(labels, (size_t)foot->count * sizeof *labels)};
    return XXH3_64bits(hashes, sizeof hashes);
}

/* --- making one ------------------------------------------------------------------------------ */

struct pxi_index_maker {
    FILE *to;
    uint64_t at; /* bytes written */
    index_record records[BLOCK_ITEMS];
    size_t pending; /* of them */
    px_text names;
    index_block *blocks;
    size_t block_count, block_room;
    int32_t *labels;
    size_t count, room;
};

static void maker_put(pxi_index_maker *maker, const void *bytes, size_t size)
{
    if (size)
        fwrite(bytes, 1, size, maker->to); /* whoever closes the stream sees what failed */
    maker->at += size;
}

px_status pxi_index_maker_new(FILE *to, pxi_index_maker **out, px_error *err)
{
    pxi_index_maker *maker = NULL;
    PX_TRY(PX_NEW(maker, 1, err));
    maker->to = to;
    maker_put(maker, index_magic, sizeof index_magic);
    *out = maker;
    return PX_OK;
}

void pxi_index_maker_free(pxi_index_maker *maker)
{
    if (!maker)
        return;
    px_text_done(&maker->names);
    free(maker->blocks);
    free(maker->labels);
    free(maker);
}

static px_status maker_flush(pxi_index_maker *maker, px_error *err)
{
    const size_t records = maker->pending * sizeof *maker->records;
    if (px_text_failed(&maker->names))
        return pxi_no_memory(err);
    PX_TRY(PX_GROW(maker->blocks, maker->block_room, maker->block_count + 1, err));
    const uint64_t hashes[] = {XXH3_64bits(maker->records, records),
                               XXH3_64bits(px_text_get(&maker->names), maker->names.length)};
    maker->blocks[maker->block_count++] =
        (index_block){.start = maker->at, .hash = XXH3_64bits(hashes, sizeof hashes)};
    maker_put(maker, maker->records, records);
    maker_put(maker, px_text_get(&maker->names), maker->names.length);
    px_text_clear(&maker->names);
    maker->pending = 0;
    return PX_OK;
}

px_status pxi_index_maker_add(pxi_index_maker *maker, const pxi_index_item *item, int32_t label,
                              px_error *err)
{
    PX_TRY(PX_GROW(maker->labels, maker->room, maker->count + 1, err));
    px_text_add(&maker->names, item->name);
    maker->records[maker->pending++] = (index_record){.place = item->place,
                                                      .size = item->size,
                                                      .part = item->part,
                                                      .name_end = (uint32_t)maker->names.length};
    maker->labels[maker->count++] = label;
    return maker->pending == BLOCK_ITEMS ? maker_flush(maker, err) : PX_OK;
}

int64_t pxi_index_maker_count(const pxi_index_maker *maker)
{
    return (int64_t)maker->count;
}

void pxi_index_maker_relabel(pxi_index_maker *maker, const int32_t *to)
{
    for (size_t i = 0; i < maker->count; i++)
        if (maker->labels[i] >= 0)
            maker->labels[i] = to[maker->labels[i]];
}

static void about_text(px_text *to, const char *text)
{
    px_text_add_bytes(to, text, strlen(text) + 1);
}

static px_status maker_about(const pxi_index_about *about, px_text *to, px_error *err)
{
    about_text(to, about->split);
    about_text(to, about->remark);
    for (int c = 0; about->class_names && c < about->class_count; c++)
        about_text(to, about->class_names[c]);
    for (size_t i = 0; i < about->part_count; i++) {
        const pxi_index_part *part = &about->parts[i];
        const index_part_head head = {part->size, part->changed_s, part->changed_ns};
        px_text_add_bytes(to, (const char *)&head, sizeof head);
        about_text(to, part->name);
    }
    return px_text_failed(to) ? pxi_no_memory(err) : PX_OK;
}

px_status pxi_index_maker_finish(pxi_index_maker *maker, const pxi_index_about *about,
                                 px_error *err)
{
    px_text text = {0};
    index_foot foot = {.count = maker->count,
                       .kind = (uint32_t)about->kind,
                       .class_count = (uint32_t)about->class_count,
                       .has_names = about->class_names != NULL,
                       .part_count = (uint32_t)about->part_count};
    px_status status = maker->pending ? maker_flush(maker, err) : PX_OK;
    PX_THEN(status, PX_GROW(maker->blocks, maker->block_room, maker->block_count + 1, err));
    PX_THEN(status, maker_about(about, &text, err));
    if (status == PX_OK) {
        maker->blocks[maker->block_count] = (index_block){.start = maker->at};
        foot.directory = maker->at;
        maker_put(maker, maker->blocks, (maker->block_count + 1) * sizeof *maker->blocks);
        foot.labels = maker->at;
        maker_put(maker, maker->labels, maker->count * sizeof *maker->labels);
        foot.about = maker->at;
        foot.about_hash = XXH3_64bits(px_text_get(&text), text.length);
        maker_put(maker, px_text_get(&text), text.length);
        foot.hash = foot_hash(&foot, maker->blocks, maker->block_count + 1, maker->labels);
        maker_put(maker, &foot, sizeof foot);
    }
    px_text_done(&text);
    return status;
}

/* --- reading one ----------------------------------------------------------------------------- */

struct pxi_index {
    pxi_bytes bytes;
    char *name;
    index_foot foot;
    index_block *blocks;
    int32_t *labels;
    char *about_bytes;
    const char **class_names;
    pxi_index_part *parts;
    pxi_index_about about;
    pthread_mutex_t lock; /* of all below: the block that was read last */
    int64_t block;        /* -1: none */
    uint8_t *block_bytes;
    size_t block_room;
};

static px_status index_damaged(const pxi_index *index, const char *what, px_error *err)
{
    return px_fail(err, PX_E_IO, "'%.300s': damaged as an index (%s): 'plexor index' makes it anew",
                   index->name, what);
}

/* Nowhere but down: a name is given to openat(). */
static bool index_name_is_safe(const char *name, bool may_be_empty)
{
    if (*name == '\0')
        return may_be_empty;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/' && part != name;
        const size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && part[0] == '.') ||
            (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        if (part[length] == '\0')
            return true;
        part += length;
    }
    return true;
}

static px_status index_read_foot(pxi_index *index, px_error *err)
{
    char magic[sizeof index_magic];
    index_foot *foot = &index->foot;
    const uint64_t size = index->bytes.size;
    if (size < sizeof magic + sizeof *foot)
        return index_damaged(index, "it is too short", err);
    PX_TRY(pxi_bytes_read(&index->bytes, 0, magic, sizeof magic, index->name, err));
    PX_TRY(
        pxi_bytes_read(&index->bytes, size - sizeof *foot, foot, sizeof *foot, index->name, err));
    if (memcmp(magic, index_magic, sizeof magic) != 0)
        return index_damaged(index, "not of this version of plexor", err);
    const uint64_t end = size - sizeof *foot;
    if (foot->count < 1 || foot->count > end / sizeof(index_record) ||
        foot->directory < sizeof magic || foot->directory > end || foot->labels > end ||
        foot->about > end || end - foot->about > INDEX_ABOUT_MAX ||
        foot->labels - foot->directory !=
            (index_blocks((int64_t)foot->count) + 1) * sizeof *index->blocks ||
        foot->about - foot->labels != foot->count * sizeof *index->labels)
        return index_damaged(index, "its sections do not fit the file", err);
    if (foot->kind >= PXI_INDEX_KINDS || foot->class_count > PXI_CLASSES_MAX ||
        foot->part_count < 1 || foot->part_count > INDEX_PARTS_MAX ||
        foot->part_count > (end - foot->about) / sizeof(index_part_head))
        return index_damaged(index, "its figures are out of range", err);
    return PX_OK;
}

static px_status index_read_tables(pxi_index *index, px_error *err)
{
    const index_foot *foot = &index->foot;
    const size_t count = (size_t)foot->count, blocks = index_blocks((int64_t)count) + 1;
    PX_TRY(PX_NEW(index->blocks, blocks, err));
    PX_TRY(PX_NEW(index->labels, count, err));
    PX_TRY(pxi_bytes_read(&index->bytes, foot->directory, index->blocks,
                          blocks * sizeof *index->blocks, index->name, err));
    PX_TRY(pxi_bytes_read(&index->bytes, foot->labels, index->labels, count * sizeof *index->labels,
                          index->name, err));
    if (HASHES_COUNT && foot->hash != foot_hash(foot, index->blocks, blocks, index->labels))
        return index_damaged(index, "a checksum does not match", err);
    uint64_t at = sizeof index_magic;
    for (size_t b = 0; b < blocks; b++) {
        const uint64_t least = b == 0           ? 0
                               : b + 1 < blocks ? BLOCK_ITEMS
                                                : count - (blocks - 2) * BLOCK_ITEMS;
        const uint64_t start = index->blocks[b].start;
        if (start > foot->directory || start < at || start - at < least * sizeof(index_record) ||
            (b > 0 && start - at > least * (sizeof(index_record) + PXI_INDEX_NAME)))
            return index_damaged(index, "a block lies outside of it", err);
        at = start;
    }
    for (size_t i = 0; i < count; i++)
        if (index->labels[i] < -1 || index->labels[i] >= (int64_t)foot->class_count)
            return index_damaged(index, "a label is out of range", err);
    return PX_OK;
}

/* The next text, or NULL: it does not end. */
static const char *about_next(const char **at, const char *end)
{
    const char *text = *at, *zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
    if (!zero)
        return NULL;
    *at = zero + 1;
    return text;
}

static px_status index_read_about(pxi_index *index, px_error *err)
{
    const index_foot *foot = &index->foot;
    const size_t size = (size_t)(index->bytes.size - sizeof *foot - foot->about);
    const bool has_names = foot->has_names != 0;
    PX_TRY(PX_NEW(index->about_bytes, size + 1, err));
    PX_TRY(pxi_bytes_read(&index->bytes, foot->about, index->about_bytes, size, index->name, err));
    if (HASHES_COUNT && XXH3_64bits(index->about_bytes, size) != foot->about_hash)
        return index_damaged(index, "a checksum does not match", err);
    PX_TRY(PX_NEW(index->parts, foot->part_count, err));
    if (has_names)
        PX_TRY(PX_NEW(index->class_names, foot->class_count, err));
    const char *at = index->about_bytes, *end = at + size;
    const char *split = about_next(&at, end), *remark = about_next(&at, end);
    bool good = split && remark;
    for (uint32_t c = 0; has_names && c < foot->class_count && good; c++)
        good = (index->class_names[c] = about_next(&at, end)) != NULL;
    for (uint32_t i = 0; i < foot->part_count && good; i++) {
        index_part_head head;
        good = (size_t)(end - at) > sizeof head;
        if (!good)
            break;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        index->parts[i] = (pxi_index_part){.name = about_next(&at, end),
                                           .size = head.size,
                                           .changed_s = head.changed_s,
                                           .changed_ns = head.changed_ns};
        good = index->parts[i].name && index_name_is_safe(index->parts[i].name, true);
    }
    if (!good)
        return index_damaged(index, "what it is about cannot be read", err);
    index->about = (pxi_index_about){.kind = (pxi_index_kind)foot->kind,
                                     .split = split,
                                     .remark = remark,
                                     .class_count = (int)foot->class_count,
                                     .class_names = index->class_names,
                                     .parts = index->parts,
                                     .part_count = foot->part_count};
    return PX_OK;
}

px_status pxi_index_open(pxi_bytes *bytes, const char *name, pxi_index **out, px_error *err)
{
    pxi_index *index = pxi_calloc(1, sizeof *index);
    if (!index) {
        pxi_bytes_done(bytes);
        return pxi_no_memory(err);
    }
    pthread_mutex_init(&index->lock, NULL);
    index->block = -1;
    index->bytes = *bytes;
    *bytes = (pxi_bytes){0};
    px_status status = PX_DUP(index->name, name, err);
    PX_THEN(status, index_read_foot(index, err));
    PX_THEN(status, index_read_tables(index, err));
    PX_THEN(status, index_read_about(index, err));
    return PX_GIVE(status, index, out, pxi_index_free);
}

void pxi_index_free(pxi_index *index)
{
    if (!index)
        return;
    pxi_bytes_done(&index->bytes);
    pthread_mutex_destroy(&index->lock);
    free(index->name);
    free(index->blocks);
    free(index->labels);
    free(index->about_bytes);
    free(index->class_names);
    free(index->parts);
    free(index->block_bytes);
    free(index);
}

const pxi_index_about *pxi_index_tell(const pxi_index *index)
{
    return &index->about;
}

int64_t pxi_index_count(const pxi_index *index)
{
    return (int64_t)index->foot.count;
}

int32_t pxi_index_label(const pxi_index *index, int64_t i)
{
    return index->labels[i];
}

static px_status index_load_block(pxi_index *index, int64_t block, size_t items, px_error *err)
{
    const uint64_t start = index->blocks[block].start;
    const size_t size = (size_t)(index->blocks[block + 1].start - start),
                 records = items * sizeof(index_record);
    index->block = -1;
    PX_TRY(PX_GROW(index->block_bytes, index->block_room, size, err));
    PX_TRY(pxi_bytes_read(&index->bytes, start, index->block_bytes, size, index->name, err));
    const uint64_t hashes[] = {XXH3_64bits(index->block_bytes, records),
                               XXH3_64bits(index->block_bytes + records, size - records)};
    if (HASHES_COUNT && XXH3_64bits(hashes, sizeof hashes) != index->blocks[block].hash)
        return index_damaged(index, "a checksum does not match", err);
    index->block = block;
    return PX_OK;
}

static px_status index_take(pxi_index *index, int64_t i, pxi_index_item *out, px_error *err)
{
    const int64_t block = i / BLOCK_ITEMS;
    const size_t items =
        (size_t)PX_MIN(pxi_index_count(index) - block * BLOCK_ITEMS, (int64_t)BLOCK_ITEMS);
    if (index->block != block)
        PX_TRY(index_load_block(index, block, items, err));
    const size_t at = (size_t)(i % BLOCK_ITEMS);
    const size_t names_size =
        (size_t)(index->blocks[block + 1].start - index->blocks[block].start) -
        items * sizeof(index_record);
    const char *names = (const char *)index->block_bytes + items * sizeof(index_record);
    index_record record, before = {.name_end = 0};
    memcpy(&record, index->block_bytes + at * sizeof record, sizeof record);
    if (at > 0)
        memcpy(&before, index->block_bytes + (at - 1) * sizeof record, sizeof record);
    if (record.name_end > names_size || record.name_end <= before.name_end ||
        record.name_end - before.name_end >= PXI_INDEX_NAME ||
        record.part >= index->foot.part_count)
        return index_damaged(index, "an input lies outside of it", err);
    const size_t length = record.name_end - before.name_end;
    memcpy(out->name, names + before.name_end, length);
    out->name[length] = '\0';
    out->place = record.place;
    out->size = record.size;
    out->part = record.part;
    const pxi_index_part *part = &index->parts[record.part];
    const bool shard = index->about.kind == PXI_INDEX_SHARDS;
    if (strlen(out->name) != length ||
        (shard ? record.place > part->size || record.size > part->size - record.place
               : !index_name_is_safe(out->name, false)))
        return index_damaged(index, "an input lies outside of its part", err);
    return PX_OK;
}

px_status pxi_index_get(const pxi_index *index, int64_t i, pxi_index_item *out, px_error *err)
{
    assert(i >= 0 && i < pxi_index_count(index));
    pxi_index *reader = (pxi_index *)(uintptr_t)index; /* what was read last is under its lock */
    pthread_mutex_lock(&reader->lock);
    const px_status status = index_take(reader, i, out, err);
    pthread_mutex_unlock(&reader->lock);
    return status;
}
