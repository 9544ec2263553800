/* src/describe/bank_verdict.c - how far descriptions may be believed, and saying so
 *
 * The rule is LGR C.12.2's (g2, g3, g4) and, beyond it, a floor for g1: a decoder that does not
 * know its own kind of captions proves nothing by agreeing with labels. What could not be measured
 * is not passed, with one exception: a bank without class-selective units makes no claim about
 * classes, so g3 has nothing to say.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/bank_internal.h"

#include <internal/bank.h>
#include <inttypes.h>
#include <math.h>

#define CAPTION_LEAST 0.8    /* precision and recall, g1 */
#define DEVIATIONS_LEAST 2.0 /* above chance, g2 and g3 */
#define FREQUENT_MOST 0.5    /* g4 */

static const char *const validation_texts[] = {
#define VALIDATION_TEXT(enumerator, text) text,
    PX_VALIDATIONS(VALIDATION_TEXT)
#undef VALIDATION_TEXT
};

const char *px_bank_validation(const px_bank *bank)
{
    return validation_texts[bank->verdict];
}

px_gates px_gates_none(void)
{
    const px_caption_score captions = {.bleu = NAN, .exact = NAN, .precision = NAN, .recall = NAN};
    const px_agreement agreement = {NAN, NAN, NAN};
    return (px_gates){.held_out = captions,
                      .unseen_pairs = captions,
                      .top1 = agreement,
                      .top3 = agreement,
                      .cosine = agreement,
                      .named = agreement,
                      .most_frequent = NAN};
}

/* --- the verdict ----------------------------------------------------------------------------- */

static void verdict_miss(bool *passed, px_text *why, const char *clause)
{
    *passed = false;
    if (why)
        px_text_format(why, "%s%s", why->length ? "; " : "", clause);
}

static bool verdict_is_above(const px_agreement *a)
{
    return a->value > a->chance + DEVIATIONS_LEAST * a->sd; /* false where one is not measured */
}

px_validation px_gates_verdict(const px_gates *g, px_describer describer, px_text *why)
{
    bool passed = true;
    if (describer == PX_DESCRIBER_DISSECT)
        return PX_MEASURED;
    if (g->units == 0) {
        verdict_miss(&passed, why, "the gates have not been measured");
        return PX_NOT_VALIDATED;
    }
    if (g->held_out.count > 0 && !(g->held_out.precision >= CAPTION_LEAST))
        verdict_miss(&passed, why, "g1: attribute precision on units held out is below 0.8");
    if (g->held_out.count > 0 && !(g->held_out.recall >= CAPTION_LEAST))
        verdict_miss(&passed, why, "g1: attribute recall on units held out is below 0.8");
    if (g->labelled == 0)
        verdict_miss(&passed, why, "g2: no described unit has a dissection label to agree with");
    else if (!verdict_is_above(&g->top1) || !verdict_is_above(&g->top3))
        verdict_miss(&passed, why,
                     "g2: agreement with dissection labels is within two standard deviations of "
                     "chance");
    if (g->selective > 0 && !verdict_is_above(&g->named))
        verdict_miss(&passed, why,
                     "g3: naming the class of class-selective units is within two standard "
                     "deviations of chance");
    if (g->selective > 0 && !verdict_is_above(&g->cosine))
        verdict_miss(&passed, why,
                     isnan(g->cosine.value)
                         ? "g3: the similarity of descriptions and class names was not measured"
                         : "g3: the similarity of descriptions and class names is within two "
                           "standard deviations of chance");
    if (!(g->most_frequent <= FREQUENT_MOST))
        verdict_miss(&passed, why, "g4: one description covers more than half of the units");
    return passed ? PX_VALIDATED : PX_NOT_VALIDATED;
}

/* --- what must be said (LGR C.12.5) ---------------------------------------------------------- */

static const char *const words_come_from[] = {
    [PX_DESCRIBER_VIRTUAL_UNITS] =
        "Descriptions come from a model trained on program-made captions, not on people's words; "
        "they name the nearest entry of a closed list (colours, edges, textures, positions, class "
        "names). A unit that detects anything else still gets one of them.",
    [PX_DESCRIBER_DISSECT] =
        "Descriptions are measured labels: the attribute of a closed list (colours, edges, "
        "textures) that a unit's masks overlap with most, and the class that most of its exemplars "
        "have. A unit that detects anything else has no label, or the nearest one.",
    [PX_DESCRIBER_MILAN] =
        "Descriptions come from a model trained on people's words about units of other networks; "
        "it says the nearest of what it has read. A unit that detects anything else still gets "
        "such words.",
    [PX_DESCRIBER_OTHER] =
        "Descriptions come from elsewhere; plexor knows nothing about how they were made.",
};

static void sentence_agreement(const px_bank *bank, px_text *text)
{
    const px_gates *g = &bank->gates;
    if (bank->about.describer == PX_DESCRIBER_DISSECT) {
        px_text_format(text,
                       "A label means an overlap (IoU) of more than %.2f with the attribute, which "
                       "is far below certainty; %" PRId64 " of %" PRId64 " units have one.",
                       PX_BANK_LABEL_LEAST, g->labelled, g->units);
        return;
    }
    if (g->labelled > 0)
        px_text_format(text,
                       "Their agreement with measured attributes is %.0f%% top-1 and %.0f%% top-3 "
                       "(%" PRId64 " units; permuted captions %.0f%% and %.0f%%)",
                       100.0 * g->top1.value, 100.0 * g->top3.value, g->labelled,
                       100.0 * g->top1.chance, 100.0 * g->top3.chance);
    else
        px_text_add(text, "Their agreement with measured attributes has not been measured");
    px_text_add(text, "; on the trial model it was 40% top-1 and 83% top-3 (35 units), above "
                      "chance and far below certainty.");
}

char *px_bank_sentence(const px_bank *bank, int i)
{
    px_text text = {0};
    switch (i) {
    case 0:
        px_text_add(&text, words_come_from[bank->about.describer]);
        break;
    case 1:
        sentence_agreement(bank, &text);
        break;
    case 2:
        px_text_add(&text,
                    bank->about.describer == PX_DESCRIBER_DISSECT
                        ? "No learned part stands between measurement and words; a badly trained "
                          "or polluted model has labels as true as any other's."
                        : "The default encoder contains the model under test: a badly trained or "
                          "polluted model yields poor features and hence poor captions; the "
                          "dissection labels do not have this weakness.");
        break;
    case 3:
        px_text_add(&text, "The default text encoder is a bag of words: word order and layer order "
                           "do not matter; nearness reflects the gloss table that comes with "
                           "plexor; class names without a gloss are mutually equidistant.");
        break;
    case 4:
        px_text_add(&text, "Because the predicted class is in the text, part of the guidance is "
                           "the label change itself; the label-only control is run by default next "
                           "to NSGen.");
        break;
    default:
        px_text_add(&text,
                    "Absolute similarities and tau are not comparable with the paper's; "
                    "only ratios of failures, NSGen's to a baseline's in the same run, are.");
        break;
    }
    return px_text_take(&text);
}

/* --- for people ------------------------------------------------------------------------------ */

static void gates_captions(px_text *text, const char *name, const px_caption_score *s,
                           const char *trial)
{
    px_text_format(text, "  g1 %-22s ", name);
    if (s->count == 0)
        px_text_add(text, "not measured");
    else
        px_text_format(
            text, "exact %.3f, attribute precision %.3f, recall %.3f, BLEU %.1f (n = %" PRId64 ")",
            s->exact, s->precision, s->recall, s->bleu, s->count);
    px_text_format(text, "%s\n", trial);
}

static void gates_agreement(px_text *text, const char *gate, const char *name,
                            const px_agreement *a, int64_t n, const char *trial)
{
    px_text_format(text, "  %s %-22s ", gate, name);
    if (isnan(a->value))
        px_text_add(text, "not measured");
    else
        px_text_format(text, "%.3f, permuted %.3f +- %.3f (n = %" PRId64 ")", a->value, a->chance,
                       a->sd, n);
    px_text_format(text, "%s\n", trial);
}

void px_bank_gates_text(const px_bank *bank, px_text *text)
{
    const px_gates *g = &bank->gates;
    px_text why = {0};
    if (bank->about.describer != PX_DESCRIBER_DISSECT) {
        gates_captions(text, "captions held out", &g->held_out, "; trial: exact 0.865, 0.91, 0.90");
        gates_captions(text, "unseen pairs", &g->unseen_pairs, "");
        gates_agreement(text, "g2", "label, top-1", &g->top1, g->labelled,
                        "; trial: 0.40, permuted 0.12 +- 0.05 (n = 35)");
        gates_agreement(text, "g2", "label, top-3", &g->top3, g->labelled,
                        "; trial: 0.83, permuted 0.37 +- 0.07");
        gates_agreement(text, "g3", "cosine with class", &g->cosine, g->selective,
                        "; trial: not run");
        gates_agreement(text, "g3", "class named", &g->named, g->selective,
                        "; trial: 0.92 (n = 100)");
    }
    px_text_format(text,
                   "  g4 %" PRId64 " units, %" PRId64 " inactive, %" PRId64
                   " distinct descriptions, the commonest on %.1f%%\n",
                   g->units, g->inactive, g->distinct,
                   isnan(g->most_frequent) ? 0.0 : 100.0 * g->most_frequent);
    px_text_format(text, "verdict: %s\n", px_bank_validation(bank));
    if (px_gates_verdict(g, bank->about.describer, &why) == PX_NOT_VALIDATED)
        px_text_format(
            text, "  %s\n  use --describer dissect, or leave descriptions out (--mode no-nldg)\n",
            px_text_get(&why));
    if (px_text_failed(&why))
        text->failed = true;
    px_text_done(&why);
}

const px_field px_caption_score_fields[] = {
    PX_FIELD(px_caption_score, count, "count", "captions; 0: not measured"),
    PX_FIELD(px_caption_score, bleu, "bleu", "0 to 100"),
    PX_FIELD(px_caption_score, exact, "exact", "captions of the unit's own", .unit = PX_SHARE),
    PX_FIELD(px_caption_score, precision, "precision", "of the attributes that are mentioned"),
    PX_FIELD(px_caption_score, recall, "recall", "of the attributes that are mentioned"),
    PX_FIELDS_END,
};

static const px_field agreement_fields[] = {
    PX_FIELD(px_agreement, value, "value", "null: not measured"),
    PX_FIELD(px_agreement, chance, "chance", "what permuted captions give"),
    PX_FIELD(px_agreement, sd, "sd", "of that"),
    PX_FIELDS_END,
};

const px_field px_gates_fields[] = {
    PX_OBJECT(px_gates, held_out, px_caption_score_fields, "held_out",
              "captions of units held out"),
    PX_OBJECT(px_gates, unseen_pairs, px_caption_score_fields, "unseen_pairs",
              "captions of attributes and positions never seen together"),
    PX_FIELD(px_gates, labelled, "labelled", "units with a measured label and a description"),
    PX_OBJECT(px_gates, top1, agreement_fields, "top1",
              "share of them whose caption has the label"),
    PX_OBJECT(px_gates, top3, agreement_fields, "top3", "or one of the first three"),
    PX_FIELD(px_gates, selective, "selective", "described units whose exemplars share a class"),
    PX_OBJECT(px_gates, cosine, agreement_fields, "cosine",
              "mean similarity of description and class name"),
    PX_OBJECT(px_gates, named, agreement_fields, "named", "share whose caption names the class"),
    PX_FIELD(px_gates, units, "units", "that there are"),
    PX_FIELD(px_gates, inactive, "inactive", "units that nothing raises"),
    PX_FIELD(px_gates, distinct, "distinct", "descriptions"),
    PX_FIELD(px_gates, most_frequent, "most_frequent", "units with the commonest one",
             .unit = PX_SHARE),
    PX_FIELD(px_gates, permutations, "permutations", "that chance was taken from"),
    PX_FIELDS_END,
};
