/* fuzz/fuzz_bank.c - banks of descriptions: JSON lines from strangers */
/* SPDX-License-Identifier: Apache-2.0 */
#include "describe/bank_internal.h"

#include <internal/bank.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    px_bank *bank = NULL;
    px_error err = {0};
    if (pxi_bank_parse((const char *)bytes, size, "fuzz", &bank, &err) != PX_OK) {
        if (!strstr(err.message, "'fuzz'"))
            abort();
        return 0;
    }
    for (size_t i = 0; i < px_bank_count(bank); i++) {
        const px_bank_unit *u = px_bank_get(bank, i);
        if (px_bank_find(bank, u->layer, u->unit) != u || !px_bank_shown(u) ||
            u->label_count > PX_BANK_LABELS || strlen(u->phrase) > size)
            abort();
    }
    px_text text = {0};
    px_bank_gates_text(bank, &text);
    for (int i = 0; i < PX_BANK_SENTENCES; i++)
        free(px_bank_sentence(bank, i));
    if (px_bank_id(bank) != px_bank_id(bank) || !strstr(px_text_get(&text), "verdict: "))
        abort();
    px_text_done(&text);
    px_bank_free(bank);
    return 0;
}
