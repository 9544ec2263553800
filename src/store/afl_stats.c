/* src/store/afl_stats.c - fuzzer_stats and plot_data as AFL++ 4 writes them
 *
 * Faults stand where crashes do, queue entries are the corpus, the criterion's slots are the edges.
 * There are no hangs. afl-whatsup reads fuzzer_stats as shell assignments in double quotes: so the
 * banner keeps letters that mean nothing to a shell, and the command line, which it skips, no line
 * breaks.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <internal/ranks.h>
#include <internal/store.h>
#include <internal/system.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char plot_header[] =
    "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, "
    "saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found\n";

/* Seconds that are shown whole; what is not a time is 0. */
static long long afl_seconds(double seconds)
{
    return seconds > 0 && seconds < 1e15 ? (long long)seconds : 0;
}

static double afl_rate(double rate)
{
    return rate > 0 && rate < 1e15 ? rate : 0.0;
}

static double afl_percent(const px_campaign_figures *f)
{
    return f->coverage > 0 ? 100.0 * fmin(f->coverage, 1.0) : 0.0;
}

static void afl_word(px_text *text, const char *key, const char *value)
{
    px_text_format(text, "%-18s: %s\n", key, value);
}

static void afl_count(px_text *text, const char *key, long long value)
{
    px_text_format(text, "%-18s: %lld\n", key, value);
}

static void afl_real(px_text *text, const char *key, double value, const char *unit)
{
    px_text_format(text, "%-18s: %.2f%s\n", key, value, unit);
}

/* A text of which no letter means anything to whoever reads it. */
static void afl_clean(px_text *text, const char *from, const char *allowed)
{
    for (; *from; from++) {
        const bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                           (*from >= '0' && *from <= '9') || strchr(allowed, *from);
        px_text_add_bytes(text, plain ? from : "_", 1);
    }
}

static void afl_fill(px_text *text, const px_campaign_figures *f)
{
    const long long now = (long long)time(NULL), run = afl_seconds(f->run_s);
    const long long start = now - run;
    const bool found = f->last_find_s >= 0, failed = f->last_fault_s >= 0;
    px_text banner = {0}, command = {0};
    afl_clean(&banner, f->banner && *f->banner ? f->banner : "plexor", "._+-");
    for (const char *p = f->command ? f->command : "plexor"; *p; p++)
        px_text_add_bytes(&command, (unsigned char)*p < ' ' ? " " : p, 1);
    afl_count(text, "start_time", start);
    afl_count(text, "last_update", now);
    afl_count(text, "run_time", run);
    afl_count(text, "fuzzer_pid", (long long)getpid());
    afl_count(text, "cycles_done", f->cycles);
    afl_count(text, "cycles_wo_finds", f->cycles_without_finds);
    afl_count(text, "time_wo_finds", found ? afl_seconds(f->run_s - f->last_find_s) : run);
    afl_count(text, "execs_done", f->executions);
    afl_real(text, "execs_per_sec", afl_rate(f->executions_per_s), "");
    afl_real(text, "execs_ps_last_min", afl_rate(f->executions_per_s_last_minute), "");
    afl_count(text, "corpus_count", f->queue);
    afl_count(text, "corpus_favored", 0);
    afl_count(text, "corpus_found", f->found);
    afl_count(text, "corpus_imported", 0);
    afl_count(text, "corpus_variable", 0);
    afl_count(text, "max_depth", f->depth);
    afl_count(text, "cur_item", f->current);
    afl_count(text, "pending_favs", 0);
    afl_count(text, "pending_total", f->pending);
    afl_real(text, "stability", 100.0, "%");
    afl_real(text, "bitmap_cvg", afl_percent(f), "%");
    afl_count(text, "saved_crashes", f->unique_faults);
    afl_count(text, "saved_hangs", 0);
    afl_count(text, "last_find", found ? start + afl_seconds(f->last_find_s) : 0);
    afl_count(text, "last_crash", failed ? start + afl_seconds(f->last_fault_s) : 0);
    afl_count(text, "last_hang", 0);
    afl_count(text, "execs_since_crash", f->executions_since_fault);
    afl_count(text, "exec_timeout", 0);
    afl_count(text, "slowest_exec_ms", 0);
    afl_count(text, "peak_rss_mb", px_peak_rss_bytes() >> 20);
    afl_count(text, "cpu_affinity", -1);
    afl_count(text, "edges_found", (long long)PX_MIN(f->covered, (uint64_t)INT64_MAX));
    afl_count(text, "total_edges", (long long)PX_MIN(f->total, (uint64_t)INT64_MAX));
    afl_count(text, "var_byte_count", 0);
    afl_count(text, "havoc_expansion", 0);
    afl_count(text, "auto_dict_entries", 0);
    afl_count(text, "testcache_size", 0);
    afl_count(text, "testcache_count", 0);
    afl_count(text, "testcache_evict", 0);
    afl_word(text, "afl_banner", px_text_get(&banner));
    px_text_format(text, "%-18s: plexor-%s\n", "afl_version", px_version());
    afl_word(text, "target_mode", "default");
    afl_word(text, "command_line", px_text_get(&command));
    text->failed = text->failed || px_text_failed(&banner) || px_text_failed(&command);
    px_text_done(&banner);
    px_text_done(&command);
}

/* --- plot_data ------------------------------------------------------------------------------- */

/* Cuts off a line that a process did not get to finish, and a file that is none of ours. */
static bool plot_trim(int fd)
{
    char last[4096];
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    const off_t from = info.st_size > (off_t)sizeof last ? info.st_size - (off_t)sizeof last : 0;
    const ssize_t got = pread(fd, last, sizeof last, from);
    ssize_t end = got;
    while (end > 0 && last[end - 1] != '\n')
        end--;
    const off_t keep = end > 0 ? from + end : 0;
    return got >= 0 && (keep == info.st_size || ftruncate(fd, keep) == 0);
}

static void plot_line(px_text *text, const px_campaign_figures *f)
{
    px_text_format(text,
                   "%lld, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", 0, %.2f%%, %" PRId64
                   ", 0, %" PRId64 ", %.2f, %" PRId64 ", %" PRIu64 "\n",
                   afl_seconds(f->run_s), f->cycles, f->current, f->queue, f->pending,
                   afl_percent(f), f->unique_faults, f->depth, afl_rate(f->executions_per_s),
                   f->executions, f->covered);
}

/* One write() of a whole line: a reader sees it or does not. */
static bool plot_append(px_campaign *campaign, const char *path, const px_campaign_figures *figures)
{
    px_text line = {0};
    struct stat info;
    const int fd =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    bool good = fd >= 0 && (campaign->plot_open || plot_trim(fd)) && fstat(fd, &info) == 0;
    if (good && info.st_size == 0)
        px_text_add(&line, plot_header);
    plot_line(&line, figures);
    const bool written = good && !px_text_failed(&line) &&
                         write(fd, px_text_get(&line), line.length) == (ssize_t)line.length;
    const int number = good && px_text_failed(&line) ? ENOMEM : errno;
    good = written;
    campaign->plot_open = good;
    px_text_done(&line);
    if (fd >= 0)
        close(fd);
    errno = number;
    return good;
}

px_status px_campaign_write_stats(px_campaign *campaign, const px_campaign_figures *figures,
                                  px_error *err)
{
    px_text stats = {0}, path = {0};
    if (campaign->mode == PX_CAMPAIGN_READ)
        return px_fail(err, PX_E_USAGE, "'%s': was opened for reading", campaign->folder);
    if (figures->executions <= 0 || figures->queue <= 0)
        return PX_OK;
    afl_fill(&stats, figures);
    px_text_format(&path, "%s/fuzzer_stats", campaign->folder);
    px_status status =
        px_text_failed(&stats) || px_text_failed(&path)
            ? pxi_store_nomem(campaign, err)
            : pxi_file_write(px_text_get(&path), px_text_get(&stats), stats.length, err);
    px_text_clear(&path);
    px_text_format(&path, "%s/plot_data", campaign->folder);
    PX_THEN_IF(status, px_text_failed(&path), pxi_store_nomem(campaign, err));
    PX_THEN_IF(status, !pxi_ranks_mute() && !plot_append(campaign, px_text_get(&path), figures),
               errno == ENOMEM ? pxi_store_nomem(campaign, err)
                               : px_fail(err, PX_E_IO, "'%s': cannot be written: %s",
                                         px_text_get(&path), strerror(errno)));
    px_text_done(&stats);
    px_text_done(&path);
    return status;
}
