/* include/plexor/probe.h - the neuron view of a network
 *
 *     px_probe_options options = px_probe_options_default();  // hidden layers, post tap, chan view
 *     px_probe_new(model, &options, &probe, &err);
 *     ... a plan that keeps px_probe_values(probe) ...
 *     px_probe_trace(probe, session, samples, trace, &err);   // [sample][neuron]
 *
 * A *layer* is the output of an activation, or of a linear operator (Conv, ConvTranspose, Gemm,
 * MatMul, RNN) from which no path through BatchNormalization, Add, Identity or Dropout alone reaches
 * an activation. It is named by the node that makes its `post` tensor (unnamed: the tensor).
 */
#ifndef PLEXOR_PROBE_H
#define PLEXOR_PROBE_H

#include <plexor/engine.h>

PX_BEGIN_DECLS

typedef struct px_probe px_probe;

typedef enum px_tap { PX_TAP_POST, PX_TAP_PRE, PX_TAP_POOL } px_tap;

/* X(enumerator, id, help) */
#define PX_VIEWS(X)                                                                        \
    X(PX_VIEW_CHAN, "chan", "spatial mean of each channel")                                \
    X(PX_VIEW_CHAN_MAX, "chan-max", "spatial maximum of each channel")                     \
    X(PX_VIEW_UNIT, "unit", "every scalar")                                                \
    X(PX_VIEW_CHAN_SCALED, "chan-scaled", "layer min-max scaled per input, then channel means") \
    X(PX_VIEW_CHAN_RESCALED, "chan-rescaled", "channel means, then min-max scaled per input")

typedef enum px_neurons {
#define PX_VIEW_ENUM(enumerator, id, help) enumerator,
    PX_VIEWS(PX_VIEW_ENUM)
#undef PX_VIEW_ENUM
} px_neurons;

typedef enum px_layer_kind {
    PX_LAYER_CONV,  /* has spatial extent */
    PX_LAYER_DENSE,
    PX_LAYER_RECURRENT,
    PX_LAYER_POOL,    /* deepxplore convention only */
    PX_LAYER_SOFTMAX, /* deepxplore convention only */
} px_layer_kind;

typedef struct px_layer {
    const char *name;
    px_layer_kind kind;
    int position;          /* `#i`: among all layers of the network */
    int post, pre, pool;   /* value indices; pre == post without an activation; pool -1: none */
    bool hidden;           /* not the logits layer nor after it */
    int tap_value;         /* the one of the three that the options chose */
    px_shape shape;        /* of tap_value with batch 1 */
    int64_t neuron_count;  /* under the chosen view */
    int64_t neuron_offset; /* of its first neuron in a trace row */
} px_layer;

typedef struct px_probe_options {
    const char *layers; /* "hidden", "all", "conv", "dense", "last-encoder", "logits", names, globs,
                           "#i", "!x"; comma-separated; NULL: "hidden" */
    px_tap tap;
    px_neurons neurons;
    bool deepxplore; /* sets all three: conv, dense, pooling, logits, softmax outputs; channel means */
} px_probe_options;
PX_API px_probe_options px_probe_options_default(void);
/* Parses the texts of --layers, --tap, --neurons (NULL: default). `layers` is borrowed. */
PX_API px_status px_probe_options_parse(px_probe_options *options, const char *layers,
                                        const char *tap, const char *neurons, px_error *err);

PX_API px_status px_probe_new(const px_model *model, const px_probe_options *options,
                              px_probe **out, px_error *err);
PX_API void px_probe_free(px_probe *probe);
PX_API size_t px_probe_layer_count(const px_probe *probe); /* chosen layers, in order */
PX_API const px_layer *px_probe_layer(const px_probe *probe, size_t i);
PX_API int64_t px_probe_neuron_count(const px_probe *probe);
/* "layers=hidden tap=post neurons=chan: 4 layers, 226 neurons"; printed with every number. */
PX_API const char *px_probe_describe(const px_probe *probe);
/* Value indices a plan must keep. */
PX_API const int *px_probe_values(const px_probe *probe, size_t *count);

/* "LAYER:INDEX" (split at the last colon; LAYER a name or #i) to layer and neuron. */
PX_API px_status px_probe_find(const px_probe *probe, const char *text, size_t *layer,
                               int64_t *neuron, px_error *err);

/* Neuron values of the first `samples` rows after a forward run: trace is [samples][neuron_count].
 * rejected (may be NULL) gets true per sample that has a NaN or infinity. */
PX_API px_status px_probe_trace(const px_probe *probe, const px_session *session, int64_t samples,
                                float *trace, bool *rejected, px_error *err);

/* Adds `weight` times the gradient of one neuron's value to the seed of its layer, for sample row
 * `sample` (-1: all rows). Scaled views are not differentiable and refused. */
PX_API px_status px_probe_seed(const px_probe *probe, px_session *session, size_t layer,
                               int64_t neuron, int64_t sample, float weight, px_error *err);

PX_END_DECLS
#endif
