/* fuzz/zip_members.h - NPZ files for targets that read them
 *
 * Checksums would stop almost every mutation of an archive before it gets anywhere. So the input is
 * a list of members, [name size: 1 byte][bytes: 4, little-endian][name][bytes], from which an
 * archive with the right checksums is made.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_ZIP_MEMBERS_H
#define FUZZ_ZIP_MEMBERS_H

#include "data/npz.h"

#include <string.h>
#include <zlib.h>

enum { ZIP_MEMBERS = 64, ZIP_ROOM = 1 << 20 };

typedef struct zip {
    uint8_t bytes[ZIP_ROOM];
    size_t size;
} zip;

static inline void zip_number(zip *z, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        z->bytes[z->size++] = (uint8_t)(value >> 8 * i);
}

typedef struct zip_entry {
    const uint8_t *name, *data;
    uint32_t size, crc;
    uint8_t length;
    size_t place;
} zip_entry;

static inline void zip_member(zip *z, const zip_entry *m, bool central)
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
static inline bool zip_make(zip *z, const uint8_t *at, size_t left)
{
    zip_entry members[ZIP_MEMBERS];
    size_t count = 0;
    if (left > ZIP_ROOM / 2)
        return false;
    z->size = 0;
    while (left >= 5 && count < ZIP_MEMBERS) {
        zip_entry *m = &members[count++];
        *m = (zip_entry){.length = at[0], .place = z->size, .name = at + 5};
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

static inline px_npz *zip_open(const zip *z)
{
    px_npz *npz = NULL;
    pxi_bytes view = pxi_bytes_view(z->bytes, z->size);
    return pxi_npz_read("fuzz", &view, &npz, NULL) == PX_OK ? npz : NULL;
}

#endif
