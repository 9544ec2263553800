/* src/cover/crit_nbc.c - NBC, neuron boundary coverage: (|upper| + |lower|) / (2 |N|)
 *
 * Ma et al., DeepGauge (ASE 2018); CSM A.3. Corners of neurons that some input drives beyond what
 * training data reached, on either side. The training data themselves give 0.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cover/corners.h"

static px_status nbc_prepare(const px_criterion_request *request, void **out, px_error *err)
{
    return pxi_corners_prepare("nbc", request, /* lower= */ true, out, err);
}

const px_criterion px_criterion_nbc = {
    .entry = {.id = "nbc",
              .title = "neuron boundary coverage",
              .source = "Ma et al., DeepGauge, ASE 2018",
              .params = pxi_corner_params,
              .config_size = sizeof(pxi_corner_config)},
    .unit = "corners",
    .learners = pxi_corner_learners,
    .tap = PX_TAP_POST,
    .neurons = PX_VIEW_CHAN,
    .prepare = nbc_prepare,
    .release = pxi_corners_free,
    PXI_SLOTS_STATE,
    .observe = pxi_corners_observe,
    .gain = pxi_corners_gain,
    .neurons_covered = pxi_slots_neurons_covered,
};
