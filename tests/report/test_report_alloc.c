/* tests/report/test_report_alloc.c - a report when memory runs out */
/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_alloc.h"

#include <internal/report.h>
#include <stdlib.h>

static px_status make(const void *context, px_error *err)
{
    (void)context;
    px_sprites *sprites = NULL;
    px_json json = {0};
    char *html = NULL;
    size_t size = 0;
    int tile = 0;
    px_status status = px_sprites_new(3, 3, &sprites, err);
    for (int i = 0; status == PX_OK && i < 70; i++)
        status = px_sprites_add(sprites, &(px_pixels){1, 1, 1, &(uint8_t){(uint8_t)i}}, &tile, err);
    px_json_object(&json, NULL);
    px_json_array(&json, "sheets");
    px_json_object(&json, NULL);
    if (status == PX_OK)
        status = px_sprites_json(sprites, &json, err);
    px_json_end(&json);
    px_json_end(&json);
    px_json_end(&json);
    if (status == PX_OK)
        status = px_report_html(px_json_text(&json), &html, &size, err);
    free(html);
    px_json_done(&json);
    px_sprites_free(sprites);
    return status;
}

static void test_each_fails_in_turn(void **state)
{
    (void)state;
    fail_in_turn(make, NULL, 50, "a report");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
