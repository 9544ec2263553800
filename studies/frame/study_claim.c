/* studies/frame/study_claim.c - a claim that is looked at case by case */
/* SPDX-License-Identifier: Apache-2.0 */
#include "frame/study_claim.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void claim_say(study_claim *c, const char *format, va_list words)
{
    va_list again;
    va_copy(again, words);
    const int length = vsnprintf(NULL, 0, format, words);
    char *text = length < 0 ? NULL : pxi_calloc((size_t)length + 1, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    else
        c->evidence.failed = true;
    va_end(again);
    px_text_format(&c->evidence, "%s%s", c->evidence.length ? "; " : "", text ? text : "");
    free(text);
}

void pxi_claim_say(study_claim *c, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    claim_say(c, format, words);
    va_end(words);
}

void pxi_claim_case(study_claim *c, bool held, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    claim_say(c, format, words);
    va_end(words);
    c->run++;
    c->held += held;
}

void pxi_claim_end(study_claim *c, study_document *doc, const char *text)
{
    const study_verdict verdict = c->run == 0         ? STUDY_OPEN
                                  : c->held == c->run ? STUDY_HOLDS
                                  : c->held == 0      ? STUDY_FAILS
                                                      : STUDY_PARTLY;
    if (c->run == 0)
        pxi_doc_claim(doc, verdict, text, "Nothing was run that could tell.");
    else
        pxi_doc_claim(doc, verdict, text, "For %d of %d%s%s. %s.", c->held, c->run,
                      c->unit ? " " : "", c->unit ? c->unit : "", px_text_get(&c->evidence));
    pxi_doc_cases(doc, c->held, c->run);
    if (px_text_failed(&c->evidence))
        pxi_document_fail(doc);
    px_text_done(&c->evidence);
}
