/* src/train/feeder.c - training inputs: their order, mixes and augmentation
 *
 * Items are numbered through: the base set's come first, then the added set's. A *lane* is a row of
 * items that is shuffled and gone through again and again; an epoch takes `slots` of them for every
 * batch. There is one lane, except with PX_MIX_FIXED, where the added items have one of their own.
 * Random streams (LGR 0.4): the order of a lane's round r is (seed, EPOCH or MIX, 0, r); an item's
 * augmentation (seed, AUGMENT, item, r); its patch (seed, POLLUTE, item, 1); its wrong label (seed,
 * NOISE, item, 1); which items are polluted or mislabelled, item 0 and iteration 0 of those two.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <internal/feeder.h>
#include <internal/rng.h>

#include "base/memory.h"
#include "train/augment.h"
#include "train/pollute.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BASE, ADDED, SIDES };
enum { POLLUTED = 1, MISLABELLED = 2 }; /* marks */
enum { EPOCH_MOST = 1 << 30 };

typedef struct feeder_side {
    const px_dataset *set; /* NULL: takes no part */
    px_preprocess pre;
    int64_t *items; /* NULL: all of the set */
    int64_t count;
    bool soft; /* trained towards the set's targets */
} feeder_side;

typedef struct feeder_lane {
    int64_t first, count; /* items */
    int64_t slots;        /* of every batch */
    uint32_t component;   /* that its orders are drawn from */
    int64_t *order;       /* of the items that come in the epoch, slot by slot */
    int64_t length;       /* of order */
} feeder_lane;

struct px_feeder {
    feeder_side side[SIDES];
    px_feeder_options options; /* without its pointers */
    px_shape shape;
    pxi_augment augment;
    char *augment_text;
    pxi_patch patch;
    uint8_t *marks; /* per base item; NULL: none has any */
    px_feeder_counts counts;

    feeder_lane lane[2];
    int lanes;
    bool cycles; /* lanes run on from epoch to epoch and all batches are full */
    int64_t steps, epoch;
    int64_t *scratch; /* one round of the longest lane that cycles */
};

/* --- names ----------------------------------------------------------------------------------- */

static const char *const mix_names[] = {
    [PX_MIX_APPEND] = "append", [PX_MIX_FIXED] = "fixed", [PX_MIX_ONLY] = "only"};

const char *px_mix_name(px_mix mix)
{
    return mix_names[mix];
}

px_status px_mix_parse(const char *text, px_mix *mix, double *share, px_error *err)
{
    static const double half = 0.5;
    const size_t length = strcspn(text, ":");
    for (size_t i = 0; i < PX_LEN(mix_names); i++) {
        if (strlen(mix_names[i]) != length || strncmp(text, mix_names[i], length) != 0)
            continue;
        double value = half;
        if (text[length] == ':') {
            char *end;
            value = strtod(text + length + 1, &end);
            if (i != PX_MIX_FIXED || end == text + length + 1 || *end || !(value > 0.0) ||
                value > 1.0)
                break;
        }
        *mix = (px_mix)i;
        *share = value;
        return PX_OK;
    }
    return px_fail(
        err, PX_E_USAGE,
        "mode '%.100s': expected append, only, fixed or fixed:SHARE with a share above 0 "
        "and up to 1",
        text);
}

px_feeder_options px_feeder_options_default(void)
{
    return (px_feeder_options){.share = 0.5, .batch = 128, .patch_min = 1, .patch_max = 6};
}

/* --- making ---------------------------------------------------------------------------------- */

static px_status side_init(feeder_side *side, const px_feeder_set *from,
                           const px_feeder_options *options, px_error *err)
{
    const int64_t all = px_dataset_count(from->set);
    side->set = from->set;
    side->pre = *from->pre;
    side->count = from->items ? from->count : all;
    if (side->count < 1)
        return px_fail(err, PX_E_INPUT, "there is no input to train on");
    PX_TRY(px_dataset_check_labels(from->set, options->classes, err));
    side->soft = !options->hard_labels && px_dataset_target_count(from->set) > 0;
    if (side->soft && px_dataset_target_count(from->set) != options->classes)
        return px_fail(err, PX_E_MISMATCH, "the data have targets for %d classes, the network %d",
                       px_dataset_target_count(from->set), options->classes);
    if (!from->items)
        return PX_OK;
    PX_TRY(PX_NEW(side->items, side->count, err));
    for (int64_t i = 0; i < side->count; i++) {
        if (from->items[i] < 0 || from->items[i] >= all)
            return px_fail(err, PX_E_USAGE, "item %lld is not in a data set of %lld",
                           (long long)from->items[i], (long long)all);
        side->items[i] = from->items[i];
    }
    return PX_OK;
}

static px_status feeder_sides(px_feeder *feeder, const px_feeder_options *options, px_error *err)
{
    const bool base = options->mix != PX_MIX_ONLY, added = options->added.set != NULL;
    if (base && !options->base.set)
        return px_fail(err, PX_E_USAGE, "mode '%s' needs a base set", px_mix_name(options->mix));
    if (!added && options->mix != PX_MIX_APPEND)
        return px_fail(err, PX_E_USAGE, "mode '%s' needs an added set", px_mix_name(options->mix));
    if (base)
        PX_TRY(side_init(&feeder->side[BASE], &options->base, options, err));
    if (added)
        PX_TRY(side_init(&feeder->side[ADDED], &options->added, options, err));
    feeder->counts.base = feeder->side[BASE].count;
    feeder->counts.added = feeder->side[ADDED].count;
    if (feeder->counts.base > UINT32_MAX - feeder->counts.added ||
        feeder->counts.added > UINT32_MAX)
        return px_fail(err, PX_E_UNSUPPORTED, "too many inputs to shuffle");

    feeder->shape = px_dataset_shape(feeder->side[base ? BASE : ADDED].set);
    if (base && added) {
        const px_shape other = px_dataset_shape(options->added.set);
        char a[PX_SHAPE_TEXT], b[PX_SHAPE_TEXT];
        if (!px_shape_equal(&feeder->shape, &other))
            return px_fail(err, PX_E_MISMATCH, "the added samples are %s, those of the base set %s",
                           px_shape_text(&other, a), px_shape_text(&feeder->shape, b));
    }
    return PX_OK;
}

static px_status feeder_faults(px_feeder *feeder, const px_feeder_options *options, px_error *err)
{
    const feeder_side *base = &feeder->side[BASE];
    if (options->pollute == 0.0 && options->label_noise == 0.0)
        return PX_OK;
    if (!base->set)
        return px_fail(err, PX_E_USAGE, "pollution and label noise need a base set");
    PX_TRY(PX_NEW(feeder->marks, base->count, err));
    if (options->pollute != 0.0) {
        const bool whole = px_dataset_is_8bit(base->set);
        feeder->patch = (pxi_patch){.least = options->patch_min,
                                    .most = options->patch_max,
                                    .white = options->patch_white,
                                    .whole = whole,
                                    .highest = whole ? 255.0f : 1.0f / base->pre.scale};
        PX_TRY(pxi_patch_check(&feeder->patch, &feeder->shape, err));
        if (options->polluted_class < 0 || options->polluted_class >= options->classes)
            return px_fail(err, PX_E_USAGE, "polluted class %lld: the network's classes are 0..%d",
                           (long long)options->polluted_class, options->classes - 1);
        PX_TRY(pxi_pollute_choose(options->seed, PX_RNG_POLLUTE, "pollution", options->pollute,
                                  POLLUTED, feeder->marks, base->count, &feeder->counts.polluted,
                                  err));
    }
    if (options->label_noise != 0.0 && options->classes < 2)
        return px_fail(err, PX_E_USAGE, "label noise needs at least two classes");
    return pxi_pollute_choose(options->seed, PX_RNG_NOISE, "label noise", options->label_noise,
                              MISLABELLED, feeder->marks, base->count, &feeder->counts.mislabelled,
                              err);
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static px_status feeder_lanes(px_feeder *feeder, px_error *err)
{
    const int64_t base = feeder->counts.base, added = feeder->counts.added;
    const int64_t batch = feeder->options.batch;
    feeder_lane *lane = feeder->lane;
    feeder->lanes = 1;
    switch (feeder->options.mix) {
    case PX_MIX_APPEND:
        lane[0] = (feeder_lane){0, base + added, batch, PX_RNG_EPOCH, NULL, 0};
        break;
    case PX_MIX_ONLY:
        lane[0] = (feeder_lane){0, added, batch, PX_RNG_MIX, NULL, 0};
        break;
    case PX_MIX_FIXED: {
        const double share = feeder->options.share;
        const int64_t slots = share > 0.0 && share <= 1.0 ? llround(share * (double)batch) : 0;
        if (slots < 1)
            return px_fail(err, PX_E_USAGE,
                           "a share of %g is less than one added input in a batch of %lld", share,
                           (long long)batch);
        feeder->counts.added_per_batch = slots;
        feeder->cycles = true;
        lane[0] = (feeder_lane){base, added, slots, PX_RNG_MIX, NULL, 0};
        if (slots < batch)
            lane[feeder->lanes++] = (feeder_lane){0, base, batch - slots, PX_RNG_EPOCH, NULL, 0};
        break;
    }
    }
    const feeder_lane *paces = &lane[feeder->lanes - 1];
    feeder->steps = divide_up(paces->count, paces->slots);
    if (feeder->options.drop_short && !feeder->cycles && paces->count > batch)
        feeder->steps = paces->count / batch;

    int64_t longest = 0;
    for (int i = 0; i < feeder->lanes; i++) {
        lane[i].length = lane[i].count;
        if (feeder->cycles && __builtin_mul_overflow(feeder->steps, lane[i].slots, &lane[i].length))
            return px_fail(err, PX_E_UNSUPPORTED, "the batch of %lld is too large",
                           (long long)batch);
        PX_TRY(PX_NEW(lane[i].order, (size_t)lane[i].length, err));
        longest = PX_MAX(longest, lane[i].count);
    }
    if (feeder->cycles && !(feeder->scratch = pxi_calloc((size_t)longest, sizeof(int64_t))))
        return pxi_no_memory_for(err, "the order of %lld inputs", (long long)longest);
    return PX_OK;
}

px_status px_feeder_new(const px_feeder_options *options, px_feeder **out, px_error *err)
{
    px_status status;
    if (options->batch < 1)
        return px_fail(err, PX_E_USAGE, "a batch of %lld inputs: expected at least 1",
                       (long long)options->batch);
    px_feeder *feeder = NULL;
    PX_TRY(PX_NEW(feeder, 1, err));
    feeder->options = *options;
    feeder->options.base = feeder->options.added = (px_feeder_set){0};
    feeder->options.augment = NULL;
    status = PX_DUP(feeder->augment_text, options->augment ? options->augment : "", err);
    PX_THEN(status, feeder_sides(feeder, options, err));
    PX_THEN(status, pxi_augment_parse(options->augment, &feeder->shape, &feeder->augment, err));
    PX_THEN(status, feeder_faults(feeder, options, err));
    PX_THEN(status, feeder_lanes(feeder, err));
    PX_THEN(status, px_feeder_begin(feeder, 0, err));
    if (status == PX_OK) {
        *out = feeder;
        feeder = NULL;
    }
    px_feeder_free(feeder);
    return status;
}

void px_feeder_free(px_feeder *feeder)
{
    if (!feeder)
        return;
    for (int i = 0; i < SIDES; i++)
        free(feeder->side[i].items);
    for (int i = 0; i < feeder->lanes; i++)
        free(feeder->lane[i].order);
    free(feeder->scratch);
    free(feeder->marks);
    free(feeder->augment_text);
    free(feeder);
}

/* --- the order of an epoch ------------------------------------------------------------------- */

static void lane_round(const px_feeder *feeder, const feeder_lane *lane, int64_t round,
                       int64_t *order)
{
    /* rounds beyond 2^32 repeat the first ones */
    px_random random = px_rng(feeder->options.seed, lane->component, 0, (uint32_t)round);
    if (!feeder->options.in_order) {
        px_rng_permutation(&random, order, (uint32_t)lane->count);
        return;
    }
    for (int64_t i = 0; i < lane->count; i++)
        order[i] = i;
}

px_status px_feeder_begin(px_feeder *feeder, int64_t epoch, px_error *err)
{
    if (epoch < 0 || epoch > EPOCH_MOST)
        return px_fail(err, PX_E_USAGE, "epoch %lld is out of range", (long long)epoch);
    for (int i = 0; i < feeder->lanes; i++) {
        feeder_lane *lane = &feeder->lane[i];
        if (!feeder->cycles) {
            lane_round(feeder, lane, epoch, lane->order);
            continue;
        }
        int64_t begin, end;
        if (__builtin_mul_overflow(epoch, lane->length, &begin) ||
            __builtin_add_overflow(begin, lane->length, &end))
            return px_fail(err, PX_E_USAGE, "epoch %lld is out of range", (long long)epoch);
        for (int64_t at = begin; at < end;) { /* the parts of rounds that fall into the epoch */
            const int64_t offset = at % lane->count;
            const int64_t take = PX_MIN(lane->count - offset, end - at);
            lane_round(feeder, lane, at / lane->count, feeder->scratch);
            memcpy(lane->order + (at - begin), feeder->scratch + offset,
                   (size_t)take * sizeof *lane->order);
            at += take;
        }
    }
    feeder->epoch = epoch;
    return PX_OK;
}

int64_t px_feeder_steps(const px_feeder *feeder)
{
    return feeder->steps;
}

int64_t px_feeder_batch(const px_feeder *feeder)
{
    return feeder->options.batch;
}

size_t px_feeder_floats(const px_feeder *feeder)
{
    return (size_t)px_shape_count(&feeder->shape);
}

px_shape px_feeder_shape(const px_feeder *feeder)
{
    return feeder->shape;
}

px_feeder_counts px_feeder_count(const px_feeder *feeder)
{
    return feeder->counts;
}

int64_t px_feeder_samples(const px_feeder *feeder, int64_t step)
{
    assert(step >= 0 && step < feeder->steps);
    const int64_t batch = feeder->options.batch;
    return feeder->cycles ? batch : PX_MIN(batch, feeder->lane[0].count - step * batch);
}

/* --- one input ------------------------------------------------------------------------------- */

px_feeder_item px_feeder_item_at(const px_feeder *feeder, int64_t step, int64_t position)
{
    assert(position >= 0 && position < px_feeder_samples(feeder, step));
    const feeder_lane *lane = &feeder->lane[0];
    if (position >= lane->slots) {
        position -= lane->slots;
        lane++;
    }
    const int64_t slot = step * lane->slots + position;
    const int64_t item = lane->first + lane->order[slot];
    const bool added = item >= feeder->counts.base;
    const feeder_side *side = &feeder->side[added ? ADDED : BASE];
    const int64_t place = added ? item - feeder->counts.base : item;
    const uint8_t mark = feeder->marks && !added ? feeder->marks[place] : 0;
    px_feeder_item out = {
        .set = side->set,
        .index = side->items ? side->items[place] : place,
        .number = (uint32_t)item,
        .round =
            feeder->cycles ? (feeder->epoch * lane->length + slot) / lane->count : feeder->epoch,
        .added = added,
        .polluted = mark == POLLUTED,
        .mislabelled = mark == MISLABELLED,
    };
    out.label = px_dataset_label(side->set, out.index);
    if (out.polluted)
        out.label = feeder->options.polluted_class;
    if (out.mislabelled) { /* uniform over the other classes */
        const uint32_t classes = (uint32_t)feeder->options.classes;
        px_random random = px_rng(feeder->options.seed, PX_RNG_NOISE, out.number, 1);
        out.label = (out.label + 1 + px_rng_below(&random, classes - 1)) % classes;
    }
    return out;
}

px_status px_feeder_pixels(const px_feeder *feeder, int64_t step, int64_t position, float *pixels,
                           int64_t *label, px_error *err)
{
    const px_feeder_item item = px_feeder_item_at(feeder, step, position);
    const uint64_t seed = feeder->options.seed;
    PX_TRY(px_dataset_pixels(item.set, item.index, pixels, err));
    if (item.polluted) {
        px_random random = px_rng(seed, PX_RNG_POLLUTE, item.number, 1);
        pxi_patch_stamp(&feeder->patch, &feeder->shape, pixels, &random);
    }
    px_random random = px_rng(seed, PX_RNG_AUGMENT, item.number, (uint32_t)item.round);
    PX_TRY(pxi_augment_apply(&feeder->augment, &feeder->shape, !px_dataset_is_8bit(item.set),
                             pixels, &random, err));
    *label = item.label;
    return PX_OK;
}

const px_preprocess *px_feeder_preprocess(const px_feeder *feeder, bool added)
{
    return &feeder->side[added ? ADDED : BASE].pre;
}

px_status px_feeder_get(const px_feeder *feeder, int64_t step, int64_t position, float *input,
                        int64_t *label, px_error *err)
{
    const bool added = px_feeder_item_at(feeder, step, position).added;
    PX_TRY(px_feeder_pixels(feeder, step, position, input, label, err));
    return px_preprocess_apply(px_feeder_preprocess(feeder, added), &feeder->shape, input, err);
}

bool px_feeder_is_soft(const px_feeder *feeder)
{
    return feeder->side[BASE].soft || feeder->side[ADDED].soft;
}

px_status px_feeder_target(const px_feeder *feeder, int64_t step, int64_t position, float *target,
                           px_error *err)
{
    const px_feeder_item item = px_feeder_item_at(feeder, step, position);
    if (feeder->side[item.added ? ADDED : BASE].soft && !item.polluted && !item.mislabelled)
        return px_dataset_target(item.set, item.index, target, err);
    memset(target, 0, (size_t)feeder->options.classes * sizeof *target);
    target[item.label] = 1.0f;
    return PX_OK;
}

/* --- identity -------------------------------------------------------------------------------- */

static void hash_side(XXH3_state_t *state, const feeder_side *side)
{
    const px_preprocess *pre = &side->pre;
    const uint64_t data = side->set ? px_dataset_hash(side->set) : 0;
    const int64_t numbers[] = {side->count, pre->channels, pre->bgr, pre->channels_last};
    XXH3_64bits_update(state, &data, sizeof data);
    XXH3_64bits_update(state, numbers, sizeof numbers);
    XXH3_64bits_update(state, &pre->scale, sizeof pre->scale);
    XXH3_64bits_update(state, pre->mean, sizeof pre->mean);
    XXH3_64bits_update(state, pre->stddev, sizeof pre->stddev);
    if (side->items)
        XXH3_64bits_update(state, side->items, (size_t)side->count * sizeof *side->items);
    if (side->soft)
        XXH3_64bits_update(state, &side->soft, sizeof side->soft);
}

uint64_t px_feeder_hash(const px_feeder *feeder)
{
    const px_feeder_options *o = &feeder->options;
    const int64_t numbers[] = {
        o->mix,
        o->classes,
        o->batch,
        (int64_t)o->seed,
        o->in_order,
        o->drop_short,
        o->polluted_class,
        o->patch_min,
        o->patch_max,
        o->patch_white,
        o->mix == PX_MIX_FIXED ? feeder->counts.added_per_batch : 0,
    };
    const double reals[] = {o->pollute, o->label_noise};
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return 0;
    XXH3_64bits_reset(state);
    for (int i = 0; i < SIDES; i++)
        hash_side(state, &feeder->side[i]);
    XXH3_64bits_update(state, numbers, sizeof numbers);
    XXH3_64bits_update(state, reals, sizeof reals);
    XXH3_64bits_update(state, feeder->augment_text, strlen(feeder->augment_text));
    const uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}
