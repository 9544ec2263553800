/* fuzz/fuzz_cover.c - coverage states and profiles that a stranger wrote
 *
 * Both are NPZ files, whose checksums would stop almost every mutation before it gets anywhere. So
 * the input is a list of members, [name size: 1 byte][bytes: 4, little-endian][name][bytes], from
 * which an archive with the right checksums is made.
 */
#include "cover/cover_inside.h"
#include "cover/profile_inside.h"
#include "data/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MEMBERS = 64, ROOM = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct zip {
    uint8_t bytes[ROOM];
    size_t size;
} zip;

static void zip_number(zip *z, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        z->bytes[z->size++] = (uint8_t)(value >> 8 * i);
}

typedef struct member {
    const uint8_t *name, *data;
    uint32_t size, crc;
    uint8_t length;
    size_t place;
} member;

static void zip_member(zip *z, const member *m, bool central)
{
    zip_number(z, central ? 0x02014b50 : 0x04034b50, 4);
    if (central)
        zip_number(z, 20, 2);
    zip_number(z, 20, 2);
    zip_number(z, 0, 2 + 2); /* flags, stored */
    zip_number(z, 0x5a210000, 4);
    zip_number(z, m->crc, 4);
    zip_number(z, m->size, 4);
    zip_number(z, m->size, 4);
    zip_number(z, m->length, 2);
    zip_number(z, 0, 2);
    if (central) {
        zip_number(z, 0, 2 + 2 + 2);
        zip_number(z, 0, 4);
        zip_number(z, m->place, 4);
    }
    memcpy(z->bytes + z->size, m->name, m->length);
    z->size += m->length;
}

/* False: the input is no list of members. */
static bool zip_make(zip *z, const uint8_t *at, size_t left)
{
    member members[MEMBERS];
    size_t count = 0;
    if (left > ROOM / 2)
        return false;
    z->size = 0;
    while (left >= 5 && count < MEMBERS) {
        member *m = &members[count++];
        *m = (member){.length = at[0], .place = z->size, .name = at + 5};
        m->size =
            (uint32_t)at[1] | (uint32_t)at[2] << 8 | (uint32_t)at[3] << 16 | (uint32_t)at[4] << 24;
        at += 5;
        left -= 5;
        if (m->length > left || m->size > left - m->length)
            return false;
        m->data = at + m->length;
        m->crc = (uint32_t)crc32(0, m->data, m->size);
        zip_member(z, m, false);
        memcpy(z->bytes + z->size, m->data, m->size);
        z->size += m->size;
        at += m->length + m->size;
        left -= m->length + m->size;
    }
    const size_t start = z->size;
    for (size_t i = 0; i < count; i++)
        zip_member(z, &members[i], true);
    const size_t length = z->size - start;
    zip_number(z, 0x06054b50, 4);
    zip_number(z, 0, 4);
    zip_number(z, count, 2);
    zip_number(z, count, 2);
    zip_number(z, length, 4);
    zip_number(z, start, 4);
    zip_number(z, 0, 2);
    return true;
}

static px_npz *zip_open(const zip *z)
{
    px_npz *npz = NULL;
    pxi_bytes view = pxi_bytes_view(z->bytes, z->size);
    return pxi_npz_read("fuzz", &view, &npz, NULL) == PX_OK ? npz : NULL;
}

/* What `plexor merge` does: two of the same, which may lie about themselves in the same way. */
static void use_state(const zip *z)
{
    px_npz *npz = zip_open(z);
    px_cover *a = NULL, *b = NULL;
    px_error err = {0};
    if (npz && pxi_cover_read(npz, &a, &err) == PX_OK && pxi_cover_read(npz, &b, &err) == PX_OK) {
        b->seen.count = 0; /* as if of other inputs */
        if (px_cover_merge(a, b, &err) != PX_OK && err.status > PX_E_MISMATCH)
            abort();
        for (size_t i = 0; i < px_cover_count(a); i++)
            px_cover_value(a, i);
    }
    px_cover_free(a);
    px_cover_free(b);
    px_npz_close(npz);
}

static void use_profile(const zip *z)
{
    static const px_row_layer layers[] = {{"a", 0, 2}, {"b", 2, 3}};
    const px_extractor extractor = {
        .key = "fuzz", .definition = "fuzz", .width = 5, .layers = layers, .layer_count = 2};
    px_npz *npz = zip_open(z);
    px_profile *profile = NULL;
    if (npz && pxi_profile_read(npz, "fuzz", &profile, NULL) == PX_OK) {
        px_ranges ranges = {0};
        px_traces traces;
        double sum = 0.0;
        if (px_profile_ranges(profile, "", &extractor, &ranges, NULL) == PX_OK)
            for (int i = 0; i < 5; i++)
                sum += (double)(ranges.high[i] - ranges.low[i]) + ranges.deviation[i];
        if (px_profile_traces(profile, "", &extractor, &traces, NULL) == PX_OK)
            for (int64_t i = 0; i < traces.count * traces.width; i++)
                sum += (double)traces.values[i];
        if (!(sum == sum)) /* ranges and traces are finite, or refused */
            abort();
        px_ranges_done(&ranges);
    }
    px_profile_free(profile);
    px_npz_close(npz);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static zip z;
    if (zip_make(&z, bytes, size)) {
        use_state(&z);
        use_profile(&z);
    }
    return 0;
}
