/* tests/store/test_campaign_kill.c - kill -9 at random moments loses nothing that was committed
 *
 * PLEXOR_KILLS=200 for a long run.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "../data/data_helpers.h"
#include "store_helpers.h"

#include <internal/rng.h>
#include <internal/store.h>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static void tell(int64_t last, void *context)
{
    if (write(*(int *)context, &last, sizeof last) != sizeof last)
        _exit(3);
}

/* Works on the campaign until it is killed; the first one makes it. */
static void work(bool first, int to)
{
    px_campaign *c = NULL;
    px_error err = {0};
    if (px_campaign_open("killed", first ? PX_CAMPAIGN_CREATE : PX_CAMPAIGN_RESUME, &c, &err) !=
        PX_OK) {
        fprintf(stderr, "%s\n", err.message);
        _exit(4);
    }
    grow_campaign(c, INT64_MAX, tell, &to, &err);
    fprintf(stderr, "%s\n", err.message);
    _exit(5);
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* Whatever is there is sound, and every input replays; returns the last id. */
static int64_t check(bool all)
{
    px_campaign *c = NULL;
    px_error err = {0};
    int64_t last = 0;
    if (px_campaign_open("killed", PX_CAMPAIGN_RESUME, &c, &err) != PX_OK ||
        px_campaign_check(c, &err) != PX_OK || px_campaign_last(c, &last, &err) != PX_OK)
        fail_msg("%s", err.message);
    for (int64_t id = all ? 1 : last > 10 ? last - 10 : 1; id <= last; id++) {
        px_replayed replayed;
        if (px_campaign_replay(c, id, NULL, &replayed, &err) != PX_OK)
            fail_msg("%s", err.message);
        if (replayed == PX_REPLAY_DIFFERS)
            fail_msg("input %d does not replay", (int)id);
    }
    px_campaign_close(c);
    return last;
}

static bool is_there(void)
{
    struct stat info;
    return stat("killed", &info) == 0;
}

static void test_kill(void **state)
{
    (void)state;
    enum { PATIENCE_MS = 60000 };
    const char *asked = getenv("PLEXOR_KILLS");
    const int kills = asked ? atoi(asked) : 15;
    int64_t before = 0;
    for (int k = 0; k < kills; k++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            work(!is_there(), ends[1]);
        close(ends[1]);
        if (k % 2) /* on a slow machine, too, some are killed after a commit */
            poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, PATIENCE_MS);
        px_random random = px_rng((uint64_t)time(NULL), PX_RNG_SHUFFLE, (uint32_t)k, 0);
        pause_us(1000 + (long)px_rng_u32(&random) % 60000);
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status))
            fail_msg("kill %d: the child ended by itself with %d", k, WEXITSTATUS(status));
        int64_t told = before, next;
        while (read(ends[0], &next, sizeof next) == sizeof next)
            told = next;
        close(ends[0]);
        if (!is_there())
            continue;
        const int64_t last = check(k == kills - 1);
        if (last < told)
            fail_msg("kill %d: input %d was committed, the last one is %d", k, (int)told,
                     (int)last);
        before = last;
    }
    assert_true(before > 0);
    /* And what it holds is what an undisturbed run of that length has. */
    px_error err = {0};
    uint64_t killed = 0, whole = 1;
    px_campaign *c = NULL;
    assert_int_equal(make_campaign("whole", before, &err), PX_OK);
    assert_int_equal(px_campaign_open("killed", PX_CAMPAIGN_READ, &c, &err), PX_OK);
    assert_int_equal(px_campaign_digest(c, &killed, &err), PX_OK);
    px_campaign_close(c);
    assert_int_equal(px_campaign_open("whole", PX_CAMPAIGN_READ, &c, &err), PX_OK);
    assert_int_equal(px_campaign_digest(c, &whole, &err), PX_OK);
    px_campaign_close(c);
    assert_true(killed == whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
