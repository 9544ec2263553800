/* src/check/check_criteria.h - which coverage is measured, and the profile it is measured against
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_CHECK_CRITERIA_H
#define PXI_CHECK_CRITERIA_H

#include "check/check_internal.h"

#include <plexor/cover.h>

/* Cheap ones that see every layer; the second list learns nothing from training data. Each with
 * nlc, unless its covariances are too large to be held. */
#define PXI_CRITERIA_ALL "nc,kmnc,nbc,snac,tknc,tknp"
#define PXI_CRITERIA_UNTAUGHT "nc,tknc,tknp"
#define PXI_CRITERION_COVARIANCES ",nlc"
#define PXI_PROFILE_FILE "profile.npz"

/* A sentence about nlc if it is left out. Before the stages, so that what is kept says so, too. */
void pxi_cover_announce(px_check *c);
px_cover_options pxi_cover_wish(const px_check *c, const char *criteria);
/* Opens the profile of an earlier run; c->profile stays NULL where there is none. */
px_status pxi_profile_need(px_check *c, px_error *err);

#endif
