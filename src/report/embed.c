/* src/report/embed.c - build tool: the page as a C array
 *
 *     embed report.html report_page.c
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: embed PAGE FILE.c\n", stderr);
        return 2;
    }
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    if (!in || !out) {
        perror(in ? argv[2] : argv[1]);
        return 1;
    }
    size_t size = 0;
    fputs("#include \"report/page.h\"\n\nconst unsigned char pxi_report_page[] = {", out);
    for (int byte; (byte = getc(in)) != EOF; size++)
        fprintf(out, "%s%d,", size % 24 ? "" : "\n", byte);
    fprintf(out, "\n};\nconst size_t pxi_report_page_size = %zu;\n", size);
    if (size == 0 || ferror(in) || fclose(in) != 0 || fclose(out) != 0) {
        fprintf(stderr, "embed: cannot turn %s into %s\n", argv[1], argv[2]);
        return 1;
    }
    return 0;
}
