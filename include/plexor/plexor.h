/* include/plexor/plexor.h - everything, from what every program needs to what few do
 *
 * A network, data in the shape that it wants, and what it says about them:
 *
 *     px_model_load("net.onnx", &model, &err);
 *     const px_graph *graph = px_model_graph(model);
 *     const px_shape *input = &graph->values[graph->inputs[0]].shape;
 *     px_preprocess_init(&pre, px_model_properties(model), px_model_property_count(model), input,
 *                        NULL, &err);
 *     px_dataset_open_for(&pre, input, "fashion-mnist", &options, &set, &err);
 *     px_predict(model, set, &pre, &how, &said, &err);
 *     px_eval eval = {0};
 *     px_eval_make(&said, &eval, &err);
 *     printf("accuracy %g, loss %g\n", eval.all.accuracy, eval.all.loss);
 *
 * A question has options with defaults, an object made for a network, a run, and figures to read.
 * The defaults are those of the command:
 *
 *     px_cover_options coverage = px_cover_options_default();
 *     coverage.criteria = "nc,tknc";
 *     px_cover_new(model, &shape, &coverage, &cover, &err);
 *     px_cover_run(cover, set, &pre, &run, &tally, &err);
 *     printf("%g\n", px_cover_value(cover, 0).value);
 *
 * The same with a command, for any question there is:
 *
 *     const char *words[] = {"cover", "net.onnx", "--data", "fashion-mnist", "--json"};
 *     px_call_result result = px_call_result_default();
 *     px_call(5, words, NULL, &result);
 *
 * What can fail returns a px_status and says why in a px_error of the caller's. A `T **out` is the
 * caller's afterwards and has a function that frees it; a `const T *` is borrowed. Networks, plans
 * and data are read-only once made, and any thread may use them. docs/api.md goes through it all,
 * and examples/ has programs of a page each.
 */
#ifndef PLEXOR_PLEXOR_H
#define PLEXOR_PLEXOR_H

/* A network, data, and answers. Messages, JSON and memory are as error.h and json.h say. */
#include <plexor/data.h>
#include <plexor/error.h>
#include <plexor/eval.h>
#include <plexor/in_memory.h>
#include <plexor/onnx.h>
#include <plexor/predict.h>
#include <plexor/preprocess.h>
#include <plexor/system.h>
#include <plexor/tensor.h>

/* Questions about them: options with defaults, an object, a run over data, figures to read. */
#include <plexor/attack.h>
#include <plexor/check.h>
#include <plexor/cover.h>
#include <plexor/fuzz.h>
#include <plexor/localize.h>
#include <plexor/select.h>
#include <plexor/store.h>

/* The command line as a function, for programs in other languages. */
#include <plexor/call.h>

/* More of the same kind, and what goes with it. */
#include <plexor/closeness.h>
#include <plexor/fault_curve.h>
#include <plexor/modes.h>
#include <plexor/mutate.h>
#include <plexor/profile.h>
#include <plexor/property.h>
#include <plexor/training.h>

/* Neurons in words, and what decided. */
#include <plexor/bank.h>
#include <plexor/decision_path.h>
#include <plexor/text_encoder.h>

/* What the methods stand on: networks as graphs, plans and sessions, neurons, optimisers. */
#include <plexor/audio.h>
#include <plexor/engine.h>
#include <plexor/graph.h>
#include <plexor/probe.h>
#include <plexor/trace.h>
#include <plexor/weights.h>

/* Tools. */
#include <plexor/field.h>
#include <plexor/json.h>
#include <plexor/param.h>
#include <plexor/registry.h>
#include <plexor/rng.h>
#include <plexor/stats.h>
#include <plexor/text.h>

#endif
