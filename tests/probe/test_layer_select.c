/* tests/probe/test_layer_select.c - the texts of --layers, --tap, --neurons and LAYER:INDEX */
/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_helpers.h"

#include <plexor/text.h>
#include <string.h>

static const struct {
    const char *model, *text, *chosen; /* names, or the message of a refusal after "!" */
} cases[] = {
    {"residual", NULL, "relu0 relu1 relu2"},
    {"residual", "hidden", "relu0 relu1 relu2"},
    {"residual", "all", "relu0 relu1 relu2 logits"},
    {"residual", "conv", "relu0 relu1 relu2"},
    {"residual", "logits", "logits"},
    {"residual", "last-encoder", "relu2"},
    {"residual", "last-hidden", "relu2"},
    {"residual", "stages", "relu0 relu1 relu2"}, /* two sizes at most: every convolution */
    {"residual", "all,!stages", "logits"},
    {"residual", "stage", "!no layer is called 'stage'; did you mean 'stages'?"},
    {"gelu_tanh", "stages", "gelu"}, /* nothing but dense layers */
    {"gelu_tanh", "last-hidden", "gelu"},
    {"gelu_tanh", "last-encoder", "gelu"}, /* none has extent: the last hidden one */
    {"residual", "relu1", "relu1"},
    {"residual", "relu1,relu0", "relu0 relu1"}, /* always in the network's order */
    {"residual", "conv1", "relu1"},             /* the linear node's name, too */
    {"residual", "bn2", "!no layer is called 'bn2'"},
    {"residual", "relu?", "relu0 relu1 relu2"},
    {"residual", "*[02]", "relu0 relu2"},
    {"residual", "#1", "relu1"},
    {"residual", "#0,#3", "relu0 logits"},
    {"residual", "#4", "!there is no layer '#4'"},
    {"residual", "#x", "!no layer is called '#x'"},
    {"residual", "all,!relu1", "relu0 relu2 logits"},
    {"residual", "!relu1", "relu0 relu2"}, /* of the hidden ones */
    {"residual", "relu?,!relu1,relu1", "relu0 relu1 relu2"},
    {"residual", " relu0 , relu1 ", "relu0 relu1"},
    {"residual", "dense", "!'dense' chooses none"},
    {"residual", "relu0,!all", "!'relu0,!all' chooses none"},
    {"residual", "relu9", "!no layer is called 'relu9'; did you mean 'relu0'?"},
    {"residual", "hiden", "!no layer is called 'hiden'; did you mean 'hidden'?"},
    {"residual", "", "!an empty layer name"},
    {"residual", "relu0,", "!an empty layer name"},
    {"residual", "!", "!an empty layer name"},
    {"lstm", "recurrent", "lstm@0 lstm@1 lstm@2"},
    {"lstm", "lstm", "lstm@0 lstm@1 lstm@2"}, /* the node's name means all its steps */
    {"lstm", "lstm@2", "lstm@2"},
    {"names", "again", "again"}, /* the name wins over the second node's */
    {"names", "f", "f"},
    {"silu", "si\\lu", "silu"},
};

static void test_selectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        px_model *model = probe_model(cases[i].model);
        const char *text = cases[i].text ? cases[i].text : "(default)";
        if (cases[i].chosen[0] == '!') {
            const char *message = probe_refusal(model, cases[i].text, NULL, NULL);
            if (strncmp(message, cases[i].chosen + 1, strlen(cases[i].chosen + 1)) != 0)
                fail_msg("'%s': %s", text, message);
        } else {
            px_probe *probe = probe_make(model, cases[i].text, NULL, NULL);
            px_text got = {0};
            for (size_t k = 0; k < px_probe_layer_count(probe); k++)
                px_text_format(&got, "%s%s", k > 0 ? " " : "", px_probe_layer(probe, k)->name);
            if (strcmp(px_text_get(&got), cases[i].chosen) != 0)
                fail_msg("'%s': %s", text, px_text_get(&got));
            px_text_done(&got);
            px_probe_free(probe);
        }
        px_model_free(model);
    }
}

static void test_other_options(void **state)
{
    (void)state;
    static const struct {
        const char *tap, *neurons, *message;
    } bad[] = {
        {"past", NULL, "--tap 'past' is not one of post, pre, pool"},
        {NULL, "pixel",
         "--neurons 'pixel' is not one of chan, chan-max, unit, chan-scaled, "
         "chan-rescaled, class-token, token-mean, token-max, deepxplore"},
        {"pre", "deepxplore", "--neurons deepxplore counts every output"},
    };
    px_model *model = probe_model("residual");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *message = probe_refusal(model, NULL, bad[i].tap, bad[i].neurons);
        if (strncmp(message, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("%s", message);
    }
    px_probe *probe = probe_make(model, NULL, "pre", "unit");
    assert_string_equal(px_probe_describe(probe),
                        "layers=hidden tap=pre neurons=unit: 3 layers, 432 neurons");
    px_probe_free(probe);
    px_model_free(model);
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: found */
        size_t layer;
        int64_t neuron;
    } names[] = {
        {"relu1:3", NULL, 1, 3},
        {"#2:0", NULL, 2, 0},
        {"conv1:1", NULL, 1, 1},
        {"relu1:4", "layer 'relu1' has neurons 0 to 3, not 4", 0, 0},
        {"relu1:-1", "layer 'relu1' has neurons 0 to 3, not -1", 0, 0},
        {"relu1", "'relu1' does not name a neuron; write LAYER:INDEX", 0, 0},
        {"relu1:", "'relu1:' does not name a neuron", 0, 0},
        {"relu1:1x", "'relu1:1x' does not name a neuron", 0, 0},
        {"relu7:1", "no layer is called 'relu7'; did you mean 'relu0'?", 0, 0},
        {"logits:1", "layer 'logits' is not among the chosen ones", 0, 0},
    };
    px_model *model = probe_model("residual");
    px_probe *probe = probe_make(model, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t layer = 99;
        int64_t neuron = 99;
        px_error err = {0};
        const px_status status = px_probe_find(probe, names[i].text, &layer, &neuron, &err);
        if (names[i].message
                ? status != PX_E_USAGE ||
                      strncmp(err.message, names[i].message, strlen(names[i].message)) != 0
                : status != PX_OK || layer != names[i].layer || neuron != names[i].neuron)
            fail_msg("'%s': layer %zu neuron %lld %s", names[i].text, layer, (long long)neuron,
                     err.message);
    }
    px_probe_free(probe);
    px_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_other_options),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
