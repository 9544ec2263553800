/* include/internal/bank.h - <plexor/bank.h>, and what only plexor itself uses of it
 *
 *     px_bank *bank = NULL;
 *     px_error err = {0};
 *     if (px_bank_load("resnet20.bank", &bank, &err) != PX_OK ||
 *         px_bank_check_model(bank, model, &err) != PX_OK)
 *         fprintf(stderr, "%s\n", err.message);
 *     const px_bank_unit *unit = px_bank_find(bank, "layer3.2.relu2", 17);
 *     if (px_bank_described(unit))
 *         printf("%s (%s)\n", unit->phrase, px_bank_validation(bank));
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_BANK_H
#define PXI_INTERNAL_BANK_H

#include <plexor/bank.h>

PX_BEGIN_DECLS

const char *px_describer_id(px_describer describer);

const char *px_describer_help(px_describer describer);

/* PX_E_USAGE, naming those there are, for a word that is none. */
px_status px_describer_parse(const char *text, px_describer *out, px_error *err);

/* All of it not measured. */
px_gates px_gates_none(void);

/* The verdict on such gates. PX_MEASURED for PX_DESCRIBER_DISSECT, whatever they say: its words
 * are measurements. Otherwise PX_VALIDATED needs
 *   g1, where it was measured: precision and recall of units held out of at least 0.8,
 *   g2, top-1 and top-3: more than two standard deviations above chance,
 *   g3, cosine and share named, where there are class-selective units: the same,
 *   g4: no description on more than half of the described units.
 * What was missed is added to `why` (may be NULL), a clause each, parted by "; ". */
px_validation px_gates_verdict(const px_gates *gates, px_describer describer, px_text *why);

/* An empty bank whose gates are not measured. Texts are copied. */
px_status px_bank_new(const px_bank_about *about, px_bank **out, px_error *err);

void px_bank_free(px_bank *bank); /* NULL is fine */

/* Copies a unit. PX_E_USAGE for a second one of that name and for what is beyond the limits, which
 * leaves the bank as it was. What px_bank_find() gave out before is void. */
px_status px_bank_add(px_bank *bank, const px_bank_unit *unit, px_error *err);

void px_bank_set_gates(px_bank *bank, const px_gates *gates); /* and the verdict with them */

size_t px_bank_count(const px_bank *bank);

const px_bank_unit *px_bank_get(const px_bank *bank, size_t i); /* in the order of adding */

/* NULL: the bank does not know that unit. Constant time. */
const px_bank_unit *px_bank_find(const px_bank *bank, const char *layer, int64_t unit);

/* Whether there is a description: neither NULL, nor inactive, nor a phrase without words. Only such
 * units take part in decision paths. */
bool px_bank_described(const px_bank_unit *unit);

/* "(inactive)", "(no label)", or the phrase; what is to be shown to people. */
const char *px_bank_shown(const px_bank_unit *unit);

/* The label, the class: NULL where the best IoU, the share of exemplars, is not enough. */
const char *px_bank_label_of(const px_bank_unit *unit);

const char *px_bank_class_of(const px_bank_unit *unit);

const px_bank_about *px_bank_get_about(const px_bank *bank);

const px_gates *px_bank_gates(const px_bank *bank);

px_validation px_bank_verdict(const px_bank *bank);

const char *px_bank_validation(const px_bank *bank); /* the verdict's text */

/* Of what the bank is about and of all units, not of the gates: the same words on the same network
 * have the same id. Files that depend on the phrases (a threshold) keep it. */
uint64_t px_bank_id(const px_bank *bank);

/* PX_E_MISMATCH where the bank was made for another network. */
px_status px_bank_check_model(const px_bank *bank, const px_model *model, px_error *err);

char *px_bank_sentence(const px_bank *bank, int i);

/* The gates as lines of text, paper's trial beside ours, for the terminal and for reports; ends
 * with the verdict and, where it is PX_NOT_VALIDATED, with why and what to do instead. */
void px_bank_gates_text(const px_bank *bank, px_text *text);

extern const px_field px_gates_fields[], px_caption_score_fields[];

/* The file appears whole or not at all; the same bank gives the same bytes. */
px_status px_bank_save(const px_bank *bank, const char *path, px_error *err);

/* On PX_OK the caller owns *out. PX_E_INPUT, naming the line, for what is no bank. */
px_status px_bank_load(const char *path, px_bank **out, px_error *err);

PX_END_DECLS
#endif
