/* src/assess/assess_internal.h - what a metric sees of a pair, and what the frame knows of a metric
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_ASSESS_ASSESS_INTERNAL_H
#define PXI_ASSESS_ASSESS_INTERNAL_H

#include <internal/assess.h>

enum { PXI_METRICS_MOST = 16 };

typedef struct pxi_pair {
    size_t count;              /* values */
    size_t channels;           /* of pictures; 0: the inputs are none */
    int height, width;         /* of pictures */
    const double *x, *a;       /* in levels: 0 to 255 over the range, whatever is stored */
    double low, high;          /* the range in scaled units */
    const double *p;           /* class probabilities of a */
    int classes, truth, after; /* after is never -1 when a metric sees it */
    double *scratch;           /* pxi_ssim_scratch() values */
} pxi_pair;

typedef enum pxi_metric_over {
    PXI_OVER_PAIRS,
    PXI_OVER_RIGHT, /* those whose original is classified correctly */
    PXI_OVER_WRONG, /* those whose adversarial half is not */
} pxi_metric_over;

typedef enum pxi_metric_needs {
    PXI_NEEDS_NOTHING,
    PXI_NEEDS_PLANES,  /* channels, height and width */
    PXI_NEEDS_PICTURE, /* that, and one or three channels */
} pxi_metric_needs;

typedef struct pxi_metric {
    px_metric shown;
    pxi_metric_over over;
    pxi_metric_needs needs;
    /* The pair's own value; NaN: it has none. NULL where `change` is. */
    double (*term)(const pxi_pair *pair, const void *config);
    /* Writes a changed form of pair->a, in levels; the term is whether the network is still wrong.
     */
    px_status (*change)(const pxi_pair *pair, const void *config, double *out, px_error *err);
} pxi_metric;

struct px_assess {
    size_t metric_count;
    size_t metrics[PXI_METRICS_MOST]; /* places in the table */
    void *configs[PXI_METRICS_MOST];
    char *texts[PXI_METRICS_MOST];
    px_metric_value values[PXI_METRICS_MOST];
    px_assess_row *rows;
    double *terms; /* [pair][metric] */
    px_assess_summary sum;
};

static inline const pxi_metric *pxi_metric_at(size_t i)
{
    return (const pxi_metric *)(const void *)px_registry_at(&pxi_metrics, i);
}

/* Sigma 0.5, in levels (metric_blur.c). `pil`: as PIL's GaussianBlur(0.5) does it, in whole levels.
 */
void pxi_blur_half(bool pil, const double *in, double *out, int height, int width, double *scratch);
/* A JPEG round trip of planes in levels (metric_jpeg.c). */
px_status pxi_jpeg_trip(const double *in, double *out, size_t channels, int height, int width,
                        int quality, px_error *err);

#endif
