/* src/store/packing.c - an input's values as they lie in the file: zlib of channels together */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

/* Pictures of 3 KB: half the time of level 6, a few per cent more bytes. */
enum { PACK_LEVEL = 3 };

/* Only [C,H,W] with more than one channel is laid out anew. */
static void packing_counts(const px_shape *shape, size_t *channels, size_t *plane)
{
    *channels = shape->rank == 3 ? (size_t)shape->dim[0] : 1;
    *plane = (size_t)px_shape_count(shape) / *channels;
}

void pxi_store_to_planes(const px_shape *shape, size_t item, const void *together, void *planes)
{
    assert(item > 0);
    size_t channels, plane;
    packing_counts(shape, &channels, &plane);
    if (channels == 1) {
        memcpy(planes, together, plane * item);
        return;
    }
    for (size_t i = 0; i < plane; i++)
        for (size_t c = 0; c < channels; c++)
            memcpy((char *)planes + (c * plane + i) * item,
                   (const char *)together + (i * channels + c) * item, item);
}

void pxi_store_to_together(const px_shape *shape, size_t item, const void *planes, void *together)
{
    assert(item > 0);
    size_t channels, plane;
    packing_counts(shape, &channels, &plane);
    if (channels == 1) {
        memcpy(together, planes, plane * item);
        return;
    }
    for (size_t i = 0; i < plane; i++)
        for (size_t c = 0; c < channels; c++)
            memcpy((char *)together + (i * channels + c) * item,
                   (const char *)planes + (c * plane + i) * item, item);
}

/* As compress2(), with one stream for all inputs: setting one up takes as long as packing. */
static bool packing_deflate(px_campaign *campaign, size_t bytes, size_t room, size_t *size)
{
    z_stream *z = &campaign->packer;
    if (bytes > UINT_MAX || room > UINT_MAX)
        return false;
    if (!campaign->packs)
        campaign->packs = deflateInit(z, PACK_LEVEL) == Z_OK;
    if (!campaign->packs || deflateReset(z) != Z_OK)
        return false;
    z->next_in = campaign->plain;
    z->avail_in = (uInt)bytes;
    z->next_out = campaign->packed;
    z->avail_out = (uInt)room;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        return false;
    *size = z->total_out;
    return true;
}

px_status pxi_store_pack(px_campaign *campaign, const void *planes, const uint8_t **out,
                         size_t *size, px_error *err)
{
    const size_t item = px_dtype_size(campaign->identity.dtype), bytes = campaign->size * item;
    const size_t packed = compressBound((uLong)bytes);
    if (pxi_grow(&campaign->plain, &campaign->plain_room, bytes, 1) != 0 ||
        pxi_grow(&campaign->packed, &campaign->packed_room, packed, 1) != 0)
        return pxi_store_nomem(campaign, err);
    pxi_store_to_together(&campaign->identity.shape, item, planes, campaign->plain);
    if (!packing_deflate(campaign, bytes, packed, size))
        return pxi_store_nomem(campaign, err);
    *out = campaign->packed;
    return PX_OK;
}

void pxi_store_pack_done(px_campaign *campaign)
{
    if (campaign->packs)
        deflateEnd(&campaign->packer);
    campaign->packs = false;
}

px_status pxi_store_inflate(const void *bytes, size_t size, void *plain, size_t plain_size)
{
    uLongf got = (uLongf)plain_size;
    uLong used = (uLong)size;
    const int code = bytes ? uncompress2(plain, &got, bytes, &used) : Z_DATA_ERROR;
    if (code == Z_MEM_ERROR)
        return PX_E_NOMEM;
    return code == Z_OK && got == plain_size && used == size ? PX_OK : PX_E_INPUT;
}

px_status pxi_store_unpack(px_campaign *campaign, const void *bytes, size_t size, void *planes)
{
    const size_t item = px_dtype_size(campaign->identity.dtype), plain = campaign->size * item;
    if (pxi_grow(&campaign->plain, &campaign->plain_room, plain, 1) != 0)
        return PX_E_NOMEM;
    const px_status status = pxi_store_inflate(bytes, size, campaign->plain, plain);
    if (status != PX_OK)
        return status;
    pxi_store_to_planes(&campaign->identity.shape, item, campaign->plain, planes);
    return PX_OK;
}
