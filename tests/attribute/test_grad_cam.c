/* tests/attribute/test_grad_cam.c - maps of classes and units (LGR G.3), and their colours */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan_helpers.h"

#include <internal/decision_path.h>
#include <string.h>

static void test_worked(void **state)
{
    (void)state;
    static const float a[] = {1, 0, 2, 1, 0, 3, 1, 0};
    static const float g[] = {0.1f, 0.2f, 0, 0.1f, -0.4f, 0, 0, -0.2f};
    static const float want[] = {0.1f, 0.0f, 0.05f, 0.1f};
    float map[4];
    px_grad_cam(a, g, 2, 4, map);
    for (int i = 0; i < 4; i++)
        assert_float_equal(map[i], want[i], 1e-7);
}

/* A network of one convolution, average pooling and a dense layer: there Grad-CAM is CAM, but for
 * what is below zero and a factor of the number of places. */
static void test_network(void **state)
{
    (void)state;
    net n;
    net_init(&n, 3, "1,2,5,7");
    int y = net_add(&n, "Conv", "pads=1,1,1,1", IN(V(n.x), {.weight = "6,2,3,3"}, {.weight = "6"}));
    y = net_add(&n, "Relu", "", IN(V(y)));
    y = net_add(&n, "GlobalAveragePool", "", IN(V(y)));
    y = net_add(&n, "Flatten", "", IN(V(y)));
    y = net_add(&n, "Gemm", "transB=1", IN(V(y), {.weight = "3,6"}, {.weight = "3"}));
    px_model *model = net_take(&n, y);
    const px_tensor *dense = px_model_graph(model)->values[net_weight(model, 2)].constant;
    const px_shape sample = {.rank = 3, .dim = {2, 5, 7}};
    px_paths_options options = px_paths_options_default();
    options.threads = 2;
    px_paths *paths = NULL;
    px_error err = {0};
    px_path path;
    float x[70], maps[6][35], grad_cam[35], cam[35];
    net_fill(x, 70, 8, -1.0, 1.0);
    check(px_paths_new(model, &sample, NULL, &options, &paths, &err), &err, "new");
    assert_int_equal(px_paths_layer(paths, 0)->height, 5);
    assert_int_equal(px_paths_layer(paths, 0)->width, 7);
    check(px_paths_run(paths, x, (int64_t[]){1}, 1, &path, NULL, &err), &err, "run");
    for (int u = 0; u < 6; u++) {
        px_path other = path;
        other.step[0].unit = u;
        check(px_paths_map(paths, x, &other, 0, PX_PATH_MAP_UNIT, maps[u], &err), &err, "unit");
    }
    check(px_paths_map(paths, x, &path, 0, PX_PATH_MAP_GRAD_CAM, grad_cam, &err), &err, "cam");
    for (int i = 0; i < 35; i++) { /* CAM (Zhou et al., CVPR 2016) */
        cam[i] = 0.0f;
        for (int u = 0; u < 6; u++)
            cam[i] += ((const float *)dense->data)[6 + u] * maps[u][i];
    }
    bool some = false;
    for (int i = 0; i < 35; i++) {
        const double want = cam[i] < 0.0f ? 0.0 : (double)cam[i] / 35.0;
        some = some || want > 0.0;
        if (!(fabs((double)grad_cam[i] - want) < 1e-6))
            fail_msg("place %d: %g instead of %g", i, (double)grad_cam[i], want);
    }
    assert_true(some);
    path.step[0].unit = -1; /* left out: no map */
    check(px_paths_map(paths, x, &path, 0, PX_PATH_MAP_UNIT, cam, &err), &err, "unit");
    for (int i = 0; i < 35; i++)
        assert_true(cam[i] == 0.0f);
    assert_int_equal(px_paths_map(paths, x, &path, 1, PX_PATH_MAP_UNIT, cam, &err), PX_E_USAGE);
    px_paths_free(paths);
    px_model_free(model);
}

static void test_render(void **state)
{
    (void)state;
    static const float map[] = {0, 1, 2, 4}, flat[] = {3, 3, 3, 3}, odd[] = {NAN, 1, 2, 4};
    static const uint8_t grey[] = {0, 100, 200, 255};
    static const uint8_t colour[] = {0, 0, 0, 100, 100, 100, 200, 200, 200, 255, 255, 255};
    uint8_t a[12], b[12];
    px_error err = {0};
    check(px_path_map_render(map, 2, 2, grey, 2, 2, 1, a, &err), &err, "grey");
    check(px_path_map_render(map, 2, 2, colour, 2, 2, 3, b, &err), &err, "colour");
    assert_memory_equal(a, b, sizeof a);
    assert_true(a[2] > a[0]);                 /* the least: blue over black */
    assert_true(a[9] > a[11]);                /* the largest: red over white */
    assert_true(a[9] >= 127 && a[11] <= 128); /* half and half */
    check(px_path_map_render(flat, 2, 2, grey, 2, 2, 1, b, &err), &err, "flat");
    for (int i = 0; i < 3; i++)
        assert_int_equal(b[i], a[i]); /* a constant map is 0 everywhere */
    check(px_path_map_render(odd, 2, 2, grey, 2, 2, 1, b, &err), &err, "odd");
    assert_int_equal(px_path_map_render(map, 2, 2, grey, 2, 2, 2, b, &err), PX_E_USAGE);
    assert_int_equal(px_path_map_render(map, 0, 2, grey, 2, 2, 1, b, &err), PX_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_render),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
