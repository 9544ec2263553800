/* src/study/revisit_report.c - the document of the study */
#include "study/revisit.h"

void rv_report(const px_study *study, study_document *doc)
{
    pxi_doc_heading(doc, 1, "Neuron coverage and the quality of networks, revisited");
    pxi_study_provenance(study, doc);
}
