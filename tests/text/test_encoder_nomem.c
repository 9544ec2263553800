/* tests/text/test_encoder_nomem.c - each allocation fails in turn: training, files, networks
 *
 * Whatever fails says PX_E_NOMEM and leaves nothing behind (the leak checker watches).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "failing_alloc.h"

#include <internal/text_encoder.h>
#include <stdlib.h>
#include <string.h>

static const char *const captions[] = {"red stripes", "blue stripes at top"};
static const char *const classes[] = {"cat", "dog"};

static px_status open_and_embed(const void *options, px_error *err)
{
    static float vector[1024];
    px_text_encoder *e = NULL;
    PX_TRY(px_text_encoder_open(options, &e, err));
    const px_status status =
        px_text_encoder_embed(e, "a photo of a cat, striped-red", vector, NULL, err);
    px_text_encoder_free(e);
    return status;
}

static px_text_encoder_options with_lists(const char *spec)
{
    px_text_encoder_options o = px_text_encoder_options_default();
    o.spec = spec;
    o.dimensions = 2;
    o.captions = captions;
    o.caption_count = PX_LEN(captions);
    o.classes = classes;
    o.class_count = PX_LEN(classes);
    return o;
}

static void test_training(void **state)
{
    (void)state;
    px_text_encoder_options o = with_lists("ppmi");
    fail_in_turn(open_and_embed, &o, /* pace= */ 6, "ppmi");
}

static void test_file(void **state)
{
    (void)state;
    static const char text[] = "the 1 0\na 2 1\nred 0 1\ncat 1 1\n";
    char spec[1100] = "glove:";
    const char *folder = getenv("TEST_SCRATCH");
    px_error err = {0};
    snprintf(spec + 6, sizeof spec - 6, "%s/nomem.txt", folder ? folder : ".");
    assert_int_equal(pxi_file_write(spec + 6, text, sizeof text - 1, &err), PX_OK);
    px_text_encoder_options o = with_lists(spec);
    o.pool = "mean";
    fail_in_turn(open_and_embed, &o, /* pace= */ 6, "glove file");
}

static void test_network(void **state)
{
    (void)state;
    px_text_encoder_options o = px_text_encoder_options_default();
    o.spec = "onnx:" NETS "/bert.onnx";
    o.vocabulary = TOKENS "/wordpiece-vocab.txt";
    fail_in_turn(open_and_embed, &o, /* pace= */ 20, "bert");
    o.spec = "onnx:" NETS "/clip.onnx";
    o.vocabulary = NULL;
    o.merges = TOKENS "/clip-merges.txt";
    fail_in_turn(open_and_embed, &o, /* pace= */ 20, "clip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
