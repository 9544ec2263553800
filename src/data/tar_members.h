/* src/data/tar_members.h - where the members of a tar file lie, without unpacking it
 *
 *     pxi_tar tar;
 *     pxi_tar_begin(&tar, &bytes, "shard-000001.tar");
 *     while ((status = pxi_tar_next(&tar, &member, err)) == PX_OK && member.path)
 *         ...                                    // member.size bytes at member.place
 *     pxi_tar_end(&tar);
 *
 * POSIX.1-2001 (ustar and pax) and what GNU tar adds: long names and sizes in base 256. Only the
 * headers are read. Archives that are compressed, and members with holes, are refused.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DATA_TAR_MEMBERS_H
#define PXI_DATA_TAR_MEMBERS_H

#include <internal/bytes.h>

#include <plexor/text.h>

typedef struct pxi_tar_member {
    const char *path; /* of a regular file, until the next one is asked for; NULL: there are no more
                       */
    uint64_t place, size;
} pxi_tar_member;

typedef struct pxi_tar {
    const pxi_bytes *bytes; /* borrowed */
    const char *name;       /* for messages; borrowed */
    uint64_t at;            /* of the next header */
    px_text path;           /* from a header of its own, for the member that follows */
    bool has_path, has_size;
    uint64_t size;
    uint64_t window_at, window_size; /* what was read last: headers mostly lie close together */
    uint8_t window[1 << 14];
} pxi_tar;

void pxi_tar_begin(pxi_tar *tar, const pxi_bytes *bytes, const char *name);
px_status pxi_tar_next(pxi_tar *tar, pxi_tar_member *out, px_error *err);
void pxi_tar_end(pxi_tar *tar);

#endif
