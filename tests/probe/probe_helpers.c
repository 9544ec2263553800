/* tests/probe/probe_helpers.c - models and probes for the tests of this room */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_helpers.h"

#include <internal/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

px_model *probe_model(const char *name)
{
    char path[1024];
    const char *folder = getenv("PLEXOR_TEST_DIR");
    snprintf(path, sizeof path, "%s/models/%s.onnx", folder ? folder : ".", name);
    px_model *model = NULL;
    px_error err = {0};
    if (px_model_load(path, &model, &err) != PX_OK)
        fail_msg("%s", err.message);
    return model;
}

const char *probe_shared(void)
{
    static char path[1024];
    const char *folder = getenv("PLEXOR_SHARED");
    if (!folder)
        folder = getenv("PLEXOR_DEFAULT_SHARED");
    snprintf(path, sizeof path, "%s/models", folder ? folder : "../shared");
    if (access(path, R_OK) == 0)
        return path;
    fprintf(stderr, "no real networks at '%s': set PLEXOR_SHARED; skipped\n", path);
    return NULL;
}

static px_status make(const px_model *model, const char *layers, const char *tap,
                      const char *neurons, px_probe **out, px_error *err)
{
    px_probe_options options = px_probe_options_default();
    PX_TRY(px_probe_options_parse(&options, layers, tap, neurons, err));
    return px_probe_new(model, &options, out, err);
}

px_probe *probe_make(const px_model *model, const char *layers, const char *tap,
                     const char *neurons)
{
    px_probe *probe = NULL;
    px_error err = {0};
    if (make(model, layers, tap, neurons, &probe, &err) != PX_OK)
        fail_msg("%s: %s", layers ? layers : "default", err.message);
    return probe;
}

const char *probe_refusal(const px_model *model, const char *layers, const char *tap,
                          const char *neurons)
{
    static px_error err;
    px_probe *probe = NULL;
    err = (px_error){0};
    if (make(model, layers, tap, neurons, &probe, &err) == PX_OK) {
        px_probe_free(probe);
        fail_msg("'%s' was not refused", layers ? layers : "default");
    }
    return err.message;
}
