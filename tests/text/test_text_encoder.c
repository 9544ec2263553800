/* tests/text/test_text_encoder.c - encoders as their users see them */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "cmocka_all.h"
#include "text_encoder_golden.h"

#include <internal/text_encoder.h>
#include <math.h>
#include <plexor/text.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 1024 };

static px_text_encoder *open_with(const px_text_encoder_options *options)
{
    px_error err = {0};
    px_text_encoder *e = NULL;
    if (px_text_encoder_open(options, &e, &err) != PX_OK)
        fail_msg("%s: %s", options->spec ? options->spec : "ppmi", err.message);
    return e;
}

static px_text_facts embed(px_text_encoder *e, const char *text, float *vector)
{
    px_error err = {0};
    px_text_facts facts = {0};
    assert_true(px_text_encoder_size(e) <= SIZE_MOST);
    if (px_text_encoder_embed(e, text, vector, &facts, &err) != PX_OK)
        fail_msg("'%s': %s", text, err.message);
    return facts;
}

static double cosine(px_text_encoder *e, const char *a, const char *b)
{
    float x[SIZE_MOST], y[SIZE_MOST];
    embed(e, a, x);
    embed(e, b, y);
    return px_text_cosine(x, y, px_text_encoder_size(e));
}

static const char *scratch(const char *name, const char *content, size_t size)
{
    static char path[8][1024];
    static int next;
    const char *folder = getenv("TEST_SCRATCH");
    char *p = path[next++ % 8];
    px_error err = {0};
    snprintf(p, sizeof path[0], "%s/%s", folder ? folder : ".", name);
    if (pxi_file_write(p, content, size, &err) != PX_OK)
        fail_msg("%s", err.message);
    return p;
}

/* --- the default ----------------------------------------------------------------------------- */

static const char *const classes[] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                      "dog",      "frog",       "horse", "ship", "truck"};

/* Captions as virtual units have them. */
static char **make_captions(size_t count)
{
    static const char *const colors[] = {"red",    "orange", "yellow", "green", "blue",
                                         "purple", "white",  "black",  "gray",  "brown"};
    static const char *const things[] = {"regions",        "vertical edges", "horizontal edges",
                                         "diagonal edges", "bright spots",   "fine texture",
                                         "stripes",        "grid",           "fur",
                                         "circle",         "ring",           "triangle"};
    static const char *const places[] = {"", " at top", " at bottom", " at left", " at center"};
    char **captions = calloc(count, sizeof *captions);
    for (size_t i = 0; i < count; i++) {
        px_text t = {0};
        px_text_format(&t, "%s %s%s", colors[i % 10], things[i / 10 % 12], places[i / 120 % 5]);
        captions[i] = px_text_take(&t);
    }
    return captions;
}

static void free_captions(char **captions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(captions[i]);
    free(captions);
}

/* What glosses say is near is near: with captions of the user's, and with the stock. */
static void test_order_of_cosines(void **state)
{
    (void)state;
    static const struct {
        const char *a, *near, *far;
        double gap;
    } cases[] = {
        {"red", "orange", "blue", .2},
        {"blue", "green", "red", .1},
        {"circle", "ring", "triangle", .2},
        {"stripes", "grid", "fur", .3},
        {"vertical", "upright", "red", .3},
        {"cat", "dog", "truck", .3},
        {"automobile", "truck", "cat", .3},
        {"deer", "horse", "ship", .2},
        {"red regions", "orange regions", "blue regions", .02},
        {"a photo of a cat with red stripes", "a photo of a dog with red stripes",
         "a photo of a truck with red stripes", .2},
    };
    enum { CAPTIONS = 1200 };
    char **captions = make_captions(CAPTIONS);
    px_text_encoder_options options = px_text_encoder_options_default();
    options.classes = classes;
    options.class_count = PX_LEN(classes);
    for (int own = 0; own < 2; own++) {
        options.captions = (const char *const *)captions;
        options.caption_count = own ? CAPTIONS : 0;
        px_text_encoder *e = open_with(&options);
        assert_int_equal(px_text_encoder_size(e), 64);
        for (size_t i = 0; i < PX_LEN(cases); i++) {
            if (own && strcmp(cases[i].near, "upright") == 0)
                continue; /* is no word of those captions */
            const double near = cosine(e, cases[i].a, cases[i].near);
            const double far = cosine(e, cases[i].a, cases[i].far);
            if (!(near > far + cases[i].gap))
                fail_msg("%s captions: '%s' is %.3f from '%s' and %.3f from '%s'",
                         own ? "own" : "stock", cases[i].a, near, cases[i].near, far, cases[i].far);
        }
        px_text_encoder_free(e);
    }
    free_captions(captions, CAPTIONS);
}

/* Without glosses these would be as near as any colour is to another. */
static void test_users_glosses(void **state)
{
    (void)state;
    static const char text[] = "snark, boojum: hunted, invisible\nquark, gluon: tiny matter\n";
    px_text_encoder_options options = px_text_encoder_options_default();
    static const char *const names[] = {"snark", "boojum", "quark", "gluon"};
    options.classes = names;
    options.class_count = PX_LEN(names);
    px_text_encoder *plain = open_with(&options);
    options.glosses = scratch("glosses.txt", text, sizeof text - 1);
    px_text_encoder *told = open_with(&options);
    assert_true(cosine(told, "snark", "boojum") > cosine(told, "snark", "quark") + .3);
    assert_true(fabs(cosine(plain, "snark", "boojum") - cosine(plain, "snark", "quark")) < .1);
    assert_true(px_text_encoder_id(plain) != px_text_encoder_id(told));
    px_text_encoder_free(plain);
    px_text_encoder_free(told);
}

static void test_unknown_words(void **state)
{
    (void)state;
    px_text_encoder_options options = px_text_encoder_options_default();
    px_text_encoder *e = open_with(&options);
    float a[64], b[64], c[64];
    const px_text_facts facts = embed(e, "zzyzx red quux", a);
    assert_int_equal(facts.tokens, 3);
    assert_int_equal(facts.unknown, 2);
    assert_int_equal(facts.dropped, 0);
    embed(e, "quux zzyzx RED", b);
    assert_true(fabs(px_text_cosine(a, b, 64) - 1.0) < 1e-6); /* a bag of words */
    embed(e, "zzyzx", a);
    embed(e, "quux", c);
    assert_true(fabs(px_text_cosine(a, c, 64)) < 0.5);
    embed(e, "Zzyzx!", b);
    assert_memory_equal(a, b, sizeof a);
    embed(e, "", a);
    for (int i = 0; i < 64; i++)
        assert_true(a[i] == 0.0f);
    assert_true(isnan(px_text_cosine(a, b, 64)));
    px_error err = {0};
    assert_int_equal(px_text_encoder_embed(e, "\xff", a, NULL, &err), PX_E_INPUT);
    assert_non_null(strstr(err.message, "not UTF-8 at byte 0"));
    px_text_encoder_free(e);
}

/* With captions, glosses are of the words at hand only. */
static void test_words_at_hand(void **state)
{
    (void)state;
    static const char *const few[] = {"red stripes", "orange stripes", "blue grid at top"};
    px_text_encoder_options options = px_text_encoder_options_default();
    float v[64];
    px_text_encoder *stock = open_with(&options);
    options.captions = few;
    options.caption_count = PX_LEN(few);
    options.classes = classes;
    options.class_count = PX_LEN(classes);
    px_text_encoder *own = open_with(&options);
    assert_int_equal(embed(stock, "fur and ring", v).unknown, 0);
    assert_int_equal(embed(own, "fur and ring", v).unknown, 2);
    assert_int_equal(embed(own, "a photo of a cat with red grid", v).unknown, 0);
    assert_true(cosine(own, "red", "orange") > cosine(own, "red", "blue") + .1);
    assert_true(cosine(own, "cat", "dog") > cosine(own, "cat", "ship") + .2);
    px_text_encoder_free(stock);
    px_text_encoder_free(own);
}

static void test_same_again(void **state)
{
    (void)state;
    enum { CAPTIONS = 21000 }; /* of which 20,000 take part */
    char **captions = make_captions(CAPTIONS);
    px_text_encoder_options options = px_text_encoder_options_default();
    options.dimensions = 16;
    options.captions = (const char *const *)captions;
    options.caption_count = CAPTIONS;
    options.classes = classes;
    options.class_count = PX_LEN(classes);
    px_text_encoder *a = open_with(&options), *b = open_with(&options);
    options.seed = 1;
    px_text_encoder *c = open_with(&options);
    float x[16], y[16], z[16];
    embed(a, "a photo of a cat with red stripes", x);
    embed(b, "a photo of a cat with red stripes", y);
    embed(c, "a photo of a cat with red stripes", z);
    assert_memory_equal(x, y, sizeof x);
    assert_memory_not_equal(x, z, sizeof x);
    assert_true(px_text_encoder_id(a) == px_text_encoder_id(b));
    assert_true(px_text_encoder_id(a) != px_text_encoder_id(c));
    px_text_encoder_free(a);
    px_text_encoder_free(b);
    px_text_encoder_free(c);
    free_captions(captions, CAPTIONS);
}

/* More words than take part: the most frequent ones do. */
static void test_many_words(void **state)
{
    (void)state;
    enum { CAPTIONS = 1500 };
    char **captions = calloc(CAPTIONS, sizeof *captions);
    for (size_t i = 0; i < CAPTIONS; i++) {
        px_text t = {0};
        px_text_format(&t, "common w%zu v%zu", i, i);
        captions[i] = px_text_take(&t);
    }
    px_text_encoder_options options = px_text_encoder_options_default();
    options.captions = (const char *const *)captions;
    options.caption_count = CAPTIONS;
    options.dimensions = 4;
    px_text_encoder *e = open_with(&options);
    assert_non_null(strstr(px_text_encoder_describe(e), " 1000 words"));
    float v[4];
    assert_int_equal(embed(e, "common", v).unknown, 0);
    px_text_encoder_free(e);
    free_captions(captions, CAPTIONS);
}

/* --- files of vectors ------------------------------------------------------------------------ */

static const char glove_text[] = "the 1 0 0\nred 0 1 0\nRed 0 9 0\ncat 0 0 1\nstriped 0 .5 .5\n";

static void test_glove_file(void **state)
{
    (void)state;
    px_text_encoder_options options = px_text_encoder_options_default();
    char spec[1100];
    snprintf(spec, sizeof spec, "glove:%s", scratch("g.txt", glove_text, sizeof glove_text - 1));
    options.spec = spec;
    options.pool = "mean";
    px_text_encoder *e = open_with(&options);
    static const struct {
        const char *text;
        float v[3];
        int64_t unknown;
    } cases[] = {
        {"red cat", {0, .5f, .5f}, 0},
        {"Red cat", {0, 4.5f, .5f}, 0}, /* as written first */
        {"CAT", {0, 0, 1}, 0},
        {"red unheard", {.1f, 1.55f, .15f}, 1}, /* the mean of all five rows is (.2, 2.1, .3) */
        {"red-striped", {0, .75f, .25f}, 0},
    };
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        float v[3];
        const px_text_facts facts = embed(e, cases[i].text, v);
        for (int d = 0; d < 3; d++)
            if (fabsf(v[d] - cases[i].v[d]) > 1e-6f || facts.unknown != cases[i].unknown)
                fail_msg("'%s': (%g, %g, %g)", cases[i].text, (double)v[0], (double)v[1],
                         (double)v[2]);
    }
    px_error err = {0};
    float v[3];
    assert_int_equal(px_text_encoder_embed(e, "nothing here", v, NULL, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "not one of the 2 words of 'nothing here'"));
    px_text_encoder_free(e);
    options.pool = NULL; /* sif: opens too, and stays finite */
    e = open_with(&options);
    embed(e, "the red cat", v);
    px_text_encoder_free(e);
    static const char *const foreign[] = {"\xd0\xba\xd0\xbe\xd1\x82", "xyzzy"};
    options.classes = foreign;
    options.class_count = 2;
    assert_int_equal(px_text_encoder_open(&options, &e, &err), PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "not one of the 2 words of the captions and class names"));
}

/* --- networks -------------------------------------------------------------------------------- */

static px_text_encoder_options net_options(const char *net, const char *how, char *paths)
{
    px_text_encoder_options o = px_text_encoder_options_default();
    enum { PATH = 1024 };
    snprintf(paths, PATH, "onnx:%s/%s.onnx", NETS, net);
    snprintf(paths + PATH, PATH, "%s/%s-merges.txt", TOKENS,
             strcmp(net, "clip") == 0 ? "clip" : "gpt2");
    snprintf(paths + 2 * PATH, PATH, "%s/%s-vocab.%s", TOKENS,
             strcmp(net, "bert") == 0 ? "wordpiece" : net,
             strcmp(net, "bert") == 0 ? "txt" : "json");
    o.spec = paths;
    if (strcmp(net, "bert") != 0)
        o.merges = paths + PATH;
    if (strcmp(net, "clip") != 0)
        o.vocabulary = paths + 2 * PATH;
    if (how && strcmp(how, "pooler_output") == 0)
        o.output = how;
    else
        o.pool = how;
    o.length = GOLDEN_LENGTH;
    return o;
}

static void test_networks_are_pytorchs(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(text_encoder_golden); i++) {
        char paths[3 * 1024];
        px_text_encoder_options o =
            net_options(text_encoder_golden[i].net, text_encoder_golden[i].how, paths);
        px_text_encoder *e = open_with(&o);
        float v[SIZE_MOST];
        const px_text_facts facts = embed(e, text_encoder_golden[i].text, v);
        if (facts.tokens != text_encoder_golden[i].tokens ||
            facts.dropped != text_encoder_golden[i].dropped ||
            px_text_encoder_size(e) != text_encoder_golden[i].size)
            fail_msg("%s of '%s': %d tokens, %d dropped", o.spec, text_encoder_golden[i].text,
                     (int)facts.tokens, (int)facts.dropped);
        for (size_t d = 0; d < text_encoder_golden[i].size; d++)
            if (fabs((double)v[d] - text_encoder_golden[i].vector[d]) > 2e-5)
                fail_msg("%s, %s, of '%s': place %zu is %.7g, expected %.7g", o.spec,
                         text_encoder_golden[i].how ? text_encoder_golden[i].how : "default",
                         text_encoder_golden[i].text, d, (double)v[d],
                         text_encoder_golden[i].vector[d]);
        px_text_encoder_free(e);
    }
}

/* Many lengths, back and forth: plans come and go, vectors stay. */
static void test_lengths_in_turn(void **state)
{
    (void)state;
    char paths[3 * 1024];
    px_text_encoder_options o = net_options("gpt2", NULL, paths);
    px_text_encoder *e = open_with(&o);
    float first[16][16], again[16];
    char text[64] = "";
    for (int round = 0; round < 3; round++)
        for (size_t n = 1; n <= 16; n++) {
            memset(text, 'x', n);
            text[n] = '\0';
            embed(e, text, round ? again : first[n - 1]);
            if (round)
                assert_memory_equal(again, first[n - 1], sizeof again);
        }
    px_text_encoder_free(e);
}

static void test_refusals(void **state)
{
    (void)state;
    px_text_encoder_options base = px_text_encoder_options_default();
    char clip[3 * 1024], bert[3 * 1024];
    px_text_encoder_options on_clip = net_options("clip", NULL, clip);
    px_text_encoder_options on_bert = net_options("bert", NULL, bert);
    struct {
        const char *what;
        px_text_encoder_options o;
        px_status status;
        const char *message;
    } cases[] = {
        {"kind", base, PX_E_USAGE, "there is no encoder 'word2vec:x'"},
        {"no file", base, PX_E_USAGE, "encoder 'glove' needs a file: 'glove:FILE'"},
        {"a file", base, PX_E_USAGE, "encoder 'ppmi:x': 'ppmi' takes no file"},
        {"missing", base, PX_E_INPUT, "'/nonexistent/g.txt' cannot be opened"},
        {"folder", base, PX_E_INPUT, "'/' is no regular file"},
        {"pool", base, PX_E_USAGE, "pool 'max': word encoders have sif and mean"},
        {"dimensions", base, PX_E_USAGE, "0 dimensions"},
        {"glosses", base, PX_E_INPUT, "'/nonexistent'"},
        {"caption", base, PX_E_INPUT, "the text is not UTF-8"},
        {"tokeniser", on_clip, PX_E_USAGE, "there is no tokeniser 'sentencepiece'"},
        {"length", on_clip, PX_E_USAGE, NULL},
        {"short", on_bert, PX_E_USAGE, NULL},
        {"net pool", on_bert, PX_E_USAGE, "pool 'sif': networks have eot, mean, cls and last"},
        {"pooled", on_bert, PX_E_USAGE, "pool 'cls': "},
        {"output", on_bert, PX_E_USAGE, NULL},
        {"vocabulary", on_bert, PX_E_USAGE, NULL},
        {"wrong vocabulary", on_bert, PX_E_INPUT, NULL},
    };
    static const char *const broken[] = {"\xc3("};
    cases[0].o.spec = "word2vec:x";
    cases[1].o.spec = "glove";
    cases[2].o.spec = "ppmi:x";
    cases[3].o.spec = "glove:/nonexistent/g.txt";
    cases[4].o.spec = "fasttext:/";
    cases[5].o.pool = "max";
    cases[6].o.dimensions = 0;
    cases[7].o.glosses = "/nonexistent";
    cases[8].o.captions = broken;
    cases[8].o.caption_count = 1;
    cases[9].o.tokenizer = "sentencepiece";
    cases[10].o.length = 100;
    cases[11].o.length = 2;
    cases[12].o.pool = "sif";
    cases[13].o.pool = "cls";
    cases[13].o.output = "pooler_output";
    cases[14].o.output = "nope";
    cases[15].o.vocabulary = NULL;        /* none beside the network */
    cases[16].o.vocabulary = clip + 1024; /* merges */
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        px_error err = {0};
        px_text_encoder *e = NULL;
        const px_status status = px_text_encoder_open(&cases[i].o, &e, &err);
        if (status != cases[i].status || !err.message[0] ||
            (cases[i].message && strncmp(err.message, cases[i].message, strlen(cases[i].message))))
            fail_msg("%s: status %d, %s", cases[i].what, (int)status, err.message);
        assert_null(e);
    }
}

static void test_unknown_to_a_network(void **state)
{
    (void)state;
    char paths[3 * 1024];
    px_text_encoder_options o = net_options("bert", NULL, paths);
    px_text_encoder *e = open_with(&o);
    float v[16];
    px_error err = {0};
    assert_int_equal(px_text_encoder_embed(e, "\xe2\x82\xac \xd0\x96", v, NULL, &err),
                     PX_E_MISMATCH);
    assert_non_null(strstr(err.message, "not one of the 2 words"));
    embed(e, "", v);
    for (int i = 0; i < 16; i++)
        assert_true(v[i] == 0.0f);
    px_text_encoder_free(e);
}

static void test_class_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {{"Egyptian_cat, Felis", "egyptian cat"},
                 {"T-shirt/top", "t-shirt/top"},
                 {"", ""},
                 {"\xc3\x89t\xc3\xa9_2", "\xc3\xa9t\xc3\xa9 2"}};
    for (size_t i = 0; i < PX_LEN(cases); i++) {
        char *words = px_class_words(cases[i].name);
        assert_string_equal(words, cases[i].words);
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_cosines),     cmocka_unit_test(test_users_glosses),
        cmocka_unit_test(test_unknown_words),        cmocka_unit_test(test_words_at_hand),
        cmocka_unit_test(test_same_again),           cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_glove_file),           cmocka_unit_test(test_networks_are_pytorchs),
        cmocka_unit_test(test_lengths_in_turn),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unknown_to_a_network), cmocka_unit_test(test_class_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
