/* tests/generate/test_pairs.c - originals and what became of them, read back from the campaign */
/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_helpers.h"

#include <internal/pairs.h>
#include <internal/preprocess.h>
#include <internal/store.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    px_pairs *pairs;
    px_synthesis_options options;
} writing;

static px_status write_pair(void *context, const px_synthesis_made *made, px_error *err)
{
    const writing *w = context;
    return px_pairs_put_synthesis(w->pairs, &w->options, made, 0.75, NAN, err);
}

static px_campaign *campaign_of(const scene *s, const char *path, px_dtype dtype)
{
    const px_campaign_identity identity = {
        .model_hash = px_model_hash(s->model),
        .data_hash = px_dataset_hash(s->set),
        .dtype = dtype,
        .shape = px_dataset_shape(s->set),
        .settings = "{}",
    };
    px_campaign *campaign = NULL;
    px_error err = {0};
    if (px_campaign_open(path, PX_CAMPAIGN_CREATE, &campaign, &err) != PX_OK ||
        px_campaign_identify(campaign, &identity, &err) != PX_OK)
        fail_msg("%s", err.message);
    return campaign;
}

/* Writes what is synthesised; the rows stay with the caller. */
static px_synthesis *written(const scene *s, const char *path, bool keep_float)
{
    const px_synthesis_job job = raise_job(s);
    px_campaign *campaign = campaign_of(s, path, keep_float ? PX_FLOAT32 : PX_UINT8);
    writing w = {.options = px_synthesis_options_default()};
    px_error err = {0};
    px_synthesis *made = NULL;
    w.options.keep_float = keep_float;
    w.options.emit = write_pair;
    w.options.emit_context = &w;
    if (px_synthesis_complete(&w.options, s->set, &s->pre, &err) != PX_OK ||
        px_pairs_new(campaign, s->set, &s->pre, &w.pairs, &err) != PX_OK ||
        px_synthesize(&job, &w.options, &made, &err) != PX_OK ||
        px_pairs_finish(w.pairs, "a test", NAN, &err) != PX_OK)
        fail_msg("%s", err.message);
    px_pairs_free(w.pairs);
    px_campaign_close(campaign);
    return made;
}

/* Every other input is a seed with the pixels of the data, the next one what became of it. */
static void check_pairs(const scene *s, const px_synthesis *made, const char *path, bool bytes)
{
    px_campaign *campaign = NULL;
    px_error err = {0};
    assert_int_equal(px_campaign_open(path, PX_CAMPAIGN_READ, &campaign, &err), PX_OK);
    const size_t size = px_campaign_size(campaign);
    const double unit = px_length_levels(&s->pre, 1.0);
    float *raw = calloc(size, sizeof *raw);
    void *kept[2] = {calloc(size, sizeof(float)), calloc(size, sizeof(float))};
    assert_true(raw && kept[0] && kept[1]);
    for (int64_t i = 0; i < RAISE_ROWS; i++) {
        const px_synthesis_row *row = &px_synthesis_rows(made)[i];
        px_campaign_input seed, changed;
        double linf = 0.0;
        int64_t l0 = 0;
        assert_int_equal(px_campaign_read(campaign, 2 * i + 1, &seed, kept[0], &err), PX_OK);
        assert_int_equal(seed.kind, PX_INPUT_SEED);
        assert_int_equal(seed.prediction, row->before);
        assert_float_equal(seed.confidence, 0.75, 0.0);
        assert_int_equal(px_campaign_read(campaign, 2 * i + 2, &changed, kept[1], &err), PX_OK);
        assert_int_equal(changed.kind,
                         row->stored.predicted == row->label ? PX_INPUT_KEPT : PX_INPUT_FAULT);
        assert_int_equal(changed.root, seed.id);
        assert_int_equal(changed.prediction, row->stored.predicted);
        assert_int_equal(changed.step, i + 1);
        assert_true(isnan(changed.confidence));
        assert_non_null(strstr(changed.chain, "\"engine\":\"synthesize\""));
        assert_int_equal(px_dataset_pixels(s->set, row->input, raw, &err), PX_OK);
        for (size_t k = 0; k < size; k++) {
            const double before =
                bytes ? ((uint8_t *)kept[0])[k] / unit : (double)((float *)kept[0])[k];
            const double after =
                bytes ? ((uint8_t *)kept[1])[k] / unit : (double)((float *)kept[1])[k];
            assert_true(fabs(before - (double)raw[k] / unit) <= 1e-6);
            linf = fmax(linf, fabs(after - before));
            l0 += before != after;
        }
        assert_int_equal(changed.l0, l0);
        assert_true(fabs(changed.linf - linf) <= 1e-6);
    }
    assert_float_equal(px_campaign_get_real(campaign, "executions", 0.0), RAISE_ROWS, 0.0);
    assert_true(isnan(px_campaign_get_real(campaign, "seconds", NAN)));
    free(kept[0]);
    free(kept[1]);
    free(raw);
    px_campaign_close(campaign);
}

static void test_read_back(void **state)
{
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        char path[GENERATE_PATH];
        scene s = raise_scene("pre");
        px_synthesis *made = written(&s, test_path(floats ? "floats" : "bytes", path), floats);
        check_pairs(&s, made, path, !floats);
        px_synthesis_free(made);
        scene_close(&s);
    }
}

static void test_refused(void **state)
{
    (void)state;
    char path[GENERATE_PATH];
    scene s = raise_scene("pre");
    px_campaign *campaign = NULL;
    px_pairs *pairs = NULL;
    px_error err = {0};
    assert_int_equal(
        px_campaign_open(test_path("empty", path), PX_CAMPAIGN_CREATE, &campaign, &err), PX_OK);
    assert_int_equal(px_pairs_new(campaign, s.set, &s.pre, &pairs, &err), PX_E_USAGE);
    const px_campaign_identity other = {
        .dtype = PX_UINT8, .shape = {.rank = 1, .dim = {5}}, .settings = "{}"};
    assert_int_equal(px_campaign_identify(campaign, &other, &err), PX_OK);
    assert_int_equal(px_pairs_new(campaign, s.set, &s.pre, &pairs, &err), PX_E_USAGE);
    assert_null(pairs);
    px_campaign_close(campaign);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_folder_remove();
    return failed;
}
