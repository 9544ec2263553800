/* bench/bench_kernel.c - making and timing oneDNN primitives */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_kernel.h"
#include "bench_ops.h"

#include <omp.h>
#include <plexor/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN(array) (sizeof(array) / sizeof(array)[0])

enum { ROUNDS = 7 };
static const double ROUND_SECONDS = 0.0015, MOST_SECONDS = 0.03;

static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* What a maker needs until its kernel is made. */
typedef struct making {
    pxi_md mds[8];
    int md_count;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t hint; /* the forward descriptor that backward wants */
} making;

static void must(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return;
    fprintf(stderr, "kernels: oneDNN: %s failed with status %d\n", what, (int)status);
    exit(3);
}

void kernel_start(void)
{
    omp_set_num_threads(1);
    must(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine_create");
    must(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "stream_create");
}

void kernel_stop(void)
{
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
}

static void kernel_add_arg(kernel *k, int arg)
{
    pxi_const_md md = dnnl_primitive_desc_query_md(k->desc, dnnl_query_exec_arg_md, arg);
    const size_t size = md ? dnnl_memory_desc_get_size(md) : 0;
    if (size == 0)
        return;
    dnnl_memory_t memory;
    must(dnnl_memory_create(&memory, md, engine, DNNL_MEMORY_ALLOCATE), "memory_create");
    void *bytes = NULL;
    must(dnnl_memory_get_data_handle(memory, &bytes), "memory_get_data_handle");
    memset(bytes, 0, size);
    if (arg != DNNL_ARG_WORKSPACE)                        /* all else is float32 */
        for (size_t i = 0; i < size / sizeof(float); i++) /* no denormals, no growth */
            ((float *)bytes)[i] = (float)((int)(i * 2654435761u % 201u) - 100) * 0.001f;
    k->args[k->arg_count++] = (dnnl_exec_arg_t){arg, memory};
}

/* Takes oneDNN's first choice, or the first `other` one (its list is not always in order of speed);
 * false if there is none. Frees what `making` made. */
static bool kernel_init(kernel *k, making *m, dnnl_status_t listed, pxi_impls *impls, bool other)
{
    static const int possible[] = {
        DNNL_ARG_SRC,      DNNL_ARG_WEIGHTS,  DNNL_ARG_BIAS,      DNNL_ARG_DST,
        DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE,
    };
    *k = (kernel){0};
    char first[64] = "";
    bool more = listed == dnnl_success;
    while (more) {
        k->desc = pxi_impls_take(impls);
        must(dnnl_primitive_desc_query(k->desc, dnnl_query_impl_info_str, 0, &k->impl), "query");
        if (!first[0])
            snprintf(first, sizeof first, "%s", k->impl);
        if (!other || strcmp(first, k->impl) != 0)
            break;
        dnnl_primitive_desc_destroy(k->desc);
        k->desc = NULL;
        more = pxi_impls_next(impls);
    }
    if (listed == dnnl_success)
        pxi_impls_free(impls);
    if (k->desc) {
        must(dnnl_primitive_create(&k->primitive, k->desc), "primitive_create");
        for (size_t i = 0; i < LEN(possible); i++)
            kernel_add_arg(k, possible[i]);
        const_dnnl_post_ops_t ops = NULL;
        must(dnnl_primitive_attr_get_post_ops(m->attr, &ops), "get_post_ops");
        for (int i = 0; i < dnnl_post_ops_len(ops); i++)
            if (dnnl_post_ops_get_kind(ops, i) == dnnl_binary)
                kernel_add_arg(k, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1);
    }
    for (int i = 0; i < m->md_count; i++)
        pxi_md_free(m->mds[i]);
    if (m->hint)
        dnnl_primitive_desc_destroy(m->hint);
    dnnl_primitive_attr_destroy(m->attr);
    return k->desc != NULL;
}

void kernel_done(kernel *k)
{
    if (k->free)
        k->free(k->context);
    for (int i = 0; i < k->arg_count; i++)
        dnnl_memory_destroy(k->args[i].memory);
    dnnl_primitive_destroy(k->primitive);
    dnnl_primitive_desc_destroy(k->desc);
}

static double kernel_repeat(const kernel *k, int repeats)
{
    const double start = px_clock_s();
    for (int i = 0; k->run && i < repeats; i++)
        k->run(k->context);
    for (int i = 0; !k->run && i < repeats; i++)
        must(dnnl_primitive_execute(k->primitive, stream, k->arg_count, k->args), "execute");
    return px_clock_s() - start;
}

/* Seconds per execution: the best of several rounds, each long enough for the clock. */
double kernel_seconds(const kernel *k)
{
    kernel_repeat(k, 1);
    int repeats = 1;
    double best = kernel_repeat(k, 1);
    while (best * repeats < ROUND_SECONDS && repeats < 1 << 16) {
        repeats *= 2;
        best = kernel_repeat(k, repeats) / repeats;
    }
    const double stop = px_clock_s() + MOST_SECONDS; /* reference kernels take for ever */
    for (int round = 0; round < ROUNDS && px_clock_s() < stop; round++) {
        const double seconds = kernel_repeat(k, repeats) / repeats;
        if (seconds < best)
            best = seconds;
    }
    return best;
}

static int64_t shape_out(const shape *s)
{
    return (s->size + 2 * s->pad - s->kernel) / s->stride + 1;
}

double conv_flops(const shape *s)
{
    const int64_t side = shape_out(s);
    return 2.0 * (double)(side * side * s->out * (s->in / s->groups) * s->kernel * s->kernel);
}

static pxi_const_md md_init(making *m, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    must(pxi_md_new(&m->mds[m->md_count], rank, dims, tag), "memory descriptor");
    return m->mds[m->md_count++];
}

static pxi_const_md md_map(making *m, int64_t n, int64_t c, int64_t side, dnnl_format_tag_t tag)
{
    return md_init(m, 4, (dnnl_dims_t){n, c, side, side}, tag);
}

static void attr_init(making *m, post kind, pxi_const_md dst)
{
    dnnl_post_ops_t ops;
    must(dnnl_primitive_attr_create(&m->attr), "attr_create");
    must(dnnl_post_ops_create(&ops), "post_ops_create");
    if (kind == ADD || kind == ADD_RELU)
        must(dnnl_post_ops_append_binary(ops, dnnl_binary_add, dst), "append_binary");
    if (kind == MUL)
        must(dnnl_post_ops_append_binary(ops, dnnl_binary_mul, dst), "append_binary");
    if (kind == SUM || kind == SUM_RELU)
        must(pxi_append_sum(ops), "append_sum");
    if (kind == RELU || kind == ADD_RELU || kind == SUM_RELU)
        must(pxi_append_eltwise(ops, dnnl_eltwise_relu, 0.0f, 0.0f), "append_relu");
    if (kind == CLIP)
        must(pxi_append_eltwise(ops, dnnl_eltwise_clip, 0.0f, 6.0f), "append_clip");
    must(dnnl_primitive_attr_set_post_ops(m->attr, ops), "set_post_ops");
    dnnl_post_ops_destroy(ops);
}

/* The forward descriptor of a list of implementations, as a hint for backward. */
static dnnl_status_t hint_init(making *m, dnnl_status_t listed, pxi_impls *impls)
{
    if (listed != dnnl_success)
        return listed;
    m->hint = pxi_impls_take(impls);
    pxi_impls_free(impls);
    return m->hint ? dnnl_success : dnnl_out_of_memory;
}

static pxi_const_md md_weights(making *m, int64_t in, int64_t out, int64_t kernel_size,
                               int64_t groups)
{
    if (groups > 1)
        return md_init(m, 5,
                       (dnnl_dims_t){groups, out / groups, in / groups, kernel_size, kernel_size},
                       dnnl_format_tag_any);
    return md_init(m, 4, (dnnl_dims_t){out, in, kernel_size, kernel_size}, dnnl_format_tag_any);
}

static pxi_conv_op conv_op(making *m, const shape *s, int64_t batch, const variant *v)
{
    return (pxi_conv_op){
        .alg = v->pick == WINOGRAD ? dnnl_convolution_winograd : dnnl_convolution_direct,
        .source = md_map(m, batch, s->in, s->size, v->src),
        .weights = md_weights(m, s->in, s->out, s->kernel, s->groups),
        .destination = md_map(m, batch, s->out, shape_out(s), v->dst),
        .strides = {s->stride, s->stride},
        .pads_l = {s->pad, s->pad},
        .pads_r = {s->pad, s->pad},
    };
}

static bool conv_init(kernel *k, const shape *s, int64_t batch, const variant *v, bool bias)
{
    making m = {0};
    pxi_conv_op op = conv_op(&m, s, batch, v);
    if (bias)
        op.bias = md_init(&m, 1, (dnnl_dims_t){s->out}, dnnl_a);
    attr_init(&m, v->post, op.destination);
    pxi_impls impls;
    const dnnl_status_t status =
        pxi_conv_forward(&impls, engine, &op, dnnl_forward_inference, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

bool conv_forward(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return conv_init(k, s, batch, v, true);
}

bool conv_mixed(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return s->in <= 4 && conv_init(k, s, batch, v, true);
}

bool conv_backward(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    making m = {0};
    const pxi_conv_op op = conv_op(&m, s, batch, v);
    attr_init(&m, NONE, NULL);
    pxi_impls impls;
    dnnl_status_t status = pxi_conv_forward(&impls, engine, &op, dnnl_forward_training, m.attr);
    status = hint_init(&m, status, &impls);
    if (status == dnnl_success)
        status = pxi_conv_backward_data(&impls, engine, &op, m.hint, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

bool conv_mixed_back(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return s->in <= 4 && conv_backward(k, s, batch, v);
}

/* dx of a stride-1 convolution: a convolution of dy with rotated, transposed weights. */
bool conv_rotated(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    shape r = *s;
    if (s->stride != 1)
        return false;
    r.in = s->out;
    r.out = s->in;
    r.size = shape_out(s);
    r.pad = s->kernel - 1 - s->pad;
    return conv_init(k, &r, batch, v, false);
}

/* rows x in times in x out; weights in oneDNN's own packing. */
static bool matmul_init(kernel *k, int64_t rows, int64_t in, int64_t out, const variant *v)
{
    making m = {0};
    pxi_const_md src = md_init(&m, 2, (dnnl_dims_t){rows, in}, dnnl_ab);
    pxi_const_md weights = md_init(&m, 2, (dnnl_dims_t){in, out}, v->src);
    pxi_const_md bias = md_init(&m, 2, (dnnl_dims_t){1, out}, dnnl_ab);
    pxi_const_md dst = md_init(&m, 2, (dnnl_dims_t){rows, out}, dnnl_ab);
    attr_init(&m, v->post, dst);
    pxi_impls impls;
    const dnnl_status_t status = pxi_matmul(&impls, engine, src, weights, bias, dst, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

bool conv_matmul(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return s->kernel == 1 && matmul_init(k, batch * s->size * s->size, s->in, s->out, v);
}

bool dense_matmul(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return matmul_init(k, batch, s->in * s->size * s->size, s->out, v);
}

bool dense_matmul_back(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return matmul_init(k, batch, s->out, s->in * s->size * s->size, v);
}

bool dense_conv(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    const shape c = {s->net, 1, s->in, s->out, s->size, s->size, 1, 0, 1};
    return conv_init(k, &c, batch, v, true);
}

static void dense_mds(making *m, const shape *s, int64_t batch, dnnl_format_tag_t tag,
                      pxi_const_md *src, pxi_const_md *weights)
{
    if (s->size > 1) {
        *src = md_map(m, batch, s->in, s->size, tag);
        *weights =
            md_init(m, 4, (dnnl_dims_t){s->out, s->in, s->size, s->size}, dnnl_format_tag_any);
    } else {
        *src = md_init(m, 2, (dnnl_dims_t){batch, s->in}, dnnl_ab);
        *weights = md_init(m, 2, (dnnl_dims_t){s->out, s->in}, dnnl_format_tag_any);
    }
}

bool dense_inner(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    making m = {0};
    pxi_const_md src, weights;
    dense_mds(&m, s, batch, v->src, &src, &weights);
    pxi_const_md bias = md_init(&m, 1, (dnnl_dims_t){s->out}, dnnl_a);
    pxi_const_md dst = md_init(&m, 2, (dnnl_dims_t){batch, s->out}, dnnl_ab);
    attr_init(&m, v->post, dst);
    pxi_impls impls;
    const dnnl_status_t status =
        list_inner(&impls, engine, dnnl_forward_inference, src, weights, bias, dst, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

bool dense_inner_back(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    making m = {0};
    pxi_const_md src, weights;
    dense_mds(&m, s, batch, v->src, &src, &weights);
    pxi_const_md dst = md_init(&m, 2, (dnnl_dims_t){batch, s->out}, dnnl_ab);
    attr_init(&m, NONE, NULL);
    pxi_impls impls;
    dnnl_status_t status =
        list_inner(&impls, engine, dnnl_forward_training, src, weights, NULL, dst, m.attr);
    status = hint_init(&m, status, &impls);
    if (status == dnnl_success)
        status = list_inner_back(&impls, engine, src, weights, dst, m.hint, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

static bool pool_init(kernel *k, const shape *s, int64_t batch, const variant *v, bool training,
                      bool backward)
{
    making m = {0};
    const pool_op op = {
        .alg = s->kernel == s->size ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max,
        .source = md_map(&m, batch, s->in, s->size, v->src),
        .destination = md_map(&m, batch, s->out, shape_out(s), v->dst),
        .strides = {s->stride, s->stride},
        .window = {s->kernel, s->kernel},
        .pad = {s->pad, s->pad},
    };
    attr_init(&m, NONE, NULL);
    pxi_impls impls;
    dnnl_status_t status = list_pool(
        &impls, engine, &op, training ? dnnl_forward_training : dnnl_forward_inference, m.attr);
    if (backward) {
        status = hint_init(&m, status, &impls);
        if (status == dnnl_success)
            status = list_pool_back(&impls, engine, &op, m.hint, m.attr);
    }
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

bool pool_inference(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return pool_init(k, s, batch, v, /* training= */ false, /* backward= */ false);
}

bool pool_training(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return pool_init(k, s, batch, v, /* training= */ true, /* backward= */ false);
}

bool pool_backward(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    return pool_init(k, s, batch, v, /* training= */ true, /* backward= */ true);
}

bool map_relu(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    making m = {0};
    pxi_const_md map = md_map(&m, batch, s->in, s->size, v->src);
    attr_init(&m, NONE, NULL);
    pxi_impls impls;
    const dnnl_status_t status = list_relu(&impls, engine, dnnl_forward_inference, map, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}

bool map_relu_back(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    making m = {0};
    pxi_const_md map = md_map(&m, batch, s->in, s->size, v->src);
    attr_init(&m, NONE, NULL);
    pxi_impls impls;
    dnnl_status_t status = list_relu(&impls, engine, dnnl_forward_training, map, m.attr);
    status = hint_init(&m, status, &impls);
    if (status == dnnl_success)
        status = list_relu_back(&impls, engine, map, m.hint, m.attr);
    return kernel_init(k, &m, status, &impls, v->pick == OTHER);
}
