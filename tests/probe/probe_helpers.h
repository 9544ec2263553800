/* tests/probe/probe_helpers.h - models and probes for the tests of this room */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PROBE_HELPERS_H
#define TEST_PROBE_HELPERS_H

#include "cmocka_all.h"
#include <plexor/onnx.h>
#include <plexor/probe.h>

/* models/NAME.onnx; fails the test if it does not load. */
px_model *probe_model(const char *name);

/* The folder of real networks ($PLEXOR_SHARED or ../shared); NULL, with a message, if absent. */
const char *probe_shared(void);

/* Texts as on the command line; NULL: default. Fails the test if there is an error. */
px_probe *probe_make(const px_model *model, const char *layers, const char *tap,
                     const char *neurons);

/* The same, expected to fail: returns the message. */
const char *probe_refusal(const px_model *model, const char *layers, const char *tap,
                          const char *neurons);

#endif
