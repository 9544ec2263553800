/* tests/report/make_page.c - make_page DATA.json REPORT.html: a report from an object in a file */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <internal/report.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    px_error err = {0};
    char *json = NULL;
    size_t size = 0;
    if (argc != 3) {
        fputs("usage: make_page DATA.json REPORT.html\n", stderr);
        return 2;
    }
    px_status status = pxi_file_read(argv[1], (size_t)1 << 28, &json, &size, &err);
    char *html = NULL;
    PX_THEN(status, px_report_html(json, &html, &size, &err));
    PX_THEN(status, pxi_file_write(argv[2], html, size, &err));
    free(html);
    if (status != PX_OK)
        fprintf(stderr, "make_page: %s\n", err.message);
    free(json);
    return status == PX_OK ? 0 : 1;
}
