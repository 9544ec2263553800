/* tests/mutate/test_mutation_golden.c - against make_golden.py's numpy, on pictures of many shapes
 */
#include "base/memory.h"
#include "mutate_helpers.h"

#include <internal/mutate.h>
#include <stdlib.h>

#include "mutation_golden.h"

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < PX_LEN(golden); i++) {
        const px_drawn drawn = parsed(golden[i].text);
        for (size_t s = 0; s < PX_LEN(golden_shapes); s++) {
            const int c = golden_shapes[s][0], h = golden_shapes[s][1], w = golden_shapes[s][2];
            const size_t size = (size_t)(c * h * w);
            uint8_t *in = malloc(size), *out = malloc(size); /* exact, for AddressSanitizer */
            assert_non_null(in);
            assert_non_null(out);
            picture(c, h, w, in);
            assert_int_equal(px_mutation_apply(&drawn, in, out, h, w, c, NULL), PX_OK);
            const uint64_t sum = fnv(FNV_START, out, size);
            if (sum != golden[i].sum[s])
                fail_msg("'%s' on [%d,%d,%d]: %016llx, not %016llx; compare with 'make_golden.py "
                         "\"%s\" %d %d %d'",
                         golden[i].text, c, h, w, (unsigned long long)sum,
                         (unsigned long long)golden[i].sum[s], golden[i].text, c, h, w);
            free(in);
            free(out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
