/* src/check/stage_describe.c - what the suspicious neurons respond to
 *
 * For the neurons that are most suspicious over all classes and for each of them: the inputs that
 * excite them most, where in the picture, and words, by measured labels or by a bank that was
 * given. A neuron's value is the mean of its channel, as everywhere else; words are about its map.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check_suspects.h"
#include "check/check_words.h"

#include <internal/bank.h>
#include <internal/data.h>
#include <internal/localize.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    DESCRIBE_POOLED = 24,
    DESCRIBE_PER_CLASS = 3,
    DESCRIBE_NEURONS = 64,   /* in all */
    DESCRIBE_TOP = 5,        /* inputs that are shown, of ... */
    DESCRIBE_COUNTED = 15,   /* ... those that say which class it responds to */
    DESCRIBE_INPUTS = 20000, /* that are looked at */
    DESCRIBE_SIDE = 16       /* of a map: larger ones are brought down to it */
};

typedef struct subject { /* a neuron */
    const px_suspect *suspect;
    size_t layer;      /* of the probe */
    int64_t place;     /* in a row of the trace */
    int height, width; /* of its map; 0: it has none */
    int64_t top[DESCRIBE_COUNTED];
    float value[DESCRIBE_COUNTED];
    int count;
} subject;

typedef struct describe {
    px_check *c;
    px_suspicious *suspects, *by_class;
    px_probe *probe;
    pxi_pass *pass;
    subject subjects[DESCRIBE_NEURONS];
    int count;
    int64_t inputs;
    float *values; /* [inputs][count] */
    char *layers;  /* of the subjects, as px_probe_options has them */
    px_bank *own;
    const px_bank *bank; /* NULL: there are no words, and `wordless` says why */
    px_error wordless;
    uint8_t *maps; /* [count][DESCRIBE_TOP][DESCRIBE_SIDE][DESCRIBE_SIDE] */
} describe;

static px_status lane_open(pxi_lane *lane, px_error *err)
{
    const describe *d = lane->context;
    float **trace = lane->state; /* [batch][neurons] */
    const size_t width = (size_t)px_probe_neuron_count(d->probe);
    (void)err;
    *trace = pxi_lane_array(lane, (size_t)pxi_pass_batch(lane->pass), width * sizeof **trace);
    return PX_OK;
}

static px_status values_visit(pxi_lane *lane, const pxi_batch *batch, px_error *err)
{
    const describe *d = lane->context;
    const size_t width = (size_t)px_probe_neuron_count(d->probe);
    float *trace = *(float **)lane->state;
    PX_TRY(px_probe_trace(d->probe, lane->session, batch->count, trace, NULL, err));
    for (int64_t i = 0; i < batch->count; i++)
        for (int s = 0; s < d->count; s++)
            d->values[(batch->first + i) * d->count + s] =
                trace[(size_t)i * width + (size_t)d->subjects[s].place];
    return PX_OK;
}

/* The highest values, of equals the first input; NaN is none. */
static void subject_top(describe *d, int s)
{
    subject *to = &d->subjects[s];
    for (int64_t i = 0; i < d->inputs; i++) {
        const float value = d->values[i * d->count + s];
        int at = to->count;
        while (at > 0 && value > to->value[at - 1])
            at--;
        if (at == DESCRIBE_COUNTED || isnan(value))
            continue;
        if (to->count < DESCRIBE_COUNTED)
            to->count++;
        for (int k = to->count - 1; k > at; k--) {
            to->top[k] = to->top[k - 1];
            to->value[k] = to->value[k - 1];
        }
        to->top[at] = i;
        to->value[at] = value;
    }
}

/* --- where they respond ---------------------------------------------------------------------- */

/* One channel of a kept tensor, brought down to at most DESCRIBE_SIDE squared by means, and to
 * bytes by its own maximum. */
static void map_take(const px_view *view, int64_t row, int64_t channel, int height, int width,
                     uint8_t *out)
{
    const int64_t h = view->shape.dim[2], w = view->shape.dim[3];
    double means[DESCRIBE_SIDE * DESCRIBE_SIDE], most = 0.0;
    const float *from = view->data + row * view->stride[0] + channel * view->stride[1];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int64_t y0 = y * h / height, y1 = PX_MAX((y + 1) * h / height, y0 + 1);
            const int64_t x0 = x * w / width, x1 = PX_MAX((x + 1) * w / width, x0 + 1);
            double sum = 0.0;
            for (int64_t i = y0; i < y1; i++)
                for (int64_t j = x0; j < x1; j++)
                    sum += (double)from[i * view->stride[2] + j * view->stride[3]];
            const double mean = sum / (double)((y1 - y0) * (x1 - x0));
            means[y * width + x] = mean;
            most = mean > most ? mean : most;
        }
    for (int i = 0; i < height * width; i++) {
        const double share = most > 0.0 ? means[i] / most : 0.0;
        out[i] = (uint8_t)(share > 0.0 ? share * 255.0 + 0.5 : 0.0);
    }
}

/* Map k is of the top input k % TOP of subject k / TOP. */
static px_status maps_batch(void *context, pxi_lane *lane, int64_t index, px_error *err)
{
    const describe *d = context;
    const int64_t batch = pxi_pass_batch(lane->pass), first = index * batch;
    const int64_t end = PX_MIN(first + batch, (int64_t)d->count * DESCRIBE_TOP);
    pxi_lane_pad(lane, 0);
    for (int64_t i = first; i < end; i++) {
        const subject *s = &d->subjects[i / DESCRIBE_TOP];
        const int k = (int)(i % DESCRIBE_TOP);
        if (k < s->count && s->height)
            PX_TRY(pxi_lane_read(lane, s->top[k], pxi_lane_input(lane, i - first), err));
    }
    PX_TRY(pxi_lane_forward(lane, end - first, err));
    for (int64_t i = first; i < end; i++) {
        const subject *s = &d->subjects[i / DESCRIBE_TOP];
        if (i % DESCRIBE_TOP >= s->count || !s->height)
            continue;
        const px_view view =
            px_session_view(lane->session, px_probe_layer(d->probe, s->layer)->tap_value);
        if (view.data)
            map_take(&view, i - first, s->suspect->unit, s->height, s->width,
                     d->maps + (size_t)i * DESCRIBE_SIDE * DESCRIBE_SIDE);
    }
    return PX_OK;
}

static px_status maps_save(const describe *d, px_error *err)
{
    const px_tensor maps = {
        PX_UINT8,
        {.rank = 3, .dim = {d->count, DESCRIBE_TOP, DESCRIBE_SIDE * DESCRIBE_SIDE}},
        d->maps};
    char *path = pxi_check_path(d->c, PXI_MAPS_FILE);
    px_npz_writer *to = NULL;
    px_status status = path ? px_npz_create(path, &to, err) : pxi_no_memory(err);
    free(path);
    PX_TRY(status);
    status = px_npz_add(to, "maps", &maps, err);
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- opening --------------------------------------------------------------------------------- */

static px_status describe_subjects(describe *d, px_error *err)
{
    px_spectrum *spectrum = NULL;
    px_status status = pxi_spectrum_open(d->c, &spectrum, err);
    PX_THEN(status, pxi_suspects_rank(spectrum, true, DESCRIBE_POOLED, &d->suspects, err));
    PX_THEN_IF(status, /* there may be no class that has a ranking */
               pxi_suspects_rank(spectrum, false, DESCRIBE_PER_CLASS, &d->by_class, err) ==
                   PX_E_NOMEM,
               PX_E_NOMEM);
    px_spectrum_free(spectrum);
    return status;
}

/* The layers of both lists. */
static px_status describe_layers(describe *d, px_error *err)
{
    char *pooled = px_suspicious_layers(d->suspects);
    char *classes = d->by_class ? px_suspicious_layers(d->by_class) : NULL;
    px_text text = {0};
    if (pooled)
        px_text_add(&text, pooled);
    if (classes)
        px_text_format(&text, ",%s", classes);
    if (pooled && (classes || !d->by_class))
        d->layers = px_text_take(&text);
    px_text_done(&text);
    free(pooled);
    free(classes);
    return d->layers ? PX_OK : pxi_no_memory(err);
}

static px_status subject_add(describe *d, const px_suspect *suspect, px_error *err)
{
    for (int i = 0; i < d->count; i++)
        if (d->subjects[i].suspect->position == suspect->position &&
            d->subjects[i].suspect->unit == suspect->unit)
            return PX_OK;
    if (d->count == DESCRIBE_NEURONS)
        return PX_OK;
    subject *s = &d->subjects[d->count++];
    s->suspect = suspect;
    PX_TRY(px_suspect_find(suspect, d->probe, &s->layer, err));
    const px_layer *layer = px_probe_layer(d->probe, s->layer);
    s->place = layer->neuron_offset + suspect->unit;
    if (layer->shape.rank == 4 && layer->shape.dim[0] == 1 && layer->axis[1] == PX_AXIS_CHANNEL &&
        layer->axis[2] == PX_AXIS_SPACE && layer->axis[3] == PX_AXIS_SPACE) {
        s->height = (int)PX_MIN(layer->shape.dim[2], (int64_t)DESCRIBE_SIDE);
        s->width = (int)PX_MIN(layer->shape.dim[3], (int64_t)DESCRIBE_SIDE);
    }
    return PX_OK;
}

static px_status describe_open(describe *d, px_error *err)
{
    px_check *c = d->c;
    px_probe_options options = px_probe_options_default();
    px_feed feed = {.value = px_model_graph(c->model)->inputs[0], .shape = c->shape};
    px_plan_options wants = px_plan_options_default();
    PX_TRY(describe_subjects(d, err));
    PX_TRY(describe_layers(d, err));
    options.layers = d->layers;
    options.tap = d->suspects->tap;
    options.neurons = d->suspects->neurons;
    options.feeds = &feed;
    options.feed_count = 1;
    PX_TRY(px_probe_new(c->model, &options, &d->probe, err));
    for (size_t i = 0; i < d->suspects->count; i++)
        PX_TRY(subject_add(d, &d->suspects->items[i], err));
    for (size_t i = 0; d->by_class && i < d->by_class->count; i++)
        PX_TRY(subject_add(d, &d->by_class->items[i], err));
    d->inputs = PX_MIN(c->count, (int64_t)DESCRIBE_INPUTS);
    const pxi_task task = pxi_check_task(c, d->inputs);
    const pxi_visitor visitor = {
        .context = d, .state_size = sizeof(float *), .open = lane_open, .visit = values_visit};
    wants.keep = px_probe_values(d->probe, &wants.keep_count);
    wants.no_outputs = true;
    PX_TRY(pxi_pass_open(&task, &wants, &visitor, &d->pass, err));
    d->values = pxi_calloc((size_t)d->inputs, (size_t)d->count * sizeof *d->values);
    d->maps = pxi_calloc((size_t)d->count * DESCRIBE_TOP, DESCRIBE_SIDE * DESCRIBE_SIDE);
    return d->values && d->maps ? PX_OK : pxi_no_memory(err);
}

typedef struct shared {
    const char *class;
    int count, of;
} shared;

/* The class that most of the inputs have that excite it, and how many; the lower one of equals. It
 * is counted over the same inputs of which the first are shown. */
static shared shared_class(const px_check *c, const subject *s)
{
    int64_t best = -1;
    int most = 0;
    for (int i = 0; i < s->count && c->labelled; i++) {
        const int64_t label = px_dataset_label(c->set, s->top[i]);
        int same = 0;
        for (int k = 0; k < s->count; k++)
            same += px_dataset_label(c->set, s->top[k]) == label;
        if (same > most || (same == most && label < best)) {
            most = same;
            best = label;
        }
    }
    const bool known = best >= 0 && best < c->scores.classes;
    return (shared){known ? c->names[best] : NULL, most, s->count};
}

/* --- the result ------------------------------------------------------------------------------ */

typedef struct subject_row {
    const px_check *c;
    const subject *s;
    const px_suspect *suspect;
    pxi_words_unit words;
    shared shared;
} subject_row;

typedef struct exciting {
    int64_t input, label, prediction;
    float value;
} exciting;

static const void *subject_input(const void *at, size_t i, void *row)
{
    const subject_row *r = at;
    if (i >= (size_t)PX_MIN(r->s->count, (int)DESCRIBE_TOP))
        return NULL;
    const int64_t input = r->s->top[i];
    *(exciting *)row = (exciting){.input = input,
                                  .label = r->c->labelled ? px_dataset_label(r->c->set, input) : -1,
                                  .prediction = r->c->predictions[input],
                                  .value = r->s->value[i]};
    return row;
}

static const px_field exciting_fields[] = {
    PX_FIELD(exciting, input, "input", "its place in the data"),
    PX_FIELD(exciting, value, "value", "of the neuron"),
    PX_FIELD(exciting, label, "label", "its class"),
    PX_FIELD(exciting, prediction, "prediction", "the network's answer"),
    PX_FIELDS_END,
};

static const px_field suspect_fields[] = {
    PX_FIELD(px_suspect, layer, "layer", "its name"),
    PX_FIELD(px_suspect, position, "position", "of the layer in the network"),
    PX_FIELD(px_suspect, unit, "index", "in the layer"),
    PX_FIELD(px_suspect, rank, "rank", "by suspiciousness, from 1"),
    PX_FIELD(px_suspect, score, "score", "suspiciousness"),
    PX_FIELDS_END,
};

static const px_field shared_fields[] = {
    PX_FIELD(shared, class, "class", "that most of the inputs have that excite it"),
    PX_FIELD(shared, count, "count", "how many have it"),
    PX_FIELD(shared, of, "of", "of so many"),
    PX_FIELDS_END,
};

static const px_field map_fields[] = {
    PX_FIELD(subject, height, "map_height", "of its map in exemplars.npz"),
    PX_FIELD(subject, width, "map_width", "of its map in exemplars.npz"),
    PX_FIELDS_END,
};

static const px_field subject_fields[] = {
    PX_OBJECT_AT(subject_row, suspect, suspect_fields, "", "the neuron"),
    PX_OBJECT(subject_row, words, pxi_words_unit_fields, "", "what it responds to",
              PX_IF(subject_row, words.unit)),
    PX_OBJECT(subject_row, shared, shared_fields, "shared", "its theme, by class",
              PX_IF(subject_row, shared.class)),
    PX_OBJECT_AT(subject_row, s, map_fields, "", "where it is active"),
    PX_LIST_MADE(subject_input, exciting_fields, "top", "the inputs that excite it most"),
    PX_FIELDS_END,
};

typedef struct describe_result {
    const describe *d;
    const char *definition, *wordless;
    int64_t inputs;
    bool worded;
    pxi_words_about about;
} describe_result;

static const void *describe_subject(const void *at, size_t i, void *row)
{
    const describe *d = ((const describe_result *)at)->d;
    if (i >= (size_t)d->count)
        return NULL;
    const subject *s = &d->subjects[i];
    *(subject_row *)row = (subject_row){
        .c = d->c,
        .s = s,
        .suspect = s->suspect,
        .words = pxi_words_of(d->bank, d->c->bank == NULL, s->suspect->layer, s->suspect->unit),
        .shared = shared_class(d->c, s)};
    return row;
}

static const px_field describe_fields[] = {
    PX_FIELD(describe_result, definition, "definition", "what a neuron is here"),
    PX_FIELD(describe_result, inputs, "inputs", "that were looked at"),
    PX_OBJECT(describe_result, about, pxi_words_about_fields, "", "where words are from",
              PX_IF(describe_result, worded)),
    PX_FIELD(describe_result, wordless, "wordless", "why there are no words", .optional = true),
    PX_LIST_MADE(describe_subject, subject_fields, "neurons", "the suspicious ones"),
    PX_FIELDS_END,
};

/* Data that are no pictures have no words; that is no reason to leave out the rest. */
static px_status describe_words(describe *d, px_error *err)
{
    const px_status status = pxi_words_open(d->c, d->layers, &d->own, &d->bank, &d->wordless);
    return status <= PX_E_MISMATCH ? PX_OK : px_fail(err, status, "%s", d->wordless.message);
}

static px_status describe_write(const describe *d, px_json *out, px_error *err)
{
    describe_result result = {.d = d,
                              .definition = px_probe_describe(d->probe),
                              .inputs = d->inputs,
                              .worded = d->bank != NULL,
                              .wordless = d->bank ? NULL : d->wordless.message};
    const px_status status = d->bank ? pxi_words_about_make(d->bank, &result.about, err) : PX_OK;
    if (status == PX_OK)
        px_fields_json(describe_fields, &result, out);
    pxi_words_about_done(&result.about);
    return status;
}

static px_status describe_run(px_check *c, px_json *out, px_error *err)
{
    describe d = {.c = c};
    px_status status = describe_open(&d, err);
    PX_THEN(status, pxi_pass_run(d.pass, err));
    for (int s = 0; s < d.count && status == PX_OK; s++)
        subject_top(&d, s);
    if (status == PX_OK) {
        const int64_t maps = (int64_t)d.count * DESCRIBE_TOP, batch = pxi_pass_batch(d.pass);
        status = pxi_pass_each(d.pass, (maps + batch - 1) / batch, NULL, maps_batch, &d, err);
    }
    PX_THEN(status, maps_save(&d, err));
    PX_THEN(status, describe_words(&d, err));
    PX_THEN(status, describe_write(&d, out, err));
    px_bank_free(d.own);
    free(d.layers);
    free(d.values);
    free(d.maps);
    pxi_pass_close(d.pass);
    px_probe_free(d.probe);
    px_suspicious_free(d.suspects);
    px_suspicious_free(d.by_class);
    return status;
}

static void describe_line(const px_check *c, const px_json_value *result, px_text *out)
{
    (void)c;
    px_text_format(out, "%zu suspicious neurons with what excites them",
                   pxi_json_count(result, "neurons"));
}

const pxi_stage pxi_stage_describe = {
    .public = {.entry = {.id = "describe", .title = "What neurons respond to"},
               .help = "the suspicious neurons in words, the inputs that excite them, and where",
               .labels = true},
    .version = 4,
    .after = PXI_AFTER(eval) | PXI_AFTER(localize),
    .needs = PXI_AFTER(eval) | PXI_AFTER(localize),
    .thousands = 9.0,
    .run = describe_run,
    .files = {{PXI_MAPS_FILE, NULL, false}},
    .line = describe_line,
    .page = pxi_page_describe,
};
