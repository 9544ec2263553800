/* fuzz/fuzz_campaign.c - a campaign.db that a stranger wrote, or a disk damaged: everything that
 * reads campaigns gives values or an error
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/data.h>
#include <internal/mutate.h>
#include <internal/store.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE_MOST = 1 << 16, INPUTS_MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use_inputs(px_campaign *campaign)
{
    px_campaign_input in = {.id = 0};
    px_error err = {0};
    int64_t damaged = 0;
    const size_t values = px_campaign_size(campaign);
    void *pixels = values > 0 && values <= SIZE_MOST ? calloc(values, sizeof(float)) : NULL;
    for (int i = 0; i < INPUTS_MOST; i++) {
        const int64_t after = in.id;
        if (px_campaign_next(campaign, after, PX_INPUT_ANY, &in, pixels, &damaged, &err) != PX_OK ||
            !in.id)
            break;
        if (in.id <= after)
            abort();
        const int64_t id = in.id;
        px_drawn *links = NULL;
        int64_t *ids = NULL;
        size_t count = 0;
        bool replayable = false;
        px_replayed replayed;
        if (px_chain_parse(in.chain, &links, &count, &replayable, &err) == PX_OK)
            free(links);
        if (px_campaign_lineage(campaign, id, &ids, &count, &err) == PX_OK)
            free(ids);
        if (pixels)
            px_campaign_replay(campaign, id, pixels, &replayed, &err);
        in.id = id;
    }
    free(pixels);
}

static void use_rest(px_campaign *campaign)
{
    px_campaign_counts counts;
    px_error_counts errors;
    px_coverage_point *points = NULL;
    px_styles *styles = NULL;
    px_error err = {0};
    char **names = NULL, *text = NULL;
    int name_count = 0;
    size_t count = 0;
    uint64_t digest;
    px_campaign_count(campaign, &counts, &err);
    px_campaign_count_errors(campaign, -1, &errors, &err);
    if (px_campaign_criteria(campaign, &names, &name_count, &err) == PX_OK) {
        if (name_count && px_campaign_coverage(campaign, names[0], &points, &count, &err) == PX_OK)
            free(points);
        px_class_names_free(names, name_count);
    }
    if (px_campaign_get(campaign, "command", &text, &err) == PX_OK)
        free(text);
    if (px_campaign_get_styles(campaign, &styles, &err) == PX_OK)
        px_styles_free(styles);
    px_campaign_digest(campaign, &digest, &err);
    px_campaign_check(campaign, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char folder[64], path[96];
    px_campaign *campaign = NULL;
    px_error err = {0};
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/fuzz_campaign.%ld", (long)getpid());
        snprintf(path, sizeof path, "%s/campaign.db", folder);
    }
    mkdir(folder, 0700);
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0)
        abort();
    if (px_campaign_open(folder, PX_CAMPAIGN_READ, &campaign, &err) == PX_OK) {
        use_inputs(campaign);
        use_rest(campaign);
    } else if (!err.message[0]) {
        abort();
    }
    px_campaign_close(campaign);
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        unlink(name);
    }
    rmdir(folder);
    return 0;
}
