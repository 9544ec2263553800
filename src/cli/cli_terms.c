/* src/cli/cli_terms.c - plexor's words, and what the heads of its tables stand for */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_terms.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const cli_term terms[] = {
    {"input", "one thing that a network is asked about: a picture, a recording, an array"},
    {"label", "the class that an input belongs to, as the data say"},
    {"answer", "the class with the highest score; also called prediction"},
    {"failure", "an input whose answer is not its label; `faults` in JSON and in names of gates"},
    {"kind", "label and answer of a failure together, such as Shirt taken for Coat"},
    {"distinct failure",
     "a failure that no earlier one of the same seed input and answer nearly repeats"},
    {"seed input", "the input of the data that a generated input was made from; --seed is a number "
                   "for random draws"},
    {"mutation", "a change that should leave the meaning of an input alone"},
    {"campaign", "a folder with seed inputs, what was made from them and how, and the failures"},
    {"attack", "a search for a small change of an input that makes the answer wrong"},
    {"robust accuracy", "the share of inputs that are right before and after an attack"},
    {"layer", "the output of an activation, or of a linear operator that has none"},
    {"neuron", "one value of a layer; of a convolution the mean of a channel"},
    {"criterion", "a measure of coverage, such as nc"},
    {"coverage", "how much of what neurons can do a set of inputs makes them do"},
    {"profile", "what neurons do on training inputs, which criteria measure against"},
    {"selector", "a rule that says which inputs are worth a label first"},
    {"suspicious", "active more often on failures than on right answers, by a measure"},
    {"metric", "a number that says how good generated failures are, such as ass"},
    {"bank", "descriptions of neurons in words, made by describe"},
    {"decision path", "the neurons that contribute most to an answer, one per layer"},
    {"tau", "the similarity below which two decision paths differ; found by calibrate"},
    {"stage", "one of the steps of check, such as cover"},
    {"gate", "a threshold that must hold, else the exit status is 1"},
    {"study", "a published experiment done again, with its claims judged"},
};

static const cli_term heads[] = {
    {"AS", "right answers while the neuron is active"},
    {"AF", "failures while it is active"},
    {"NS", "right answers while it is not"},
    {"NF", "failures while it is not"},
    {"RFT", "share of failures among what was generated"},
    {"FRE", "seconds per failure"},
    {"OI", "how evenly failures spread over answers: 0 one, 1 all alike"},
    {"E_any", "seed inputs whose last example is a failure"},
    {"E_pol", "those among them that are taken for the polluted class"},
    {"FDR", "share of failures among the first so many of the ranking"},
    {"RAUC", "how soon kinds of failure are met in the first 20%, as a share of what is possible"},
    {"APFD", "how soon failures are met on average, 1 at once"},
    {"NORMALISED", "APFD scaled to what is possible"},
    {"TYPES", "APFD of kinds"},
    {"PEARSON", "correlation of accuracy with tenths of the ranking, lowest first"},
    {"SPEARMAN", "correlation of ranks of accuracy with tenths of the ranking, lowest first"},
};

const cli_term *cli_term_get(size_t i)
{
    return i < sizeof terms / sizeof terms[0] ? &terms[i] : NULL;
}

const cli_term *cli_head_get(size_t i)
{
    return i < sizeof heads / sizeof heads[0] ? &heads[i] : NULL;
}

static const cli_term *head_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (strlen(heads[i].name) == length && strncmp(heads[i].name, name, length) == 0)
            return &heads[i];
    return NULL;
}

void cli_explain_heads(const char *names)
{
    const char *between = "";
    for (const char *p = names; *p; p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");
        const cli_term *head = head_find(p, length);
        if (head) {
            cli_print("%s%s: %s", between, head->name, head->meaning);
            between = "; ";
        }
        p += length;
    }
    if (*between)
        fputc('\n', cli_out());
}
