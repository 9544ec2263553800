/* include/plexor/plexor.h - the way in: a network, data, and what there is to ask of them
 *
 * A network, data in the shape that it wants, and what it says about them:
 *
 *     px_model_load("net.onnx", &model, &err);
 *     px_task_open(model, "fashion-mnist", NULL, &task, &err);
 *     px_predict(task.model, task.set, &task.pre, &how, &said, &err);
 *     px_eval_sum sum = px_eval_slice(&said, NULL, said.count);
 *     printf("accuracy %g, loss %g\n", sum.accuracy, sum.loss);
 *
 * A question has options with defaults, an object made for a network, a run, and figures to read.
 * The defaults are those of the command:
 *
 *     px_cover_options coverage = px_cover_options_default();
 *     coverage.criteria = "nc,tknc";
 *     px_cover_new(task.model, &task.shape, &coverage, &cover, &err);
 *     px_cover_run(cover, task.set, &task.pre, &run, &tally, &err);
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
 *
 * This is the first of three tiers. <plexor/extend.h> is for programs that add a criterion or a
 * selector of their own; <plexor/engine.h>, <plexor/probe.h> and <plexor/trace.h> for those that
 * run networks themselves, layer by layer.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PLEXOR_H
#define PLEXOR_PLEXOR_H

/* A network, data, and answers. Messages and memory are as error.h says. */
#include <plexor/data.h>
#include <plexor/error.h>
#include <plexor/eval.h>
#include <plexor/in_memory.h>
#include <plexor/onnx.h>
#include <plexor/predict.h>
#include <plexor/preprocess.h>
#include <plexor/system.h>
#include <plexor/task.h>
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

#endif
