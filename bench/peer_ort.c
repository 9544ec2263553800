/* bench/peer_ort.c - ONNX Runtime as a peer of bench/engine
 *
 *     peer_ort LIBONNXRUNTIME
 *
 * The library comes from npm's onnxruntime-node, which brings no header. Its C API is a table of
 * functions whose order can never change: ONNX Runtime asserts at compile time that
 * ReleaseCustomOpDomain is at place 101 and SetGlobalSpinControl at 149, and hands out the same
 * table for every API version since. The places used here all lie before those. The driver compares
 * the outputs with the other peers', so that a wrong call cannot go unnoticed.
 *
 * LAYOUT `intra` gives one session all threads; `sessions` lets each thread call Run() with a
 * batch of its own on a session that has one. Graph optimisation is at its highest level, and the
 * batch size is made known to it.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ort_status ort_status;
typedef struct ort_object ort_object; /* environment, session, options, value, ...: all opaque */

enum { /* places in the table; end of API version 1 at 101, of version 5 at 149 */
       ORT_GET_ERROR_MESSAGE = 2,
       ORT_CREATE_ENV = 3,
       ORT_CREATE_SESSION = 7,
       ORT_RUN = 9,
       ORT_CREATE_SESSION_OPTIONS = 10,
       ORT_SET_GRAPH_OPTIMIZATION_LEVEL = 23,
       ORT_SET_INTRA_OP_THREADS = 24,
       ORT_SET_INTER_OP_THREADS = 25,
       ORT_SESSION_OUTPUT_COUNT = 31,
       ORT_SESSION_INPUT_TYPE_INFO = 33,
       ORT_SESSION_OUTPUT_TYPE_INFO = 34,
       ORT_SESSION_INPUT_NAME = 36,
       ORT_SESSION_OUTPUT_NAME = 37,
       ORT_CREATE_TENSOR_WITH_DATA = 49,
       ORT_CAST_TYPE_INFO_TO_TENSOR_INFO = 55,
       ORT_GET_DIMENSIONS_COUNT = 61,
       ORT_GET_DIMENSIONS = 62,
       ORT_CREATE_CPU_MEMORY_INFO = 69,
       ORT_GET_DEFAULT_ALLOCATOR = 78,
       ORT_RELEASE_STATUS = 93,
       ORT_RELEASE_MEMORY_INFO = 94,
       ORT_RELEASE_SESSION = 95,
       ORT_RELEASE_VALUE = 96,
       ORT_RELEASE_TYPE_INFO = 98,
       ORT_RELEASE_SESSION_OPTIONS = 100,
       ORT_ADD_FREE_DIMENSION_OVERRIDE_BY_NAME = 124,
};
enum { ORT_API_VERSION_USED = 5, ORT_ENABLE_ALL = 99, ORT_FLOAT = 1, ORT_LOG_ERROR = 3 };
enum { MAX_OUTPUTS = 8, MAX_RANK = 8 };

typedef struct ort_api_base {
    void *const *(*get_api)(uint32_t version);
    const char *(*version)(void);
} ort_api_base;

typedef ort_status *(*create_fn)(ort_object **out);
typedef ort_status *(*create_env_fn)(int level, const char *id, ort_object **out);
typedef ort_status *(*create_session_fn)(const ort_object *env, const char *path,
                                         const ort_object *options, ort_object **out);
typedef ort_status *(*run_fn)(ort_object *session, const ort_object *run_options,
                              const char *const *input_names, const ort_object *const *inputs,
                              size_t input_count, const char *const *output_names,
                              size_t output_count, ort_object **outputs);
typedef ort_status *(*set_int_fn)(ort_object *options, int value);
typedef ort_status *(*override_fn)(ort_object *options, const char *name, int64_t value);
typedef ort_status *(*count_fn)(const ort_object *object, size_t *out);
typedef ort_status *(*type_info_fn)(const ort_object *session, size_t index, ort_object **out);
typedef ort_status *(*name_fn)(const ort_object *session, size_t index, ort_object *allocator,
                               char **out);
typedef ort_status *(*create_tensor_fn)(const ort_object *memory, void *data, size_t bytes,
                                        const int64_t *shape, size_t rank, int type,
                                        ort_object **out);
typedef ort_status *(*cast_fn)(const ort_object *type_info, const ort_object **out);
typedef ort_status *(*dims_fn)(const ort_object *tensor_info, int64_t *out, size_t count);
typedef ort_status *(*cpu_memory_fn)(int allocator, int memory, ort_object **out);
typedef const char *(*message_fn)(const ort_status *status);
typedef void (*release_fn)(void *object);

static void *const *api;
static ort_object *env, *memory_info, *allocator;
static const char *ort_version;

#define ORT(type, place) ((type)api[place])

static bool ort_ok(ort_status *status, char text[PEER_TEXT])
{
    if (!status)
        return true;
    text[0] = '\0';
    peer_append(text, "%s", ORT(message_fn, ORT_GET_ERROR_MESSAGE)(status));
    ORT(release_fn, ORT_RELEASE_STATUS)(status);
    return false;
}

static void ort_release(int place, void *object)
{
    if (object)
        ORT(release_fn, place)(object);
}

static bool ort_load(const char *path, char text[PEER_TEXT])
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        peer_append(text, "%s", dlerror());
        return false;
    }
    const ort_api_base *(*get_base)(void) = NULL;
    *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    if (!get_base || !(api = get_base()->get_api(ORT_API_VERSION_USED))) {
        peer_append(text, "'%s' is not ONNX Runtime", path);
        return false;
    }
    ort_version = get_base()->version();
    return ort_ok(ORT(create_env_fn, ORT_CREATE_ENV)(ORT_LOG_ERROR, "bench", &env), text) &&
           ort_ok(ORT(cpu_memory_fn, ORT_CREATE_CPU_MEMORY_INFO)(/* arena */ 1, /* default */ 0,
                                                                 &memory_info),
                  text) &&
           ort_ok(ORT(create_fn, ORT_GET_DEFAULT_ALLOCATOR)(&allocator), text);
}

/* --- a network --- */

typedef struct buffer {
    ort_object *value;
    float *data;
    size_t count;
} buffer;

typedef struct ort_net {
    ort_object *session;
    char *input_name, *output_names[MAX_OUTPUTS];
    size_t output_count;
    buffer input[PEER_WORKERS], output[PEER_WORKERS][MAX_OUTPUTS];
} ort_net;

/* Makes the tensor that the session declares for input or output `index`, with the batch put in. */
static bool buffer_init(buffer *b, const ort_object *session, int info_place, size_t index,
                        int64_t batch, char text[PEER_TEXT])
{
    ort_object *type_info = NULL;
    const ort_object *tensor = NULL;
    size_t rank = 0;
    int64_t shape[MAX_RANK] = {0};
    bool good = ort_ok(ORT(type_info_fn, info_place)(session, index, &type_info), text) &&
                ort_ok(ORT(cast_fn, ORT_CAST_TYPE_INFO_TO_TENSOR_INFO)(type_info, &tensor), text) &&
                ort_ok(ORT(count_fn, ORT_GET_DIMENSIONS_COUNT)(tensor, &rank), text);
    if (good && (rank < 1 || rank > MAX_RANK)) {
        peer_append(text, "rank %zu is not expected", rank);
        good = false;
    }
    good = good && ort_ok(ORT(dims_fn, ORT_GET_DIMENSIONS)(tensor, shape, rank), text);
    if (good) {
        shape[0] = batch;
        b->count = 1;
        for (size_t i = 0; i < rank; i++)
            b->count *= (size_t)shape[i];
        const size_t bytes = (b->count * sizeof(float) + 63) / 64 * 64;
        b->data = aligned_alloc(64, bytes);
        if (!b->data) {
            peer_append(text, "out of memory");
            good = false;
        } else {
            memset(b->data, 0, bytes);
        }
    }
    good = good && ort_ok(ORT(create_tensor_fn, ORT_CREATE_TENSOR_WITH_DATA)(
                              memory_info, b->data, b->count * sizeof(float), shape, rank,
                              ORT_FLOAT, &b->value),
                          text);
    ort_release(ORT_RELEASE_TYPE_INFO, type_info);
    return good;
}

static bool net_open_session(ort_net *n, const peer_request *request, int intra,
                             char text[PEER_TEXT])
{
    ort_object *options = NULL;
    const bool good =
        ort_ok(ORT(create_fn, ORT_CREATE_SESSION_OPTIONS)(&options), text) &&
        ort_ok(ORT(set_int_fn, ORT_SET_GRAPH_OPTIMIZATION_LEVEL)(options, ORT_ENABLE_ALL), text) &&
        ort_ok(ORT(set_int_fn, ORT_SET_INTRA_OP_THREADS)(options, intra), text) &&
        ort_ok(ORT(set_int_fn, ORT_SET_INTER_OP_THREADS)(options, 1), text) &&
        ort_ok(
            ORT(override_fn, ORT_ADD_FREE_DIMENSION_OVERRIDE_BY_NAME)(options, "N", request->batch),
            text) &&
        ort_ok(
            ORT(create_session_fn, ORT_CREATE_SESSION)(env, request->model, options, &n->session),
            text) &&
        ort_ok(ORT(name_fn, ORT_SESSION_INPUT_NAME)(n->session, 0, allocator, &n->input_name),
               text) &&
        ort_ok(ORT(count_fn, ORT_SESSION_OUTPUT_COUNT)(n->session, &n->output_count), text);
    ort_release(ORT_RELEASE_SESSION_OPTIONS, options);
    if (good && n->output_count > MAX_OUTPUTS) {
        peer_append(text, "too many outputs");
        return false;
    }
    return good;
}

static bool ort_step(const peer_net *net, int worker, char text[PEER_TEXT])
{
    ort_net *const n = net->state;
    const ort_object *const inputs[] = {n->input[worker].value};
    const char *const input_names[] = {n->input_name};
    ort_object *outputs[MAX_OUTPUTS];
    for (size_t i = 0; i < n->output_count; i++)
        outputs[i] = n->output[worker][i].value;
    return ort_ok(ORT(run_fn, ORT_RUN)(n->session, NULL, input_names, inputs, 1,
                                       (const char *const *)n->output_names, n->output_count,
                                       outputs),
                  text);
}

static bool ort_open(const peer_request *request, peer_net *net, char text[PEER_TEXT])
{
    ort_net *const n = calloc(1, sizeof *n);
    const bool sessions = strcmp(request->layout, "sessions") == 0;
    net->state = n;
    net->batch = request->batch;
    net->workers = sessions ? request->threads : 1;
    if (!n || request->batch < 1 || strcmp(request->kind, "forward") != 0) {
        peer_append(text, "only forward with a given batch");
        return false;
    }
    if (!net_open_session(n, request, sessions ? 1 : request->threads, text))
        return false;
    for (size_t i = 0; i < n->output_count; i++)
        if (!ort_ok(ORT(name_fn, ORT_SESSION_OUTPUT_NAME)(n->session, i, allocator,
                                                          &n->output_names[i]),
                    text))
            return false;
    for (int w = 0; w < net->workers; w++) {
        if (!buffer_init(&n->input[w], n->session, ORT_SESSION_INPUT_TYPE_INFO, 0, request->batch,
                         text))
            return false;
        peer_fill(n->input[w].data, n->input[w].count);
        for (size_t i = 0; i < n->output_count; i++)
            if (!buffer_init(&n->output[w][i], n->session, ORT_SESSION_OUTPUT_TYPE_INFO, i,
                             request->batch, text))
                return false;
        if (!ort_step(net, w, text))
            return false;
    }
    peer_append(text, " version=%s", ort_version);
    const buffer *const last = &n->output[0][n->output_count - 1];
    float shown[PEER_CLASSES_SHOWN];
    for (size_t i = 0; i < PEER_CLASSES_SHOWN; i++) /* spread over the first sample */
        shown[i] = last->data[i * (last->count / (size_t)request->batch) / PEER_CLASSES_SHOWN];
    peer_append_values(text, "check", shown, PEER_CLASSES_SHOWN);
    return true;
}

static void ort_close(peer_net *net)
{
    ort_net *const n = net->state;
    if (!n)
        return;
    for (int w = 0; w < net->workers; w++) {
        ort_release(ORT_RELEASE_VALUE, n->input[w].value);
        free(n->input[w].data);
        for (size_t i = 0; i < MAX_OUTPUTS; i++) {
            ort_release(ORT_RELEASE_VALUE, n->output[w][i].value);
            free(n->output[w][i].data);
        }
    }
    ort_release(ORT_RELEASE_SESSION, n->session); /* the names belong to the process: a few bytes */
    free(n);
    net->state = NULL;
}

int main(int argc, char **argv)
{
    char text[PEER_TEXT] = "";
    static const peer self = {.open = ort_open, .step = ort_step, .close = ort_close};
    if (argc != 2) {
        fputs("usage: peer_ort LIBONNXRUNTIME\n", stderr);
        return 2;
    }
    if (!ort_load(argv[1], text)) {
        fprintf(stderr, "peer_ort: %s\n", text);
        return 2;
    }
    return peer_serve(&self);
}
