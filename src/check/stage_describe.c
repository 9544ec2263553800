/* src/check/stage_describe.c - what the suspicious neurons respond to
 *
 * For the neurons that are most suspicious over all classes and for each of them: the inputs that
 * excite them most, where in the picture, and words, by measured labels or by a bank that was
 * given. A neuron's value is the mean of its channel, as everywhere else; words are about its map.
 */
#include "check/check_suspects.h"
#include "check/check_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_FILE "exemplars.npz"
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

/* --- where they respond -------------------------------------------------------------------------
 */

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
    char *path = pxi_check_path(d->c, MAPS_FILE);
    px_npz_writer *to = NULL;
    px_status status = path ? px_npz_create(path, &to, err) : pxi_check_nomem(err);
    free(path);
    PX_TRY(status);
    status = px_npz_add(to, "maps", &maps, err);
    if (status == PX_OK)
        return px_npz_commit(to, err);
    px_npz_abandon(to);
    return status;
}

/* --- opening ------------------------------------------------------------------------------------
 */

static px_status describe_subjects(describe *d, px_error *err)
{
    px_spectrum *spectrum = NULL;
    px_status status = pxi_spectrum_open(d->c, &spectrum, err);
    if (status == PX_OK)
        status = pxi_suspects_rank(spectrum, true, DESCRIBE_POOLED, &d->suspects, err);
    if (status == PX_OK && /* there may be no class that has a ranking */
        pxi_suspects_rank(spectrum, false, DESCRIBE_PER_CLASS, &d->by_class, err) == PX_E_NOMEM)
        status = PX_E_NOMEM;
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
    return d->layers ? PX_OK : pxi_check_nomem(err);
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
    if (layer->shape.rank == 4 && layer->axis[1] == PX_AXIS_CHANNEL &&
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
    return d->values && d->maps ? PX_OK : pxi_check_nomem(err);
}

/* The class that most of the inputs have that excite it, and how many; the lower one of equals. It
 * is counted over the same inputs of which the first are shown. */
static void json_shared(const describe *d, const subject *s, px_json *out)
{
    const px_check *c = d->c;
    int64_t best = -1;
    int most = 0;
    for (int i = 0; i < s->count; i++) {
        const int64_t label = px_dataset_label(c->set, s->top[i]);
        int same = 0;
        for (int k = 0; k < s->count; k++)
            same += px_dataset_label(c->set, s->top[k]) == label;
        if (same > most || (same == most && label < best)) {
            most = same;
            best = label;
        }
    }
    if (best < 0 || best >= c->scores.classes)
        return;
    px_json_object(out, "shared");
    px_json_string(out, "class", c->names[best]);
    px_json_int(out, "count", most);
    px_json_int(out, "of", s->count);
    px_json_end(out);
}

static void json_subject(const describe *d, const subject *s, px_json *out)
{
    const px_check *c = d->c;
    px_json_object(out, NULL);
    px_json_string(out, "layer", s->suspect->layer);
    px_json_int(out, "position", s->suspect->position);
    px_json_int(out, "index", s->suspect->unit);
    px_json_int(out, "rank", s->suspect->rank);
    px_json_real(out, "score", s->suspect->score);
    if (d->bank)
        pxi_words_unit(d->bank, c->bank == NULL, s->suspect->layer, s->suspect->unit, out);
    if (c->labelled)
        json_shared(d, s, out);
    px_json_int(out, "map_height", s->height);
    px_json_int(out, "map_width", s->width);
    px_json_array(out, "top");
    for (int k = 0; k < PX_MIN(s->count, (int)DESCRIBE_TOP); k++) {
        px_json_object(out, NULL);
        px_json_int(out, "input", s->top[k]);
        px_json_real(out, "value", (double)s->value[k]);
        px_json_int(out, "label", c->labelled ? px_dataset_label(c->set, s->top[k]) : -1);
        px_json_int(out, "prediction", c->predictions[s->top[k]]);
        px_json_end(out);
    }
    px_json_end(out);
    px_json_end(out);
}

/* Data that are no pictures have no words; that is no reason to leave out the rest. */
static px_status describe_words(describe *d, px_error *err)
{
    const px_status status = pxi_words_open(d->c, d->layers, &d->own, &d->bank, &d->wordless);
    return status <= PX_E_MISMATCH ? PX_OK : px_fail(err, status, "%s", d->wordless.message);
}

static px_status describe_write(const describe *d, px_json *out, px_error *err)
{
    px_json_string(out, "definition", px_probe_describe(d->probe));
    px_json_int(out, "inputs", d->inputs);
    if (d->bank)
        PX_TRY(pxi_words_about(d->bank, out, err));
    else
        px_json_string(out, "wordless", d->wordless.message);
    px_json_array(out, "neurons");
    for (int s = 0; s < d->count; s++)
        json_subject(d, &d->subjects[s], out);
    px_json_end(out);
    return PX_OK;
}

static px_status describe_run(px_check *c, px_json *out, px_error *err)
{
    static const char *const files[] = {MAPS_FILE};
    describe d = {.c = c};
    px_status status = describe_open(&d, err);
    if (status == PX_OK)
        status = pxi_pass_run(d.pass, err);
    for (int s = 0; s < d.count && status == PX_OK; s++)
        subject_top(&d, s);
    if (status == PX_OK) {
        const int64_t maps = (int64_t)d.count * DESCRIBE_TOP, batch = pxi_pass_batch(d.pass);
        status = pxi_pass_each(d.pass, (maps + batch - 1) / batch, NULL, maps_batch, &d, err);
    }
    if (status == PX_OK)
        status = maps_save(&d, err);
    if (status == PX_OK)
        status = describe_words(&d, err);
    if (status == PX_OK)
        status = describe_write(&d, out, err);
    if (status == PX_OK)
        status = pxi_check_files(c, files, PX_LEN(files), out, err);
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

const pxi_stage pxi_stage_describe = {
    .public = {.id = "describe",
               .title = "What neurons respond to",
               .help = "the suspicious neurons in words, the inputs that excite them, and where",
               .labels = true},
    .version = 4,
    .after = PXI_AFTER(eval) | PXI_AFTER(localize),
    .needs = PXI_AFTER(eval) | PXI_AFTER(localize),
    .thousands = 9.0,
    .run = describe_run,
};
