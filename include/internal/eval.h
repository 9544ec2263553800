/* include/internal/eval.h - <plexor/eval.h>, and what only plexor itself uses of it */
#ifndef PXI_INTERNAL_EVAL_H
#define PXI_INTERNAL_EVAL_H

#include <plexor/eval.h>
#include <plexor/field.h>

PX_BEGIN_DECLS

/* Of a class, for whoever shows figures. */
extern const px_field px_eval_class_fields[];

/* Of the numbers of a network of regression. */
extern const px_field px_eval_errors_fields[];

PX_END_DECLS
#endif
