/* studies/frame/study_claim.c - a claim that is looked at case by case */
#include "frame/study_claim.h"

void pxi_claim_end(study_claim *c, study_document *doc, const char *text)
{
    const study_verdict verdict = c->run == 0         ? STUDY_OPEN
                                  : c->held == c->run ? STUDY_HOLDS
                                  : c->held == 0      ? STUDY_FAILS
                                                      : STUDY_PARTLY;
    if (c->run == 0)
        pxi_doc_claim(doc, verdict, text, "Nothing was run that could tell.");
    else
        pxi_doc_claim(doc, verdict, text, "For %d of %d. %s.", c->held, c->run,
                      px_text_get(&c->evidence));
    if (px_text_failed(&c->evidence))
        pxi_document_fail(doc);
    px_text_done(&c->evidence);
}
