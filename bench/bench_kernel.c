/* bench/bench_kernel.c - making and timing oneDNN primitives */
#include "bench_kernel.h"

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
    const dnnl_memory_desc_t *md =
        dnnl_primitive_desc_query_md(k->desc, dnnl_query_exec_arg_md, arg);
    if (!md || md->ndims == 0)
        return;
    dnnl_memory_t memory;
    must(dnnl_memory_create(&memory, md, engine, DNNL_MEMORY_ALLOCATE), "memory_create");
    void *bytes = NULL;
    must(dnnl_memory_get_data_handle(memory, &bytes), "memory_get_data_handle");
    const size_t size = dnnl_memory_desc_get_size(md);
    memset(bytes, 0, size);
    if (md->data_type == dnnl_f32)
        for (size_t i = 0; i < size / sizeof(float); i++) /* no denormals, no growth */
            ((float *)bytes)[i] = (float)((int)(i * 2654435761u % 201u) - 100) * 0.001f;
    k->args[k->arg_count++] = (dnnl_exec_arg_t){arg, memory};
}

/* Takes oneDNN's first choice, or the first `other` one (its list is not always in order of speed);
 * false if there is none. `hint` is the forward descriptor that backward wants. */
static bool kernel_init(kernel *k, const void *op, const_dnnl_primitive_attr_t attr,
                        const_dnnl_primitive_desc_t hint, bool other)
{
    static const int possible[] = {
        DNNL_ARG_SRC,      DNNL_ARG_WEIGHTS,  DNNL_ARG_BIAS,      DNNL_ARG_DST,
        DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE,
    };
    dnnl_primitive_desc_iterator_t it = NULL;
    *k = (kernel){0};
    if (dnnl_primitive_desc_iterator_create(&it, op, attr, engine, hint) != dnnl_success)
        return false;
    char first[64] = "";
    do {
        k->desc = dnnl_primitive_desc_iterator_fetch(it);
        must(dnnl_primitive_desc_query(k->desc, dnnl_query_impl_info_str, 0, &k->impl), "query");
        if (!first[0])
            snprintf(first, sizeof first, "%s", k->impl);
        if (!other || strcmp(first, k->impl) != 0)
            break;
        dnnl_primitive_desc_destroy(k->desc);
        k->desc = NULL;
    } while (dnnl_primitive_desc_iterator_next(it) == dnnl_success);
    dnnl_primitive_desc_iterator_destroy(it);
    if (!k->desc)
        return false;
    must(dnnl_primitive_create(&k->primitive, k->desc), "primitive_create");
    for (size_t i = 0; i < LEN(possible); i++)
        kernel_add_arg(k, possible[i]);
    const_dnnl_post_ops_t ops = NULL;
    must(dnnl_primitive_attr_get_post_ops(attr, &ops), "get_post_ops");
    for (int i = 0; i < dnnl_post_ops_len(ops); i++)
        if (dnnl_post_ops_get_kind(ops, i) == dnnl_binary)
            kernel_add_arg(k, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1);
    return true;
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

static dnnl_memory_desc_t md_init(int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t md;
    must(dnnl_memory_desc_init_by_tag(&md, rank, dims, dnnl_f32, tag), "memory_desc_init");
    return md;
}

static dnnl_memory_desc_t md_map(int64_t n, int64_t c, int64_t side, dnnl_format_tag_t tag)
{
    return md_init(4, (dnnl_dims_t){n, c, side, side}, tag);
}

static dnnl_primitive_attr_t attr_new(post kind, const dnnl_memory_desc_t *dst)
{
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    must(dnnl_primitive_attr_create(&attr), "attr_create");
    must(dnnl_post_ops_create(&ops), "post_ops_create");
    if (kind == ADD || kind == ADD_RELU)
        must(dnnl_post_ops_append_binary(ops, dnnl_binary_add, dst), "append_binary");
    if (kind == MUL)
        must(dnnl_post_ops_append_binary(ops, dnnl_binary_mul, dst), "append_binary");
    if (kind == SUM || kind == SUM_RELU)
        must(dnnl_post_ops_append_sum(ops, 1.0f), "append_sum");
    if (kind == RELU || kind == ADD_RELU || kind == SUM_RELU)
        must(dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f), "append_relu");
    if (kind == CLIP)
        must(dnnl_post_ops_append_eltwise(ops, 1.0f, dnnl_eltwise_clip, 0.0f, 6.0f), "append_clip");
    must(dnnl_primitive_attr_set_post_ops(attr, ops), "set_post_ops");
    dnnl_post_ops_destroy(ops);
    return attr;
}

static dnnl_memory_desc_t md_weights(int64_t in, int64_t out, int64_t kernel_size, int64_t groups)
{
    if (groups > 1)
        return md_init(5,
                       (dnnl_dims_t){groups, out / groups, in / groups, kernel_size, kernel_size},
                       dnnl_format_tag_any);
    return md_init(4, (dnnl_dims_t){out, in, kernel_size, kernel_size}, dnnl_format_tag_any);
}

static dnnl_alg_kind_t conv_alg(const variant *v)
{
    return v->pick == WINOGRAD ? dnnl_convolution_winograd : dnnl_convolution_direct;
}

static bool conv_init(kernel *k, const shape *s, int64_t batch, const variant *v, bool bias)
{
    const dnnl_memory_desc_t src = md_map(batch, s->in, s->size, v->src);
    const dnnl_memory_desc_t dst = md_map(batch, s->out, shape_out(s), v->dst);
    const dnnl_memory_desc_t weights = md_weights(s->in, s->out, s->kernel, s->groups);
    const dnnl_memory_desc_t bias_md = md_init(1, (dnnl_dims_t){s->out}, dnnl_a);
    const dnnl_dims_t strides = {s->stride, s->stride}, pad = {s->pad, s->pad};
    dnnl_convolution_desc_t op;
    must(dnnl_convolution_forward_desc_init(&op, dnnl_forward_inference, conv_alg(v), &src,
                                            &weights, bias ? &bias_md : NULL, &dst, strides, pad,
                                            pad),
         "convolution_forward_desc_init");
    dnnl_primitive_attr_t attr = attr_new(v->post, &dst);
    const bool made = kernel_init(k, &op, attr, NULL, v->pick == OTHER);
    dnnl_primitive_attr_destroy(attr);
    return made;
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
    const dnnl_memory_desc_t src = md_map(batch, s->in, s->size, v->src);
    const dnnl_memory_desc_t dst = md_map(batch, s->out, shape_out(s), v->dst);
    const dnnl_memory_desc_t weights = md_weights(s->in, s->out, s->kernel, s->groups);
    const dnnl_dims_t strides = {s->stride, s->stride}, pad = {s->pad, s->pad};
    dnnl_convolution_desc_t forward, backward;
    must(dnnl_convolution_forward_desc_init(&forward, dnnl_forward_training, conv_alg(v), &src,
                                            &weights, NULL, &dst, strides, pad, pad),
         "convolution_forward_desc_init");
    must(dnnl_convolution_backward_data_desc_init(&backward, conv_alg(v), &src, &weights, &dst,
                                                  strides, pad, pad),
         "convolution_backward_data_desc_init");
    dnnl_primitive_desc_t hint = NULL;
    dnnl_primitive_attr_t attr = attr_new(NONE, NULL);
    const bool made =
        dnnl_primitive_desc_create(&hint, &forward, attr, engine, NULL) == dnnl_success &&
        kernel_init(k, &backward, attr, hint, v->pick == OTHER);
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_attr_destroy(attr);
    return made;
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
    const dnnl_memory_desc_t src = md_init(2, (dnnl_dims_t){rows, in}, dnnl_ab);
    const dnnl_memory_desc_t weights = md_init(2, (dnnl_dims_t){in, out}, v->src);
    const dnnl_memory_desc_t bias = md_init(2, (dnnl_dims_t){1, out}, dnnl_ab);
    const dnnl_memory_desc_t dst = md_init(2, (dnnl_dims_t){rows, out}, dnnl_ab);
    dnnl_matmul_desc_t op;
    must(dnnl_matmul_desc_init(&op, &src, &weights, &bias, &dst), "matmul_desc_init");
    dnnl_primitive_attr_t attr = attr_new(v->post, &dst);
    const bool made = kernel_init(k, &op, attr, NULL, v->pick == OTHER);
    dnnl_primitive_attr_destroy(attr);
    return made;
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

static void dense_mds(const shape *s, int64_t batch, dnnl_format_tag_t tag, dnnl_memory_desc_t *src,
                      dnnl_memory_desc_t *weights)
{
    if (s->size > 1) {
        *src = md_map(batch, s->in, s->size, tag);
        *weights = md_init(4, (dnnl_dims_t){s->out, s->in, s->size, s->size}, dnnl_format_tag_any);
    } else {
        *src = md_init(2, (dnnl_dims_t){batch, s->in}, dnnl_ab);
        *weights = md_init(2, (dnnl_dims_t){s->out, s->in}, dnnl_format_tag_any);
    }
}

bool dense_inner(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    dnnl_memory_desc_t src, weights;
    dense_mds(s, batch, v->src, &src, &weights);
    const dnnl_memory_desc_t bias = md_init(1, (dnnl_dims_t){s->out}, dnnl_a);
    const dnnl_memory_desc_t dst = md_init(2, (dnnl_dims_t){batch, s->out}, dnnl_ab);
    dnnl_inner_product_desc_t op;
    must(dnnl_inner_product_forward_desc_init(&op, dnnl_forward_inference, &src, &weights, &bias,
                                              &dst),
         "inner_product_forward_desc_init");
    dnnl_primitive_attr_t attr = attr_new(v->post, &dst);
    const bool made = kernel_init(k, &op, attr, NULL, v->pick == OTHER);
    dnnl_primitive_attr_destroy(attr);
    return made;
}

bool dense_inner_back(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    dnnl_memory_desc_t src, weights;
    dense_mds(s, batch, v->src, &src, &weights);
    const dnnl_memory_desc_t dst = md_init(2, (dnnl_dims_t){batch, s->out}, dnnl_ab);
    dnnl_inner_product_desc_t forward, backward;
    must(dnnl_inner_product_forward_desc_init(&forward, dnnl_forward_training, &src, &weights, NULL,
                                              &dst),
         "inner_product_forward_desc_init");
    must(dnnl_inner_product_backward_data_desc_init(&backward, &src, &weights, &dst),
         "inner_product_backward_data_desc_init");
    dnnl_primitive_desc_t hint = NULL;
    dnnl_primitive_attr_t attr = attr_new(NONE, NULL);
    const bool made =
        dnnl_primitive_desc_create(&hint, &forward, attr, engine, NULL) == dnnl_success &&
        kernel_init(k, &backward, attr, hint, v->pick == OTHER);
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_attr_destroy(attr);
    return made;
}

static bool pool_init(kernel *k, const shape *s, int64_t batch, const variant *v, bool training,
                      bool backward)
{
    const dnnl_alg_kind_t alg =
        s->kernel == s->size ? dnnl_pooling_avg_exclude_padding : dnnl_pooling_max;
    const dnnl_memory_desc_t src = md_map(batch, s->in, s->size, v->src);
    const dnnl_memory_desc_t dst = md_map(batch, s->out, shape_out(s), v->dst);
    const dnnl_dims_t strides = {s->stride, s->stride}, window = {s->kernel, s->kernel},
                      pad = {s->pad, s->pad};
    dnnl_pooling_desc_t op, back;
    must(dnnl_pooling_forward_desc_init(&op,
                                        training ? dnnl_forward_training : dnnl_forward_inference,
                                        alg, &src, &dst, strides, window, pad, pad),
         "pooling_forward_desc_init");
    dnnl_primitive_attr_t attr = attr_new(NONE, NULL);
    dnnl_primitive_desc_t hint = NULL;
    bool made = false;
    if (!backward) {
        made = kernel_init(k, &op, attr, NULL, v->pick == OTHER);
    } else {
        must(dnnl_pooling_backward_desc_init(&back, alg, &src, &dst, strides, window, pad, pad),
             "pooling_backward_desc_init");
        made = dnnl_primitive_desc_create(&hint, &op, attr, engine, NULL) == dnnl_success &&
               kernel_init(k, &back, attr, hint, v->pick == OTHER);
    }
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_attr_destroy(attr);
    return made;
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
    const dnnl_memory_desc_t md = md_map(batch, s->in, s->size, v->src);
    dnnl_eltwise_desc_t op;
    must(dnnl_eltwise_forward_desc_init(&op, dnnl_forward_inference, dnnl_eltwise_relu, &md, 0.0f,
                                        0.0f),
         "eltwise_forward_desc_init");
    dnnl_primitive_attr_t attr = attr_new(NONE, NULL);
    const bool made = kernel_init(k, &op, attr, NULL, v->pick == OTHER);
    dnnl_primitive_attr_destroy(attr);
    return made;
}

bool map_relu_back(kernel *k, const shape *s, int64_t batch, const variant *v)
{
    const dnnl_memory_desc_t md = md_map(batch, s->in, s->size, v->src);
    dnnl_eltwise_desc_t forward, backward;
    must(dnnl_eltwise_forward_desc_init(&forward, dnnl_forward_training, dnnl_eltwise_relu, &md,
                                        0.0f, 0.0f),
         "eltwise_forward_desc_init");
    must(dnnl_eltwise_backward_desc_init(&backward, dnnl_eltwise_relu, &md, &md, 0.0f, 0.0f),
         "eltwise_backward_desc_init");
    dnnl_primitive_desc_t hint = NULL;
    dnnl_primitive_attr_t attr = attr_new(NONE, NULL);
    const bool made =
        dnnl_primitive_desc_create(&hint, &forward, attr, engine, NULL) == dnnl_success &&
        kernel_init(k, &backward, attr, hint, v->pick == OTHER);
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_attr_destroy(attr);
    return made;
}
