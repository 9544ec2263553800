/* tests/store/test_afl_stats.c - fuzzer_stats and plot_data, read as AFL++'s tools read them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"

#include <internal/store.h>
#include <time.h>

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 16);
    (void)!fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static px_campaign_figures sample_figures(void)
{
    return (px_campaign_figures){.run_s = 61.5,
                                 .cycles = 2,
                                 .cycles_without_finds = 1,
                                 .executions = 12345,
                                 .executions_per_s = 200.734,
                                 .executions_per_s_last_minute = 190,
                                 .queue = 40,
                                 .pending = 7,
                                 .current = 3,
                                 .found = 36,
                                 .depth = 4,
                                 .faults = 12,
                                 .unique_faults = 9,
                                 .coverage = 0.25,
                                 .covered = 172,
                                 .total = 688,
                                 .last_find_s = 50,
                                 .last_fault_s = -1,
                                 .executions_since_fault = 12345,
                                 .banner = "net\"$(touch harm)`touch harm`\n\\ kmnc",
                                 .command = "plexor fuzz 'a\nb'"};
}

static void test_files(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = NULL;
    px_campaign_figures figures = sample_figures();
    assert_int_equal(px_campaign_open("c", PX_CAMPAIGN_CREATE, &c, &err), PX_OK);
    figures.executions = 0;
    assert_int_equal(px_campaign_write_stats(c, &figures, &err), PX_OK);
    assert_null(slurp("c/fuzzer_stats"));
    figures.executions = 12345;
    assert_int_equal(px_campaign_write_stats(c, &figures, &err), PX_OK);
    figures.run_s = 66.9;
    figures.coverage = 0.5;
    assert_int_equal(px_campaign_write_stats(c, &figures, &err), PX_OK);
    char *stats = slurp("c/fuzzer_stats");
    static const char *const lines[] = {
        "\nrun_time          : 66\n",
        "\ncycles_done       : 2\n",
        "\nexecs_done        : 12345\n",
        "\nexecs_per_sec     : 200.73\n",
        "\ncorpus_count      : 40\n",
        "\nbitmap_cvg        : 50.00%\n",
        "\nsaved_crashes     : 9\n",
        "\nlast_crash        : 0\n",
        "\nedges_found       : 172\n",
        "\ntotal_edges       : 688\n",
        "\nafl_banner        : net___touch_harm__touch_harm____kmnc\n",
        "\ncommand_line      : plexor fuzz 'a b'\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(stats, lines[i]))
            fail_msg("no line '%s' in:\n%s", lines[i], stats);
    free(stats);
    char *plot = slurp("c/plot_data");
    assert_string_equal(plot, "# relative_time, cycles_done, cur_item, corpus_count, "
                              "pending_total, pending_favs, map_size, saved_crashes, saved_hangs, "
                              "max_depth, execs_per_sec, total_execs, edges_found\n"
                              "61, 2, 3, 40, 7, 0, 25.00%, 9, 0, 4, 200.73, 12345, 172\n"
                              "66, 2, 3, 40, 7, 0, 50.00%, 9, 0, 4, 200.73, 12345, 172\n");
    free(plot);
    px_campaign_close(c);
}

/* A line that was cut off by a full disk or a dying machine goes when the campaign is resumed. */
static void test_torn_line(void **state)
{
    (void)state;
    px_error err = {0};
    px_campaign *c = NULL;
    px_campaign_figures figures = sample_figures();
    FILE *file = fopen("c/plot_data", "ab");
    fputs("71, 2, 3", file);
    fclose(file);
    assert_int_equal(px_campaign_open("c", PX_CAMPAIGN_RESUME, &c, &err), PX_OK);
    figures.run_s = 80;
    assert_int_equal(px_campaign_write_stats(c, &figures, &err), PX_OK);
    px_campaign_close(c);
    char *plot = slurp("c/plot_data");
    assert_null(strstr(plot, "71, 2"));
    assert_non_null(strstr(plot, "\n66, 2"));
    assert_non_null(strstr(plot, "\n80, 2"));
    free(plot);
}

/* As afl-whatsup does: a shell reads the file, and nothing in it is run. */
static void test_as_shell(void **state)
{
    (void)state;
    assert_int_equal(
        system("sed 's/^command_line.*$/_skip:1/;s/[ ]*:[ ]*/=\"/;s/$/\"/' "
               "c/fuzzer_stats >assignments && . ./assignments && test \"$execs_done\" "
               "= 12345 && test $((cur_item * 100 / corpus_count)) = 7 && test "
               "\"$bitmap_cvg\" = 25.00% && test ! -e harm"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_torn_line),
        cmocka_unit_test(test_as_shell),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
