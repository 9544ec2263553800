/* src/localize/spectrum_file.c - hit spectra as files
 *
 * An NPZ: `meta` (JSON: format, version, network, which inputs of which data were seen, the layers
 * with their sizes, tap, view, threshold), and of the classes that were seen `classes` (their
 * numbers, ascending), `passed`, `failed` (inputs) and `as`, `af` ([class][neuron]). Nothing in it
 * tells when, where or on how many threads it was made.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "localize/spectrum.h"
#include <internal/npz_meta.h>

#include <internal/cover.h>
#include <internal/data.h>
#include <internal/localize.h>
#include <internal/probe.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPECTRUM_FORMAT "plexor hit spectrum"
#define SPECTRUM_ARRAYS "hits"
enum { SPECTRUM_VERSION = 1, SPECTRUM_MOST_CLASSES = 1 << 24 };
static const int64_t SPECTRUM_MOST_NEURONS = (int64_t)1 << 40;

/* --- writing --------------------------------------------------------------------------------- */

static px_status file_meta(const px_spectrum *s, px_npz_writer *to, px_error *err)
{
    px_json json = {0};
    px_json_object(&json, NULL);
    px_json_string(&json, "format", SPECTRUM_FORMAT);
    px_json_int(&json, "version", SPECTRUM_VERSION);
    pxi_meta_put_hash(&json, "model", s->model_hash);
    pxi_seen_put(&s->seen, &json);
    px_json_int(&json, "classes", s->counts.classes);
    px_json_string(&json, "definition", s->definition);
    pxi_meta_put_hash(&json, "rows", s->rows_hash);
    px_json_string(&json, "tap", px_tap_name(s->tap));
    px_json_string(&json, "neurons", s->deepxplore ? "deepxplore" : px_neurons_name(s->neurons));
    px_json_real(&json, "theta", s->theta);
    px_json_array(&json, "layers");
    for (size_t i = 0; i < s->layer_count; i++) {
        px_json_object(&json, NULL);
        px_json_string(&json, "name", s->layers[i].name);
        px_json_int(&json, "position", s->layers[i].position);
        px_json_int(&json, "count", s->layers[i].count);
        px_json_end(&json);
    }
    px_json_end(&json);
    px_json_end(&json);
    return pxi_meta_put(to, &json, err);
}

/* The counters of all classes that were seen, one class after the other. */
static px_status file_counters(const px_spectrum *s, int64_t seen, int outcome, const char *name,
                               px_npz_writer *to, px_error *err)
{
    const px_shape shape = {.rank = 2, .dim = {seen, s->counts.width}};
    PX_TRY(px_npz_begin(to, name, PX_UINT32, &shape, err));
    for (int c = 0; c < s->counts.classes; c++)
        if (s->counts.of[c].active[outcome])
            PX_TRY(px_npz_write(to, s->counts.of[c].active[outcome],
                                (size_t)s->counts.width * sizeof(uint32_t), err));
    return PX_OK;
}

static px_status file_arrays(const px_spectrum *s, px_npz_writer *to, px_error *err)
{
    int64_t seen = 0;
    for (int c = 0; c < s->counts.classes; c++)
        seen += s->counts.of[c].active[PXI_FAIL] != NULL;
    int64_t *numbers = pxi_calloc((size_t)PX_MAX(seen, 1), 3 * sizeof *numbers);
    if (!numbers)
        return pxi_no_memory(err);
    int64_t *passed = numbers + seen, *failed = passed + seen;
    for (int c = 0, i = 0; c < s->counts.classes; c++)
        if (s->counts.of[c].active[PXI_FAIL]) {
            numbers[i] = c;
            passed[i] = s->counts.of[c].inputs[PXI_PASS];
            failed[i++] = s->counts.of[c].inputs[PXI_FAIL];
        }
    const px_shape shape = {.rank = 1, .dim = {seen}};
    px_status status = px_npz_put(to, SPECTRUM_ARRAYS, "classes", PX_INT64, &shape, numbers, err);
    PX_THEN(status, px_npz_put(to, SPECTRUM_ARRAYS, "passed", PX_INT64, &shape, passed, err));
    PX_THEN(status, px_npz_put(to, SPECTRUM_ARRAYS, "failed", PX_INT64, &shape, failed, err));
    free(numbers);
    PX_THEN(status, file_counters(s, seen, PXI_PASS, SPECTRUM_ARRAYS "/as", to, err));
    return status == PX_OK ? file_counters(s, seen, PXI_FAIL, SPECTRUM_ARRAYS "/af", to, err)
                           : status;
}

px_status px_spectrum_save(const px_spectrum *s, const char *path, px_error *err)
{
    px_npz_writer *to = NULL;
    PX_TRY(px_npz_create(path, &to, err));
    px_status status = file_meta(s, to, err);
    PX_THEN(status, file_arrays(s, to, err));
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- reading --------------------------------------------------------------------------------- */

static px_status file_layers(const px_json_value *list, px_spectrum_layer *layers, px_error *err)
{
    int64_t before = -1, neurons = 0;
    for (size_t i = 0; i < list->count; i++) {
        int64_t position = 0;
        PX_TRY(pxi_meta_string(&list->items[i], "name", &layers[i].name, err));
        PX_TRY(pxi_meta_int(&list->items[i], "position", INT32_MAX, &position, err));
        PX_TRY(
            pxi_meta_int(&list->items[i], "count", SPECTRUM_MOST_NEURONS, &layers[i].count, err));
        neurons += layers[i].count; /* a MiB of layers at most: no overflow */
        if (position <= before || layers[i].count < 1)
            return px_fail(err, PX_E_INPUT, "layer %zu in 'meta' is out of order, or empty", i);
        layers[i].position = (int)position;
        before = position;
    }
    return neurons >= 1 && neurons <= SPECTRUM_MOST_NEURONS
               ? PX_OK
               : px_fail(err, PX_E_INPUT, "'meta' has %" PRId64 " neurons", neurons);
}

static px_status file_neurons(px_spectrum *s, const px_json_value *root, px_error *err)
{
    const char *tap = NULL, *view = NULL, *definition = NULL;
    px_probe_options options = px_probe_options_default();
    PX_TRY(pxi_meta_string(root, "tap", &tap, err));
    PX_TRY(pxi_meta_string(root, "neurons", &view, err));
    PX_TRY(pxi_meta_string(root, "definition", &definition, err));
    PX_TRY(px_probe_options_parse(&options, NULL, tap, view, err));
    s->tap = options.tap;
    s->neurons = options.neurons;
    s->deepxplore = options.deepxplore;
    PX_TRY(PX_DUP(s->definition, definition, err));
    PX_TRY(pxi_meta_hash(root, "rows", &s->rows_hash, err));
    PX_TRY(pxi_meta_hash(root, "model", &s->model_hash, err));
    return pxi_seen_take(&s->seen, root, err);
}

/* The spectrum that `meta` describes, without counts. */
static px_status file_describe(const px_json_value *root, px_spectrum **out, px_error *err)
{
    const px_json_value *list = NULL, *theta = px_json_member(root, "theta");
    int64_t classes = 0;
    if (!theta || theta->kind != PX_JSON_NUMBER || !isfinite(theta->number))
        return px_fail(err, PX_E_INPUT, "'meta' has no number 'theta'");
    PX_TRY(pxi_meta_int(root, "classes", SPECTRUM_MOST_CLASSES, &classes, err));
    PX_TRY(pxi_meta_array(root, "layers", &list, err));
    px_spectrum_layer *layers = pxi_calloc(PX_MAX(list->count, 1), sizeof *layers);
    px_spectrum *s = NULL;
    px_status status = layers ? file_layers(list, layers, err) : pxi_no_memory(err);
    PX_THEN(status, pxi_spectrum_make(layers, list->count, (int)classes, theta->number, &s, err));
    free(layers);
    PX_THEN(status, file_neurons(s, root, err));
    return PX_GIVE(status, s, out, px_spectrum_free);
}

/* One class: its numbers must be those of counts. */
static px_status file_class(px_spectrum *s, int64_t number, const int64_t inputs[2],
                            const uint32_t *const active[2], px_error *err)
{
    for (int o = 0; o < 2; o++) {
        if (inputs[o] < 0 || inputs[o] > PXI_SPECTRUM_MOST_INPUTS)
            return px_fail(err, PX_E_INPUT, "class %" PRId64 " has %" PRId64 " inputs", number,
                           inputs[o]);
        for (int64_t n = 0; n < s->counts.width; n++)
            if (active[o][n] > inputs[o])
                return px_fail(err, PX_E_INPUT,
                               "neuron %" PRId64 " was active on %u of %" PRId64
                               " inputs of class %" PRId64,
                               n, active[o][n], inputs[o], number);
    }
    PX_TRY(pxi_counts_open(&s->counts, (int)number, err));
    pxi_class_hits *of = &s->counts.of[number];
    for (int o = 0; o < 2; o++) {
        of->inputs[o] = inputs[o];
        memcpy(of->active[o], active[o], (size_t)s->counts.width * sizeof *active[o]);
    }
    return PX_OK;
}

static px_status file_counts(px_spectrum *s, const px_npz *npz, px_error *err)
{
    const void *numbers = NULL, *passed = NULL, *failed = NULL, *as = NULL, *af = NULL;
    px_shape one = {.rank = 1, .dim = {-1}}, found = {0};
    PX_TRY(px_npz_take(npz, SPECTRUM_ARRAYS, "classes", PX_INT64, &one, &numbers, &found, err));
    one.dim[0] = found.dim[0];
    const px_shape two = {.rank = 2, .dim = {found.dim[0], s->counts.width}};
    PX_TRY(px_npz_take(npz, SPECTRUM_ARRAYS, "passed", PX_INT64, &one, &passed, NULL, err));
    PX_TRY(px_npz_take(npz, SPECTRUM_ARRAYS, "failed", PX_INT64, &one, &failed, NULL, err));
    PX_TRY(px_npz_take(npz, SPECTRUM_ARRAYS, "as", PX_UINT32, &two, &as, NULL, err));
    PX_TRY(px_npz_take(npz, SPECTRUM_ARRAYS, "af", PX_UINT32, &two, &af, NULL, err));
    int64_t before = -1, total = 0;
    for (int64_t i = 0; i < found.dim[0]; i++) {
        const int64_t c = ((const int64_t *)numbers)[i];
        if (c <= before || c >= s->counts.classes)
            return px_fail(err, PX_E_INPUT,
                           "class %" PRId64 " is out of order, or there are only %d", c,
                           s->counts.classes);
        const int64_t inputs[2] = {
            [PXI_FAIL] = ((const int64_t *)failed)[i], [PXI_PASS] = ((const int64_t *)passed)[i]};
        const uint32_t *const active[2] = {[PXI_FAIL] = (const uint32_t *)af + i * s->counts.width,
                                           [PXI_PASS] = (const uint32_t *)as + i * s->counts.width};
        PX_TRY(file_class(s, c, inputs, active, err));
        before = c;
        total += inputs[0] + inputs[1];
        if (total > PXI_SPECTRUM_MOST_INPUTS)
            return px_fail(err, PX_E_INPUT, "has more than %" PRId64 " inputs",
                           PXI_SPECTRUM_MOST_INPUTS);
    }
    return PX_OK;
}

px_status pxi_spectrum_read(const px_npz *npz, px_spectrum **out, px_error *err)
{
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    px_spectrum *s = NULL;
    PX_TRY(pxi_meta_take(npz, SPECTRUM_FORMAT, SPECTRUM_VERSION, &document, &root, err));
    px_status status = file_describe(root, &s, err);
    PX_THEN(status, file_counts(s, npz, err));
    px_json_free(document);
    return PX_GIVE(status, s, out, px_spectrum_free);
}

px_status px_spectrum_open(const char *path, px_spectrum **out, px_error *err)
{
    px_npz *npz = NULL;
    PX_TRY(px_npz_open(path, &npz, err));
    const px_status status = pxi_spectrum_read(npz, out, err);
    px_npz_close(npz);
    return status == PX_OK ? PX_OK : px_fail_in(err, status, "'%s'", path);
}

bool px_spectrum_is_file(const char *path)
{
    px_npz *npz = NULL;
    px_json_document *document = NULL;
    const px_json_value *root = NULL;
    if (px_npz_open(path, &npz, NULL) != PX_OK)
        return false;
    const bool is =
        pxi_meta_take(npz, SPECTRUM_FORMAT, SPECTRUM_VERSION, &document, &root, NULL) == PX_OK;
    px_json_free(document);
    px_npz_close(npz);
    return is;
}
