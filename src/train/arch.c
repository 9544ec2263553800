/* src/train/arch.c - the zoo: which networks there are, and making one by name */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/arch.h>

#include "base/memory.h"
#include "train/arch_net.h"

#include <internal/system.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In the order in which they are listed. */
static const pxi_arch *const arch_lists[] = {
    pxi_archs_lenet,  pxi_archs_dense, pxi_archs_sadl,      pxi_archs_resnet_small,
    pxi_archs_resnet, pxi_archs_vgg,   pxi_archs_mobilenet, pxi_archs_speaker,
};

enum {
    ARCH_MOST_CHANNELS = 4096,
    ARCH_MOST_EXTENT = 16384,
    ARCH_MOST_CLASSES = 1 << 20,
    ARCH_SEARCH_EXTENT = 1024, /* how far the smallest image is looked for */
};

/* An ONNX file holds 2 GiB; what is not weights fits into the rest. */
#define ARCH_MOST_PARAMETERS ((int64_t)500 * 1000 * 1000)

static const px_entry *arch_entry(size_t i)
{
    for (size_t l = 0; l < PX_LEN(arch_lists); l++)
        for (const pxi_arch *arch = arch_lists[l]; arch->make; arch++)
            if (i-- == 0)
                return &arch->public.entry;
    return NULL;
}

const px_registry pxi_archs = {
    .kind = "architecture", .plural = "archs", .many = true, .own = arch_entry};

px_arch_options px_arch_options_default(void)
{
    return (px_arch_options){.dropout = -1.0};
}

/* --- names ----------------------------------------------------------------------------------- */

/* Reads a number without sign or leading zeros that fits an int; returns what follows or NULL. */
static const char *read_number(const char *text, int *number)
{
    if (*text < '1' || *text > '9')
        return NULL;
    int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (*text - '0');
        if (value > INT32_MAX)
            return NULL;
    }
    *number = (int)value;
    return text;
}

/* Whether `name` is of that family; its numbers. */
static bool family_matches(const pxi_arch *family, const char *name, int args[2])
{
    const size_t length = strlen(family->prefix);
    if (strncmp(name, family->prefix, length) != 0)
        return false;
    const char *rest = name + length;
    for (int i = 0; i < family->numbers && rest; i++) {
        if (i > 0)
            rest = *rest == 'x' ? rest + 1 : NULL;
        rest = rest ? read_number(rest, &args[i]) : NULL;
    }
    return rest && strcmp(rest, family->suffix ? family->suffix : "") == 0;
}

static px_status arch_find(const char *name, const pxi_arch **out, int args[2], px_error *err)
{
    const pxi_arch *arch = (const void *)px_registry_find(&pxi_archs, name);
    if (arch) {
        *out = arch;
        memcpy(args, arch->args, sizeof arch->args);
        return PX_OK;
    }
    for (size_t i = 0; (arch = (const void *)px_registry_at(&pxi_archs, i)); i++) {
        args[0] = args[1] = 0;
        if (!arch->prefix || !family_matches(arch, name, args))
            continue;
        for (int k = 0; k < arch->numbers; k++)
            if (args[k] < arch->least[k] || args[k] > arch->most[k])
                return px_fail(err, PX_E_USAGE,
                               "'%s' is not of the family '%s': %d is not between %d and %d", name,
                               arch->public.family, args[k], arch->least[k], arch->most[k]);
        if (arch->step && args[0] % arch->step != arch->rest)
            return px_fail(err, PX_E_USAGE,
                           "'%s' is not of the family '%s': %d is not %d times a number plus %d",
                           name, arch->public.family, args[0], arch->step, arch->rest);
        *out = arch;
        return PX_OK;
    }
    return px_registry_unknown(&pxi_archs, name, strlen(name), err);
}

/* --- options --------------------------------------------------------------------------------- */

static px_status take_extent(const char *what, int64_t given, int own, int64_t most, int64_t *out,
                             px_error *err)
{
    if (given < 0 || given > most)
        return px_fail(err, PX_E_USAGE,
                       "%" PRId64 " %s are not possible; from 1 to %" PRId64 " are", given, what,
                       most);
    *out = given ? given : own;
    return PX_OK;
}

static px_status take_options(const pxi_arch *arch, const px_arch_options *given,
                              px_arch_options *out, px_error *err)
{
    *out = given ? *given : px_arch_options_default();
    PX_TRY(take_extent("channels", out->channels, arch->public.channels, ARCH_MOST_CHANNELS,
                       &out->channels, err));
    PX_TRY(take_extent("rows of pixels", out->height, arch->public.height, ARCH_MOST_EXTENT,
                       &out->height, err));
    PX_TRY(take_extent("columns of pixels", out->width, arch->public.width, ARCH_MOST_EXTENT,
                       &out->width, err));
    PX_TRY(take_extent("classes", out->classes, arch->public.classes, ARCH_MOST_CLASSES,
                       &out->classes, err));
    if (!(out->dropout < 1.0)) /* NaN too */
        return px_fail(err, PX_E_USAGE, "a dropout rate of %g would drop everything; below 1",
                       out->dropout);
    return PX_OK;
}

/* --- making ---------------------------------------------------------------------------------- */

/* Runs the recipe; without a builder it only counts. */
static pxi_net arch_run(const pxi_arch *arch, const int args[2], const px_arch_options *options,
                        px_builder *builder)
{
    pxi_net net = {.builder = builder,
                   .args = {args[0], args[1]},
                   .at = {.value = -1,
                          .channels = options->channels,
                          .height = options->height,
                          .width = options->width},
                   .classes = options->classes,
                   .seed = options->seed,
                   .dropout = options->dropout,
                   .zero = -1,
                   .ceiling = -1};
    if (builder) {
        const px_shape shape = {.rank = 4,
                                .dim = {-1, options->channels, options->height, options->width}};
        net.at.value = px_builder_input(builder, "input", PX_FLOAT32, &shape);
    }
    arch->make(&net);
    pxi_net_finish(&net);
    return net;
}

static px_status arch_too_small(const pxi_arch *arch, const char *name, const int args[2],
                                const px_arch_options *options, px_error *err)
{
    px_arch_options square = *options;
    for (int64_t extent = 1; extent <= ARCH_SEARCH_EXTENT; extent++) {
        square.height = square.width = extent;
        if (!arch_run(arch, args, &square, NULL).too_small)
            return px_fail(err, PX_E_INPUT,
                           "images of %" PRId64 "x%" PRId64
                           " are too small for '%s'; it takes %" PRId64 "x%" PRId64 " and larger",
                           options->height, options->width, name, extent, extent);
    }
    return px_fail(err, PX_E_INPUT, "images of %" PRId64 "x%" PRId64 " are too small for '%s'",
                   options->height, options->width, name);
}

/* Finds the name, completes the options and counts. */
static px_status arch_prepare(const char *name, const px_arch_options *given, const pxi_arch **arch,
                              int args[2], px_arch_options *options, pxi_net *counted,
                              px_error *err)
{
    PX_TRY(arch_find(name, arch, args, err));
    PX_TRY(take_options(*arch, given, options, err));
    *counted = arch_run(*arch, args, options, NULL);
    if (counted->too_small)
        return arch_too_small(*arch, name, args, options, err);
    if (counted->parameters + counted->statistics > ARCH_MOST_PARAMETERS)
        return px_fail(err, PX_E_UNSUPPORTED,
                       "'%s' on images of %" PRId64 "x%" PRId64 " would have %" PRId64
                       " parameters, more than an ONNX file holds; take smaller images",
                       name, options->height, options->width, counted->parameters);
    return PX_OK;
}

px_status px_arch_parameters(const char *name, const px_arch_options *options, int64_t *parameters,
                             int64_t *statistics, px_error *err)
{
    const pxi_arch *arch = NULL;
    px_arch_options full;
    int args[2];
    pxi_net net;
    PX_TRY(arch_prepare(name, options, &arch, args, &full, &net, err));
    *parameters = net.parameters;
    if (statistics)
        *statistics = net.statistics;
    return PX_OK;
}

static void arch_properties(const char *name, const px_arch_options *options, const pxi_net *net,
                            px_builder *builder)
{
    char size[48];
    px_builder_property(builder, "plexor.arch", name);
    px_builder_property(builder, "plexor.output", "probs");
    if (net->is_audio)
        return;
    snprintf(size, sizeof size, "%" PRId64 "x%" PRId64, options->height, options->width);
    px_builder_property(builder, "plexor.size", size);
    if (options->channels == 1 || options->channels == 3)
        px_builder_property(builder, "plexor.channels", options->channels == 1 ? "gray" : "rgb");
}

px_status px_arch_build(const char *name, const px_arch_options *options, px_model **out,
                        px_error *err)
{
    const pxi_arch *arch = NULL;
    px_arch_options full;
    int args[2];
    pxi_net net;
    px_builder *builder = NULL;
    PX_TRY(arch_prepare(name, options, &arch, args, &full, &net, err));
    PX_TRY(px_builder_new(name, &builder, err));
    arch_run(arch, args, &full, builder);
    if (px_cancelled()) { /* weights may be missing */
        px_builder_free(builder);
        return px_fail(err, PX_E_CANCELLED, "cancelled");
    }
    arch_properties(name, &full, &net, builder);
    return px_builder_finish(builder, out, err);
}
