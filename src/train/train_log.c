/* src/train/train_log.c - the history of a run, in memory and as a file */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include "base/file.h"
#include "base/memory.h"

#include <internal/text.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A title is as wide as its column, since rows are shown as they come. */
const px_field px_train_epoch_fields[PXI_HISTORY_COLUMNS + 1] = {
    PX_FIELD(px_train_epoch, epoch, "epoch", "from 1", .title = "EPOCH"),
    PX_FIELD(px_train_epoch, lr, "lr", "learning rate of its last step", .title = "        LR",
             .format = "%.3g"),
    PX_FIELD(px_train_epoch, loss, "loss", "mean over the training inputs as they came",
             .title = "     LOSS", .format = "%.4f"),
    PX_FIELD(px_train_epoch, accuracy, "train_accuracy", "of these inputs, attacked where they are",
             .title = "  ACCURACY", .unit = PX_SHARE, .format = "%.2f%%"),
    PX_FIELD(px_train_epoch, test_loss, "test_loss", "null: was not measured",
             .title = "  TEST LOSS", .format = "%.4f"),
    PX_FIELD(px_train_epoch, test_accuracy, "test_accuracy", "null: was not measured",
             .title = "     TEST", .unit = PX_SHARE, .format = "%.2f%%"),
    PX_FIELD(px_train_epoch, seconds, "seconds", "of training steps", .unit = "s"),
    PX_FIELD(px_train_epoch, images_per_s, "images_per_s", "in training", .title = "    IMAGES/S",
             .format = ","),
    PX_FIELDS_END,
};

void pxi_history_row(const px_train_epoch *epoch, double row[PXI_HISTORY_COLUMNS])
{
    const double values[PXI_HISTORY_COLUMNS] = {
        (double)epoch->epoch, epoch->lr,           epoch->loss,
        epoch->accuracy,      epoch->test_loss,    epoch->test_accuracy,
        epoch->seconds,       epoch->images_per_s,
    };
    memcpy(row, values, sizeof values);
}

void pxi_history_read(const double row[PXI_HISTORY_COLUMNS], px_train_epoch *epoch)
{
    *epoch = (px_train_epoch){
        .epoch = (int64_t)row[0],
        .lr = row[1],
        .loss = row[2],
        .accuracy = row[3],
        .test_loss = row[4],
        .test_accuracy = row[5],
        .seconds = row[6],
        .images_per_s = row[7],
    };
}

px_status pxi_history_reserve(px_trainer *t, size_t count, px_error *err)
{
    PX_TRY(PX_GROW(t->history, t->history_room, count, err));
    return PX_OK;
}

/* What is not a number is left out in CSV and null in JSON. */
static void log_value(px_text *text, size_t column, double value, bool json)
{
    char number[PX_REAL_TEXT];
    if (json)
        px_text_format(text, "%s\"%s\": ", column ? ", " : "{", px_train_epoch_fields[column].key);
    else if (column)
        px_text_add(text, ",");
    if (column == 0)
        px_text_format(text, "%" PRId64, (int64_t)value);
    else if (isfinite(value))
        px_text_add(text, px_real_text(value, number));
    else if (json)
        px_text_add(text, "null");
}

px_status px_train_log_save(const char *path, const px_train_epoch *history, size_t count,
                            px_error *err)
{
    const char *dot = strrchr(path, '.');
    const bool json = dot && strcmp(dot, ".jsonl") == 0;
    if (!json && !(dot && strcmp(dot, ".csv") == 0))
        return px_fail(err, PX_E_USAGE, "'%s': a log's name ends in .csv or .jsonl", path);
    px_text text = {0};
    for (size_t c = 0; c < PXI_HISTORY_COLUMNS && !json; c++)
        px_text_format(&text, "%s%s", c ? "," : "", px_train_epoch_fields[c].key);
    if (!json)
        px_text_add(&text, "\n");
    for (size_t i = 0; i < count; i++) {
        double row[PXI_HISTORY_COLUMNS];
        pxi_history_row(&history[i], row);
        for (size_t c = 0; c < PXI_HISTORY_COLUMNS; c++)
            log_value(&text, c, row[c], json);
        px_text_add(&text, json ? "}\n" : "\n");
    }
    px_status status = PX_OK;
    if (px_text_failed(&text))
        status = pxi_no_memory_for(err, "'%s'", path);
    else
        status = pxi_file_write(path, px_text_get(&text), text.length, err);
    px_text_done(&text);
    return status;
}
