/* src/cli/onnx_compare.c - is this the tensor that was expected? (numpy's assert_allclose) */
#include "cli/onnx_compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_half(px_dtype dtype)
{
    return dtype == PX_FLOAT16 || dtype == PX_BFLOAT16;
}

static double real_at(const px_tensor *tensor, int64_t i)
{
    switch (tensor->dtype) {
    case PX_FLOAT64:
        return ((const double *)tensor->data)[i];
    case PX_FLOAT16:
        return (double)px_half_to_float(((const uint16_t *)tensor->data)[i]);
    case PX_BFLOAT16:
        return (double)px_bfloat_to_float(((const uint16_t *)tensor->data)[i]);
    default:
        return (double)((const float *)tensor->data)[i];
    }
}

static bool near(double got, double expected, double rtol, double atol)
{
    if (isnan(got) || isnan(expected))
        return isnan(got) && isnan(expected);
    if (isinf(got) || isinf(expected))
        return got == expected;
    return fabs(got - expected) <= atol + rtol * fabs(expected);
}

static px_status compare_reals(const px_tensor *got, const px_tensor *expected, double rtol,
                               double atol, px_error *err)
{
    const int64_t count = px_shape_count(&expected->shape);
    int64_t wrong = 0, first = -1;
    for (int64_t i = 0; i < count; i++) {
        double value = real_at(got, i);
        if (expected->dtype == PX_FLOAT16) /* plexor computes halves in float */
            value = (double)px_half_to_float(px_float_to_half((float)value));
        else if (expected->dtype == PX_BFLOAT16)
            value = (double)px_bfloat_to_float(px_float_to_bfloat((float)value));
        if (near(value, real_at(expected, i), rtol, atol))
            continue;
        wrong++;
        first = first < 0 ? i : first;
    }
    if (wrong)
        return px_fail(err, PX_E_MISMATCH,
                       "%" PRId64 " of %" PRId64 " elements differ, first %" PRId64
                       ": %.9g instead of %.9g",
                       wrong, count, first, real_at(got, first), real_at(expected, first));
    return PX_OK;
}

px_status onnx_compare(const px_tensor *got, const px_tensor *expected, double rtol, double atol,
                       px_error *err)
{
    char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
    if (!px_shape_equal(&got->shape, &expected->shape))
        return px_fail(err, PX_E_MISMATCH, "the shape is %s instead of %s",
                       px_shape_text(&got->shape, a), px_shape_text(&expected->shape, b));
    if (got->dtype != expected->dtype && !(got->dtype == PX_FLOAT32 && is_half(expected->dtype)))
        return px_fail(err, PX_E_MISMATCH, "the type is %s instead of %s",
                       px_dtype_name(got->dtype), px_dtype_name(expected->dtype));
    if (expected->dtype == PX_FLOAT32 || expected->dtype == PX_FLOAT64 || is_half(expected->dtype))
        return compare_reals(got, expected, rtol, atol, err);
    const size_t size = px_dtype_size(expected->dtype);
    for (int64_t i = 0; i < px_shape_count(&expected->shape); i++)
        if (memcmp((const char *)got->data + (size_t)i * size,
                   (const char *)expected->data + (size_t)i * size, size) != 0)
            return px_fail(err, PX_E_MISMATCH, "element %" PRId64 " of %s differs", i,
                           px_dtype_name(expected->dtype));
    return PX_OK;
}
