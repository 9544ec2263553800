/* src/describe/captioner_internal.h - what a captioner is made of */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_DESCRIBE_CAPTIONER_INTERNAL_H
#define PXI_DESCRIBE_CAPTIONER_INTERNAL_H

#include "describe/caption_net.h"
#include "text/vocabulary.h"

#include <internal/captioner.h>
#include <plexor/data.h>

struct px_captioner {
    pxi_wordlist vocabulary;
    pxi_caption_sizes sizes;
    pxi_net decoder, language;
    float *decoder_weights, *language_weights;
    pxi_standard standard;
    px_caption_decoding decoding; /* without threads */
    char *note;                   /* NULL: none */
};

/* captioner.c: networks and memory for these sizes; the vocabulary is taken over, in any case. */
px_status pxi_captioner_new(pxi_wordlist *vocabulary, const pxi_caption_sizes *sizes,
                            px_captioner **out, px_error *err);
px_status pxi_decoding_check(const px_caption_decoding *decoding, px_error *err);
/* PX_E_INPUT names the unit where a number is not finite. */
px_status pxi_features_check(const float *features, size_t unit, size_t k, size_t size,
                             px_error *err);

/* caption_file.c: of an open file, for px_captioner_load() and the fuzz target. */
px_status pxi_captioner_read(const px_npz *from, px_captioner **out, px_error *err);

#endif
