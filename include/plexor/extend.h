/* include/plexor/extend.h - what a program adds: criteria, selectors and mutations of its own
 *
 *     static px_criterion peak;           // id, title, functions: cover.h says what each has to do
 *     px_criterion_add(&peak, &err);
 *     const char *words[] = {"cover", "net.onnx", "--data", "digits", "--criteria", "peak"};
 *     px_call(6, words, NULL, &result);   // lists, settings, fuzz --guide know it, too
 *
 * The second tier of the API: plexor.h asks questions, this adds to what can be asked, and what it
 * includes says what such parts are made of. Data of a program's own need no descriptor: see
 * px_dataset_from_source().
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_EXTEND_H
#define PLEXOR_EXTEND_H

#include <plexor/cover.h>
#include <plexor/field.h>
#include <plexor/mutate.h>
#include <plexor/param.h>
#include <plexor/registry.h>
#include <plexor/select.h>
#include <plexor/text.h>

#endif
