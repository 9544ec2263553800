/* src/cover/crit_snac.c - SNAC, strong neuron activation coverage: |upper| / |N|
 *
 * Ma et al., DeepGauge (ASE 2018); CSM A.4. Neurons that some input drives above what training data
 * reached. The training data themselves give 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/corners.h"

static px_status snac_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    return pxi_corners_prepare("snac", request, /* lower= */ false, out, err);
}

const px_criterion px_criterion_snac = {
    .entry = {.id = "snac",
              .title = "strong neuron activation coverage",
              .source = "Ma et al., DeepGauge, ASE 2018",
              .params = pxi_corner_params,
              .config_size = sizeof(pxi_corner_config)},
    .unit = "neurons",
    .learners = pxi_corner_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .prepare = snac_prepare,
    .release = pxi_corners_free,
    PXI_SLOTS_STATE,
    .observe = pxi_corners_observe,
    .gain = pxi_corners_gain,
    .neurons_covered = pxi_slots_neurons_covered,
};
