/* src/cover/cac.h - layers as sums of what each input channel contributes, for CAC
 *
 * Ji et al., CC: Causality-Aware Coverage Criterion for Deep Neural Networks, ICSE 2023; CSM A.10.
 * A layer with P input channels and Q output neurons is y_m = b_m + sum_i u_im, where u_im is what
 * channel i contributes to neuron m: for a convolution 1/(H'W') sum_t w[m,i,t] S_i(t) with the
 * window sums S (window_sums.h), for a dense layer sum_t w[m,i,t] x_i(t) over the places t of
 * channel i before it was flattened.
 *
 * A row has, for all layers, the means v of the input channels, and behind them all S or x.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_COVER_CAC_H
#define PXI_COVER_CAC_H

#include <plexor/cover.h>

#include "cover/window_sums.h"

typedef struct pxi_cac_layer {
    const char *name;
    int input;                       /* the value it reads */
    int64_t inputs, outputs, group;  /* P, Q; channels only meet those of their group */
    int64_t terms;                   /* T per channel */
    int64_t v, s;                    /* where they start in a row */
    int64_t term_step, channel_step; /* S_i(t) is row[s + i * channel_step + t * term_step] */
    float *weights;                  /* [P][T][Q / group], with 1/(H'W') in them */
    float *bias;                     /* [Q] */
    int64_t out;                     /* where its neurons start among those of all layers */
    int64_t edge;                    /* its first edge: [P][Q / group] */
    bool conv;
    pxi_window_sums sums; /* of a convolution */
} pxi_cac_layer;

typedef struct pxi_cac_net {
    pxi_cac_layer *layers;
    size_t count;
    int64_t channels, outputs, edges; /* over all layers */
    int64_t widest;                   /* the largest P/group * Q/group: floats of u and of y' */
} pxi_cac_net;

px_status pxi_extractor_cac(const px_model *model, const px_probe_options *options, int bins,
                            px_extractor **out, px_error *err);
/* Of such an extractor; NULL for others. */
const pxi_cac_net *pxi_cac_net_of(const px_extractor *extractor);

/* u [P/group][Q/group] of one group of one row. */
void pxi_cac_contributions(const pxi_cac_layer *layer, int64_t group, const float *row, float *u);

/* y [n][m] = b_m + sum_i keep[n][i] u[i][m] within a group, keep being 1 - alpha, [n][i] of
 * P/group each. */
void pxi_cac_changed(const pxi_cac_layer *layer, int64_t group, const float *keep, const float *u,
                     float *y);

/* alpha_ni = |cov(v_i, v_n)| / sum over j != n of |cov(v_j, v_n)|, alpha_nn = 0; all 0 where that
 * sum is. `cov` is [p (p + 1) / 2], alpha [p][p]. */
void pxi_cac_alpha(const double *cov, int64_t p, double *alpha);

/* The bin of x among k equal ones of [low, high]; -1: outside, or the range is empty. */
int pxi_cac_bin(float x, float low, float high, int k);

typedef struct pxi_cac_rule {
    int bins;
    double critical; /* of chi-square */
    double floor;    /* least expected count */
    bool code;       /* E as the authors' program has it: row mean times column mean */
} pxi_cac_rule;
/* chi2 = sum (O - E)^2 / E of a table; *least gets the smallest E. 0 without counts. */
double pxi_cac_chi2(const pxi_cac_rule *rule, const uint32_t *table, double *least);
bool pxi_cac_dependent(const pxi_cac_rule *rule, const uint32_t *table);

/* `v` float32 [2, channels], `y` float32 [2, outputs]: least and largest; `keep` float32: 1 - alpha
 * within groups, [P/group][P/group], group by group and layer by layer. */
extern const px_learner pxi_learner_cac;

#endif
