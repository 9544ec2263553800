/* src/train/train_plan.h - former names of engine/sample_plan.h */
#ifndef PXI_TRAIN_TRAIN_PLAN_H
#define PXI_TRAIN_TRAIN_PLAN_H

#include "engine/sample_plan.h"

#define pxi_train_feed pxi_sample_feed
#define pxi_train_plan pxi_sample_plan

#endif
