/* src/generate/pair_rows.c - rows of attacks and syntheses as bytes, for campaigns */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/pair_rows.h"

#include <string.h>

/* Every number of a row, in the order of the bytes: what is read is what was written. */
#define ATTACK_FORM(X, form) \
    X(int, form.predicted)   \
    X(int, form.reached)     \
    X(real, form.loss) X(real, form.confidence) X(int, form.l0) X(real, form.l2) X(real, form.linf)
#define ATTACK_NUMBERS(X)      \
    X(int, input)              \
    X(int, label)              \
    X(int, truth)              \
    X(int, target)             \
    X(int, skipped)            \
    X(int, before)             \
    X(real, loss_before)       \
    X(real, confidence_before) \
    ATTACK_FORM(X, exact)      \
    ATTACK_FORM(X, stored)     \
    X(int, steps)              \
    X(int, restart) X(int, forwards) X(int, backwards) X(int, odd_gradients) X(int, flat)

#define SYNTHESIS_FORM(X, form) \
    X(int, form.predicted)      \
    X(real, form.loss) X(real, form.l1) X(real, form.l2) X(real, form.linf) X(int, form.rose)
#define SYNTHESIS_NUMBERS(X) \
    X(int, input)            \
    X(int, label)            \
    X(int, list)             \
    X(int, neurons)          \
    X(int, before)           \
    X(real, loss_before)     \
    SYNTHESIS_FORM(X, exact) SYNTHESIS_FORM(X, stored) X(int, unchanged) X(int, unchanged_stored)

enum { NUMBER_BYTES = 8 };

static uint8_t *number_put(uint8_t *at, uint64_t bits)
{
    for (int i = 0; i < NUMBER_BYTES; i++)
        at[i] = (uint8_t)(bits >> (8 * i));
    return at + NUMBER_BYTES;
}

static uint64_t number_get(const uint8_t **at)
{
    uint64_t bits = 0;
    for (int i = 0; i < NUMBER_BYTES; i++)
        bits |= (uint64_t)(*at)[i] << (8 * i);
    *at += NUMBER_BYTES;
    return bits;
}

static uint64_t bits_of_real(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double real_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define NUMBER_COUNT(kind, name) +1
#define NUMBER_PUT_int(name) bytes = number_put(bytes, (uint64_t)row->name);
#define NUMBER_PUT_real(name) bytes = number_put(bytes, bits_of_real(row->name));
#define NUMBER_PUT(kind, name) NUMBER_PUT_##kind(name)
#define NUMBER_GET_int(name) row->name = (__typeof__(row->name))number_get(&bytes);
#define NUMBER_GET_real(name) row->name = real_of_bits(number_get(&bytes));
#define NUMBER_GET(kind, name) NUMBER_GET_##kind(name)

size_t pxi_attack_row_bytes(void)
{
    return NUMBER_BYTES * (0 ATTACK_NUMBERS(NUMBER_COUNT));
}

void pxi_attack_row_pack(const px_attack_row *row, uint8_t *bytes)
{
    ATTACK_NUMBERS(NUMBER_PUT)
}

void pxi_attack_row_unpack(const uint8_t *bytes, px_attack_row *row){ATTACK_NUMBERS(NUMBER_GET)}

size_t pxi_synthesis_row_bytes(void)
{
    return NUMBER_BYTES * (0 SYNTHESIS_NUMBERS(NUMBER_COUNT));
}

void pxi_synthesis_row_pack(const px_synthesis_row *row, uint8_t *bytes)
{
    SYNTHESIS_NUMBERS(NUMBER_PUT)
}

void pxi_synthesis_row_unpack(const uint8_t *bytes, px_synthesis_row *row)
{
    SYNTHESIS_NUMBERS(NUMBER_GET)
}
