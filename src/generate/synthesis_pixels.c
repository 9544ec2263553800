/* src/generate/synthesis_pixels.c - steps, bounds, rounding and distances of pixels */
#include "generate/synthesis_inside.h"

#include "base/memory.h"

#include <math.h>

/* What float arithmetic may have taken from a whole number of levels. */
static const double HAIR = 1e-6;

void pxi_pixel_rule_init(pxi_pixel_rule *rule, const px_dataset *set, const px_preprocess *pre,
                         const px_synthesis_options *options)
{
    const px_shape shape = px_dataset_shape(set);
    /* As px_preprocess_apply() has it: 1/255 is a division by 255. */
    const float whole = roundf(1.0f / pre->scale);
    const bool divide = fabsf(pre->scale * whole - 1.0f) < 1e-6f;
    *rule = (pxi_pixel_rule){
        .whole = divide ? (double)whole : 0.0,
        .scale = (double)pre->scale,
        .count = (size_t)px_shape_count(&shape),
        .channels = shape.rank == 3 ? (size_t)shape.dim[0] : 1,
        .bgr = pre->bgr && shape.rank == 3 && shape.dim[0] == 3,
        .channels_last = pre->channels_last,
    };
    rule->plane = rule->count / rule->channels;
    rule->step = pxi_pixel_levels(rule, options->step);
    rule->distance = pxi_pixel_levels(rule, options->distance);
    rule->low = pxi_pixel_levels(rule, options->low);
    rule->high = pxi_pixel_levels(rule, options->high);
    for (size_t c = 0; c < PX_PREPROCESS_CHANNELS; c++) {
        const size_t at = pre->channels == 1 ? 0 : PX_MIN(c, (size_t)pre->channels - 1);
        rule->stddev[c] = (double)pre->stddev[at];
    }
}

double pxi_pixel_units(const pxi_pixel_rule *rule, double levels)
{
    return rule->whole > 0.0 ? levels / rule->whole : levels * rule->scale;
}

double pxi_pixel_levels(const pxi_pixel_rule *rule, double units)
{
    return rule->whole > 0.0 ? units * rule->whole : units / rule->scale;
}

size_t pxi_pixels_outside(const pxi_pixel_rule *rule, const float *pixels)
{
    /* Data in float may have been cut to 0..1 in double, or by a scale in float. */
    const double slack = HAIR * (rule->high - rule->low);
    size_t i = 0;
    while (i < rule->count && (double)pixels[i] >= rule->low - slack &&
           (double)pixels[i] <= rule->high + slack)
        i++;
    return i;
}

static double cut(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* The float next to `value` that is no further from `original` than the distance allows. */
static float kept(const pxi_pixel_rule *rule, float original, double value)
{
    float pixel = (float)value;
    if (fabs((double)pixel - (double)original) > rule->distance || (double)pixel > rule->high ||
        (double)pixel < rule->low)
        pixel = nextafterf(pixel, original);
    return pixel;
}

void pxi_pixels_step(const pxi_pixel_rule *rule, const float *original, const float *gradient,
                     float *pixels)
{
    const double d = rule->distance;
    for (size_t c = 0; c < rule->channels; c++) {
        const size_t to = rule->bgr ? 2 - c : c; /* channel of the network's input */
        const double stddev = rule->stddev[PX_MIN(to, (size_t)PX_PREPROCESS_CHANNELS - 1)];
        const float *g = gradient + (rule->channels_last ? to : to * rule->plane);
        const size_t stride = rule->channels_last ? rule->channels : 1;
        for (size_t i = 0; i < rule->plane; i++) {
            const size_t at = c * rule->plane + i;
            const double from = (double)original[at];
            const double move = cut(rule->step * ((double)g[i * stride] / stddev), -d, d);
            if (move == 0.0)
                continue; /* also keeps what lies a hair outside the range */
            const double moved = cut((double)pixels[at] + move, from - d, from + d);
            pixels[at] = kept(rule, original[at], cut(moved, rule->low, rule->high));
        }
    }
}

void pxi_pixels_round(const float *original, const float *pixels, size_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < count; i++) {
        const double move = (double)pixels[i] - (double)original[i];
        const double whole = move > 0.0 ? floor(move + HAIR) : ceil(move - HAIR);
        bytes[i] = (uint8_t)((double)original[i] + whole);
    }
}

bool pxi_pixels_distance(const pxi_pixel_rule *rule, const float *original, const float *pixels,
                         px_synthesis_form *form)
{
    double sum = 0.0, squares = 0.0, most = 0.0;
    for (size_t i = 0; i < rule->count; i++) {
        const double move = fabs((double)pixels[i] - (double)original[i]);
        sum += move;
        squares += move * move;
        most = move > most ? move : most;
    }
    form->l1 = pxi_pixel_units(rule, sum);
    form->l2 = pxi_pixel_units(rule, sqrt(squares));
    form->linf = pxi_pixel_units(rule, most);
    return most > 0.0;
}
