/* src/ops/fold.c - walking a tensor whose axes are partly reduced */
/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/fold.h"

#include "base/memory.h"

void pxi_fold_init(pxi_fold *fold, int rank, const int64_t *extent, const bool *reduced)
{
    *fold = (pxi_fold){.row = 1, .out_count = 1, .per_result = 1};
    int64_t size[PXI_NEST_RANK];
    bool mark[PXI_NEST_RANK];
    int count = 0;
    for (int i = 0; i < rank; i++) {
        *(reduced[i] ? &fold->per_result : &fold->out_count) *= extent[i];
        if (extent[i] == 1)
            continue;
        if (count && mark[count - 1] == reduced[i]) {
            size[count - 1] *= extent[i];
        } else {
            size[count] = extent[i];
            mark[count++] = reduced[i];
        }
    }
    int64_t stride = 1;
    for (int i = count - 1; i >= 0; stride *= size[i--]) {
        if (i == count - 1) {
            fold->row = size[i];
            fold->scalar = mark[i];
        } else if (mark[i]) {
            fold->reduced[fold->reduced_rank] = size[i];
            fold->reduced_stride[fold->reduced_rank++] = stride;
        } else {
            fold->kept[fold->kept_rank] = size[i];
            fold->kept_stride[fold->kept_rank++] = stride;
        }
    }
}

/* Axes are stored innermost first. */
bool pxi_fold_next(int rank, const int64_t *extent, const int64_t *stride,
                   int64_t index[PXI_NEST_RANK], int64_t *offset)
{
    for (int i = 0; i < rank; i++) {
        *offset += stride[i];
        if (++index[i] < extent[i])
            return true;
        *offset -= stride[i] * extent[i];
        index[i] = 0;
    }
    return false;
}

void pxi_fold_rows(const pxi_fold *fold, pxi_fold_row visit, void *context)
{
    if (fold->out_count == 0 || fold->per_result == 0)
        return;
    int64_t kept[PXI_NEST_RANK] = {0}, base = 0, y = 0;
    do {
        int64_t reduced[PXI_NEST_RANK] = {0}, x = base;
        do
            visit(context, x, y, fold->row, fold->scalar);
        while (pxi_fold_next(fold->reduced_rank, fold->reduced, fold->reduced_stride, reduced, &x));
        y += fold->scalar ? 1 : fold->row;
    } while (pxi_fold_next(fold->kept_rank, fold->kept, fold->kept_stride, kept, &base));
}

double pxi_sum_row(const px_real *x, int64_t count)
{
    double lane[8] = {0.0}, sum = 0.0;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; j++)
            lane[j] += (double)x[i + j];
    for (; i < count; i++)
        sum += (double)x[i];
    for (int j = 0; j < 8; j++)
        sum += lane[j];
    return sum;
}

enum { SUM_CHUNK = 64 };

void pxi_sum_into(int rank, const int64_t *extent, const bool *reduced, px_real *to,
                  const px_real *from)
{
    pxi_fold fold;
    pxi_fold_init(&fold, rank, extent, reduced);
    if (fold.out_count == 0 || fold.per_result == 0)
        return;
    const int64_t width = fold.scalar ? 1 : fold.row;
    int64_t kept[PXI_NEST_RANK] = {0}, base = 0;
    do {
        for (int64_t c = 0; c < width; c += SUM_CHUNK) {
            const int64_t count = PX_MIN(width - c, SUM_CHUNK);
            double sum[SUM_CHUNK] = {0.0};
            int64_t index[PXI_NEST_RANK] = {0}, x = base + c;
            do {
                if (fold.scalar)
                    sum[0] += pxi_sum_row(from + x, fold.row);
                else
                    for (int64_t j = 0; j < count; j++)
                        sum[j] += (double)from[x + j];
            } while (
                pxi_fold_next(fold.reduced_rank, fold.reduced, fold.reduced_stride, index, &x));
            for (int64_t j = 0; j < count; j++)
                to[c + j] += (px_real)sum[j];
        }
        to += width;
    } while (pxi_fold_next(fold.kept_rank, fold.kept, fold.kept_stride, kept, &base));
}
