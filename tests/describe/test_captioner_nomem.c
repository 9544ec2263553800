/* tests/describe/test_captioner_nomem.c - each allocation of a captioner fails in turn */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "describe/caption_corpus.h"
#include "failing_alloc.h"

#include <string.h>
#include <unistd.h>

typedef struct work {
    const corpus *corpus;
    char path[4096];
} work;

static px_status learn(const void *context, px_error *err)
{
    const work *w = context;
    px_captioner_options options = corpus_options();
    options.epochs = 1;
    options.hidden = 4;
    options.held_out = 0.3;
    px_captioner *captioner = NULL;
    const px_status status = px_captioner_train(&w->corpus->data, &options, &captioner, NULL, err);
    px_captioner_free(captioner);
    return status;
}

static px_status tell(const void *context, px_error *err)
{
    const work *w = context;
    px_captioner *captioner = NULL;
    char *texts[4];
    const px_caption_decoding how = {.beam = 3, .steps = 4, .lambda = 0.2, .threads = 1};
    px_status status = px_captioner_load(w->path, &captioner, err);
    if (status == PX_OK)
        status = px_captioner_describe(captioner, w->corpus->features, 4, &how, texts, NULL, err);
    for (int i = 0; status == PX_OK && i < 4; i++)
        free(texts[i]);
    if (status == PX_OK)
        status = px_captioner_save(captioner, w->path, err);
    px_captioner_free(captioner);
    return status;
}

static px_status compare(const void *context, px_error *err)
{
    (void)context;
    px_bleu bleu = {0};
    const char *const references[] = {"red edges", "edges that are red"};
    return px_bleu_add(&bleu, "red spots", references, 2, err);
}

static void test_each_allocation_may_fail(void **state)
{
    (void)state;
    corpus c = corpus_make(8, 2, 8, 2, 0.3);
    work w = {.corpus = &c};
    const char *folder = getenv("TEST_SCRATCH");
    snprintf(w.path, sizeof w.path, "%s/captioner-nomem-%d.npz", folder ? folder : ".",
             (int)getpid());
    px_captioner_options options = corpus_options();
    options.epochs = 1;
    options.hidden = 4;
    px_captioner *captioner = NULL;
    px_error err = {0};
    assert_int_equal(px_captioner_train(&c.data, &options, &captioner, NULL, &err), PX_OK);
    assert_int_equal(px_captioner_save(captioner, w.path, &err), PX_OK);
    px_captioner_free(captioner);
    fail_in_turn(learn, &w, 100, "learning");
    fail_in_turn(tell, &w, 100, "telling");
    fail_in_turn(compare, &w, 100, "BLEU");
    unlink(w.path);
    corpus_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
