/* tests/data/test_dataset.c - CIFAR files, many threads, real data, through the front door */
/* SPDX-License-Identifier: Apache-2.0 */
#include "data/dataset_helpers.h"

#include <pthread.h>

/* --- CIFAR ----------------------------------------------------------------------------------- */

static void write_cifar(const char *path, int head, int records, int label)
{
    uint8_t record[2 + 3072];
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < records; i++) {
        memset(record, i, sizeof record);
        record[head - 1] = (uint8_t)(label + i);
        record[head + 1024] = 77; /* the first green pixel */
        fwrite(record, 1, (size_t)head + 3072, file);
    }
    fclose(file);
}

static void test_cifar(void **state)
{
    (void)state;
    static float pixels[3072];
    px_error err = {0};
    mkdir("c10", 0777);
    mkdir("c10/cifar-10-batches-bin", 0777);
    write_cifar("c10/cifar-10-batches-bin/data_batch_1.bin", 1, 3, 0);
    write_cifar("c10/cifar-10-batches-bin/data_batch_2.bin", 1, 2, 5);
    write_cifar("c10/cifar-10-batches-bin/test_batch.bin", 1, 2, 8);
    px_dataset *set = open_set("c10", NULL);
    assert_int_equal(px_dataset_count(set), 2);
    assert_string_equal(px_dataset_class_name(set, 9), "truck");
    px_dataset_close(set);
    const px_data_options train = {.split = "train"};
    set = open_set("c10", &train);
    assert_int_equal(px_dataset_count(set), 5);
    assert_int_equal(px_dataset_label(set, 4), 6);
    assert_int_equal(px_dataset_pixels(set, 4, pixels, &err), PX_OK);
    assert_true(pixels[0] == 1.0f && pixels[1024] == 77.0f && pixels[3071] == 1.0f);
    px_dataset_close(set);
    write_cifar("c10/cifar-10-batches-bin/test_batch.bin", 1, 3, 8); /* label 10 */
    refuse("c10", NULL, PX_E_INPUT, "label 10 of record 2");
    assert_int_equal(truncate("c10/cifar-10-batches-bin/test_batch.bin", 3000), 0);
    refuse("c10", NULL, PX_E_INPUT, "truncated");

    mkdir("c100", 0777);
    write_cifar("c100/test.bin", 2, 2, 98);
    write_text("c100/fine_label_names.txt", "apple\nfish\n");
    set = open_set("c100", NULL);
    assert_int_equal(px_dataset_class_count(set), 100);
    assert_int_equal(px_dataset_label(set, 1), 99);
    assert_string_equal(px_dataset_class_name(set, 1), "fish");
    px_dataset_close(set);
}

/* --- threads, real data ---------------------------------------------------------------------- */

typedef struct reader {
    const px_dataset *set;
    double sum;
} reader;

static void *read_all(void *context)
{
    reader *r = context;
    float pixels[28 * 28];
    for (int64_t i = 0; i < px_dataset_count(r->set); i++) {
        if (px_dataset_pixels(r->set, i, pixels, NULL) != PX_OK)
            return NULL;
        for (int k = 0; k < 12; k++)
            r->sum += (double)pixels[k];
    }
    return r;
}

static void test_many_threads(void **state)
{
    (void)state;
    write_folders("par");
    assert_true(run_python("import zipfile, os\n"
                           "with zipfile.ZipFile('par.zip', 'w', 8) as z:\n"
                           "  for d, _, fs in os.walk('par'):\n"
                           "    for f in fs: z.write(os.path.join(d, f))\n"));
    static const char *const specs[] = {"par", "par.zip", "digits"};
    for (size_t s = 0; s < COUNT(specs); s++) {
        const px_data_options options = {.limit = 200};
        px_dataset *set = open_set(specs[s], &options);
        pthread_t threads[4];
        reader readers[4];
        for (int i = 0; i < 4; i++) {
            readers[i] = (reader){set, 0.0};
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            void *result = NULL;
            pthread_join(threads[i], &result);
            assert_non_null(result);
            assert_true(readers[i].sum == readers[0].sum);
        }
        px_dataset_close(set);
    }
}

static void test_real_cifar_archive(void **state)
{
    (void)state;
    static const int64_t counts[] = {10000, 50000};
    static const char *const splits[] = {"test", "train"};
    static float pixels[3072];
    char path[512];
    px_error err = {0};
    if (!shared_path("data/cifar10/cifar10-jpeg.tar.xz", path, sizeof path))
        skip();
    for (int s = 0; s < 2; s++) {
        const px_data_options options = {.split = splits[s]};
        int seen[10] = {0};
        px_dataset *set = open_set(path, &options);
        assert_int_equal(px_dataset_count(set), counts[s]);
        assert_string_equal(px_dataset_class_name(set, 0), "airplane");
        for (int64_t i = 0; i < counts[s]; i++)
            seen[px_dataset_label(set, i)]++;
        for (int c = 0; c < 10; c++)
            assert_int_equal(seen[c], counts[s] / 10);
        for (int i = 0; i < 10; i++)
            assert_int_equal(px_dataset_pixels(set, i, pixels, &err), PX_OK);
        px_dataset_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cifar),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_real_cifar_archive),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
