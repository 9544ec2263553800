/* src/report/page.h - the built page (web/dist/report.html), which the build turns into an array */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_REPORT_PAGE_H
#define PXI_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char pxi_report_page[];
extern const size_t pxi_report_page_size;

/* Stands in the page where the report's JSON object belongs, once. */
#define PXI_REPORT_MARK "@PLEXOR_REPORT_DATA@"
/* What stands in front of the sources' identity, 16 hexadecimal digits. */
#define PXI_REPORT_SOURCES "<meta name=\"plexor-sources\" content=\""

#endif
