/* include/plexor/probe.h - the neuron view of a network
 *
 *     px_probe_options options = px_probe_options_default();  // hidden layers, post tap, chan view
 *     px_probe_new(model, &options, &probe, &err);
 *     px_plan_options plan_options = px_plan_options_default();
 *     plan_options.keep = px_probe_values(probe, &plan_options.keep_count);
 *     // then px_plan_new(), px_session_new(), an input, px_session_forward()
 *     px_probe_trace(probe, session, samples, trace, rejected, &err);   // [sample][neuron]
 *
 * A *layer* is the output of an activation, or of a linear operator (Conv, ConvTranspose, Gemm,
 * MatMul with constant weights, RNN, GRU, LSTM) from which no path through normalisations, Add,
 * Identity or Dropout alone reaches an activation. It is named by the node that makes its `post`
 * tensor (unnamed, or the name is taken: the tensor). docs/probe.md has the definition in full.
 *
 * A probe is immutable once made and may be shared by all threads; a session belongs to one.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLEXOR_PROBE_H
#define PLEXOR_PROBE_H

#include <plexor/engine.h>

PX_BEGIN_DECLS

typedef struct px_probe px_probe;

/* X(enumerator, id, help) */
#define PX_TAPS(X)                                                        \
    X(PX_TAP_POST, "post", "after normalisation and activation")          \
    X(PX_TAP_PRE, "pre", "what the layer's own linear operator puts out") \
    X(PX_TAP_POOL, "pool", "the pooling right after the layer; none: as post")

typedef enum px_tap {
#define PX_TAP_ENUM(enumerator, id, help) enumerator,
    PX_TAPS(PX_TAP_ENUM)
#undef PX_TAP_ENUM
} px_tap;

#define PX_VIEWS(X)                                                                             \
    X(PX_VIEW_CHAN, "chan", "spatial mean of each channel")                                     \
    X(PX_VIEW_CHAN_MAX, "chan-max", "spatial maximum of each channel")                          \
    X(PX_VIEW_UNIT, "unit", "every scalar")                                                     \
    X(PX_VIEW_CHAN_SCALED, "chan-scaled", "layer min-max scaled per input, then channel means") \
    X(PX_VIEW_CHAN_RESCALED, "chan-rescaled", "channel means, then min-max scaled per input")   \
    X(PX_VIEW_CLASS_TOKEN, "class-token", "each feature of the token that the classifier reads")

/* Other words for views of transformers, whose places are tokens. */
#define PX_VIEW_WORDS(X)                                                     \
    X(PX_VIEW_CHAN, "token-mean", "chan: the mean of a feature over tokens") \
    X(PX_VIEW_CHAN_MAX, "token-max", "chan-max: its maximum over tokens")

typedef enum px_neurons {
#define PX_VIEW_ENUM(enumerator, id, help) enumerator,
    PX_VIEWS(PX_VIEW_ENUM)
#undef PX_VIEW_ENUM
} px_neurons;

#define PX_LAYER_KINDS(X)                                                            \
    X(PX_LAYER_CONV, "conv", "convolution, or an activation with spatial extent")    \
    X(PX_LAYER_DENSE, "dense", "Gemm, MatMul, or an activation without extent")      \
    X(PX_LAYER_RECURRENT, "recurrent", "one time step of RNN, GRU or LSTM")          \
    X(PX_LAYER_STREAM, "stream", "the residual stream of a transformer, or its end") \
    X(PX_LAYER_HEADS, "heads", "what each head of attention gives")                  \
    X(PX_LAYER_POOL, "pool", "pooling; with the deepxplore convention only")         \
    X(PX_LAYER_SOFTMAX, "softmax", "class scores; with the deepxplore convention only")

typedef enum px_layer_kind {
#define PX_LAYER_KIND_ENUM(enumerator, id, help) enumerator,
    PX_LAYER_KINDS(PX_LAYER_KIND_ENUM)
#undef PX_LAYER_KIND_ENUM
} px_layer_kind;

PX_API const char *px_tap_name(px_tap tap);
PX_API const char *px_neurons_name(px_neurons neurons);
PX_API const char *px_layer_kind_name(px_layer_kind kind);

/* What an axis of a layer's tensor stands for. */
typedef enum px_axis {
    PX_AXIS_SPACE = 0, /* height, width, tokens: what `chan` averages over */
    PX_AXIS_BATCH,
    PX_AXIS_CHANNEL,
    PX_AXIS_TIME,  /* one step of it is the layer: px_layer.step */
    PX_AXIS_HEADS, /* the batch, a sample's heads of attention side by side: they are channels */
} px_axis;

typedef struct px_layer {
    const char *name;
    px_layer_kind kind;
    int position;        /* `#i`: among all layers of the network */
    int post, pre, pool; /* value indices; pre without a linear operator: what is activated; pool
                            -1: none */
    bool hidden;         /* neither the logits layer nor after it */
    bool logits;         /* makes the class scores */
    bool block;          /* the residual stream at the end of a transformer's block */
    int step;            /* of a recurrent layer; -1 otherwise */
    int tap_value;       /* the one of the three that the options chose */
    px_shape shape;      /* of tap_value with one sample, in the graph's own axis order */
    px_axis axis[PX_MAX_RANK]; /* of tap_value; several channel axes count row-major */
    int64_t run;           /* exporters fold places into the batch axis: so many neighbours there
                              are one sample's, then come the next sample's; 0: not known */
    int64_t token;         /* class-token: the place that the neurons are taken from; -1: all */
    int64_t neuron_count;  /* under the chosen view */
    int64_t neuron_offset; /* of its first neuron in a trace row */
} px_layer;

typedef struct px_probe_options {
    const char *layers; /* comma-separated, left to right: "hidden", "all", "conv", "dense",
                           "recurrent", "heads", "stages", "last-encoder", "last-hidden", "logits",
                           names, globs, "#i";
                           "!x" takes x out; NULL: "hidden" ("all" with deepxplore). Borrowed during
                           px_probe_new */
    px_tap tap;
    px_neurons neurons;
    bool deepxplore;      /* pooling and softmax outputs are layers too; means post, and chan unless
                             neurons are chan-scaled */
    const px_feed *feeds; /* input shapes for networks that leave them open; axis 0 is the batch;
                             NULL: as declared. Borrowed during px_probe_new */
    size_t feed_count;
} px_probe_options;
PX_API px_probe_options px_probe_options_default(void);

/* Finds the layers and chooses among them. On PX_OK the caller owns *out; `model` is borrowed and
 * must outlive the probe. An unknown name, an empty choice or an operator that is not supported
 * is an error that says so. */
PX_API px_status px_probe_new(const px_model *model, const px_probe_options *options,
                              px_probe **out, px_error *err);
PX_API void px_probe_free(px_probe *probe);                /* NULL is fine */
PX_API size_t px_probe_layer_count(const px_probe *probe); /* chosen layers, in order */
PX_API const px_layer *px_probe_layer(const px_probe *probe, size_t i);
PX_API int64_t px_probe_neuron_count(const px_probe *probe);
/* "layers=hidden tap=post neurons=chan: 4 layers, 226 neurons"; printed with every number. */
PX_API const char *px_probe_describe(const px_probe *probe);
/* Value indices a plan must keep or observe (and have as seeds, for px_probe_seed); each once. */
PX_API const int *px_probe_values(const px_probe *probe, size_t *count);

/* "LAYER:INDEX" (split at the last colon; LAYER a name or #i) to a chosen layer and its neuron. */
PX_API px_status px_probe_find(const px_probe *probe, const char *text, size_t *layer,
                               int64_t *neuron, px_error *err);

/* Neuron values of the first `samples` rows after a forward run of a plan that *keeps*
 * px_probe_values(): trace is [samples][neuron_count]. rejected (may be NULL) gets true per sample
 * that has a NaN or infinity among its neuron values. A row's bytes depend neither on its place in
 * the batch nor on the layout inside the plan. */
PX_API px_status px_probe_trace(const px_probe *probe, const px_session *session, int64_t samples,
                                float *trace, bool *rejected, px_error *err);

/* The same values taken while the network runs, when they are hot in the cache and before their
 * memory is used again: the plan *observes* px_probe_values(), and the session is given
 *
 *     px_probe_watch watch = {.probe = probe, .samples = n, .trace = trace};
 *     px_session_observe(session, px_probe_observer, &watch);
 *     px_session_forward(session, &err);
 *     px_probe_reject(probe, trace, n, rejected);
 */
typedef struct px_probe_watch {
    const px_probe *probe;
    int64_t samples; /* rows to fill; the padding of a last micro-batch is left out */
    float *trace;    /* [samples][neuron_count] */
} px_probe_watch;
PX_API px_status px_probe_observer(void *watch, int value, const px_view *view, px_error *err);

/* Adds `weight` times the gradient of one neuron's value to the seed of its layer, for sample row
 * `sample` (-1: all rows). chan: weight / (H W) everywhere; chan-max: at the first maximum in
 * NCHW order; unit: at the scalar. Scaled views are not differentiable and refused. */
PX_API px_status px_probe_seed(const px_probe *probe, px_session *session, size_t layer,
                               int64_t neuron, int64_t sample, float weight, px_error *err);

/* What is known of an input beside its row. */
typedef struct px_input_facts {
    int64_t index;    /* in the data set as opened */
    int64_t label;    /* -1: none */
    int predicted;    /* -1: no classifier, or scores that are not numbers */
    float confidence; /* its probability, for selectors; NaN where nobody asked, or none */
} px_input_facts;

typedef struct px_gradient_neuron { /* a layer of a probe, and a neuron of it */
    size_t layer;
    int64_t unit;
} px_gradient_neuron;

typedef struct px_gradient_options {
    const int64_t *labels; /* of the loss, one per sample; */
    const px_probe *probe; /* or, where this is given, of the sum of its neurons */
    const px_gradient_neuron *neurons;
    size_t neuron_count;
    int wrt; /* a value: an inner tensor, or a weight, whose gradients are added up; -1: the input
              */
    px_run_options run;
} px_gradient_options;

/* `input` as for px_run(), float32. Each sample gets the gradient of its own term. On PX_OK the
 * caller owns *out, of the shape of what it is by; *facts (may be NULL) says how it ran. */
PX_API px_status px_gradient(const px_model *model, const px_tensor *input,
                             const px_gradient_options *options, px_tensor *out,
                             px_run_facts *facts, px_error *err);

PX_END_DECLS
#endif
