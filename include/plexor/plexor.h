/* include/plexor/plexor.h - everything, in the order in which data flows */
#ifndef PLEXOR_PLEXOR_H
#define PLEXOR_PLEXOR_H

#include <plexor/error.h>
#include <plexor/folder.h>
#include <plexor/json.h>
#include <plexor/param.h>
#include <plexor/property.h>
#include <plexor/rng.h>
#include <plexor/system.h>
#include <plexor/tensor.h>
#include <plexor/text.h>

#include <plexor/stats.h>
#include <plexor/tsne.h>
#include <plexor/umap.h>

#include <plexor/picture.h>

#include <plexor/audio.h>
#include <plexor/data.h>
#include <plexor/preprocess.h>

#include <plexor/closeness.h>
#include <plexor/mutate.h>

#include <plexor/build.h>
#include <plexor/classes.h>
#include <plexor/graph.h>
#include <plexor/weights.h>

#include <plexor/onnx.h>

#include <plexor/dpd.h>
#include <plexor/engine.h>

#include <plexor/map.h>
#include <plexor/probe.h>
#include <plexor/trace.h>

#include <plexor/attack.h>

#include <plexor/arch.h>
#include <plexor/feeder.h>
#include <plexor/optimizer.h>
#include <plexor/train.h>

#include <plexor/bank.h>
#include <plexor/captioner.h>
#include <plexor/concepts.h>
#include <plexor/decision_path.h>
#include <plexor/describe.h>
#include <plexor/exemplars.h>
#include <plexor/text_encoder.h>

#include <plexor/cover.h>
#include <plexor/profile.h>
#include <plexor/surprise.h>

#include <plexor/localize.h>
#include <plexor/shapley.h>

#include <plexor/fault_curve.h>
#include <plexor/select.h>

#include <plexor/predict.h>

#include <plexor/doctor.h>

#include <plexor/assess.h>
#include <plexor/clever.h>

#include <plexor/modes.h>
#include <plexor/store.h>

#include <plexor/fuzz.h>
#include <plexor/minimize.h>
#include <plexor/pairs.h>
#include <plexor/synthesize.h>

#include <plexor/failures.h>
#include <plexor/repair.h>

#include <plexor/report.h>

#include <plexor/check.h>

#include <plexor/study.h>

#endif
