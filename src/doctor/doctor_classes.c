/* src/doctor/doctor_classes.c - whether the classes of the data are the network's
 *
 * Names that the network lacks and labels beyond its classes stop every other command that needs
 * labels; here such inputs are examined without theirs.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor_internal.h"
#include <internal/data.h>

static px_status classes_unknown(px_doctor *d, const px_class_match *match, px_error *err)
{
    return pxi_doctor_add(d, "class-names", PX_FINDING_ERROR, match->unknown_count,
                          "other commands stop at this: rename the data's classes, or give the "
                          "network's names with --classes",
                          err, "%s", match->unknown);
}

/* Labels that go by their order, so that only numbers can tell that they are another network's. */
static px_status classes_counted(px_doctor *d, px_error *err)
{
    px_error beyond = {0};
    char doubt[PX_CLASSES_TEXT];
    const int classes = d->said->scores.classes;
    if (px_dataset_check_labels(d->o.set, classes, &beyond) == PX_E_MISMATCH)
        return pxi_doctor_add(d, "class-count", PX_FINDING_ERROR, 0,
                              "other commands stop at this: inputs of such classes are examined "
                              "without labels here",
                              err, "%s", beyond.message);
    if (px_dataset_classes_doubt(d->o.set, classes, doubt))
        return pxi_doctor_add(d, "class-count", PX_FINDING_WARNING, 0, NULL, err, "%s", doubt);
    return PX_OK;
}

px_status pxi_doctor_classes(px_doctor *d, px_error *err)
{
    const px_class_match match = px_dataset_class_match(d->o.set);
    PX_TRY(match.unknown ? classes_unknown(d, &match, err) : classes_counted(d, err));
    return match.absent ? pxi_doctor_add(d, "never-labelled", PX_FINDING_INFO, match.absent_count,
                                         NULL, err, "%s", match.absent)
                        : PX_OK;
}
