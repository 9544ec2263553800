/* include/internal/param.h - <plexor/param.h>, and what only plexor itself uses of it */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_PARAM_H
#define PXI_INTERNAL_PARAM_H

#include <plexor/param.h>

PX_BEGIN_DECLS

size_t px_params_count(const px_param *params); /* NULL: 0 */
/* Every member that the table names. */
void px_params_default(const px_param *params, void *config);
/* A member as a number: a choice's is its index. */
double px_param_get(const px_param *param, const void *config);
void px_param_set(const px_param *param, void *config, double value);
/* One value, which is text: "0.5", "8/255", "ceil". `id` is of what has the setting: PX_E_USAGE
 * says "'kmnc.k=0': it must be between 1 and 65534". */
px_status px_param_read(const px_param *param, const char *id, const char *text, void *config,
                        px_error *err);
px_status px_param_value(const px_param *param, const char *id, const char *text, double *value,
                         px_error *err);

PX_END_DECLS
#endif
