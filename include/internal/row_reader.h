/* include/internal/row_reader.h - rows of all extractors from one forward pass */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_INTERNAL_ROW_READER_H
#define PXI_INTERNAL_ROW_READER_H

#include <plexor/cover.h>
#include <plexor/text.h>

typedef struct pxi_row_set { /* the extractors of a run together; immutable, shared */
    const px_model *model;
    px_extractor *const *extractors; /* borrowed */
    size_t count;
    bool has_scores; /* a classifier, or verdicts in place of classes */
    int classes;     /* 0: none that mean anything */
    bool confidence; /* set after init by who wants it in the facts: costs a softmax per input */
    px_scores scores;
    const struct px_regression *regression; /* NULL: it classifies */
    int *observe, *keep; /* what a plan must give, each value once; keep has the scores */
    size_t observe_count, keep_count;
    bool *looks; /* [count][values of the graph] */
    size_t value_count;
} pxi_row_set;

px_status pxi_row_set_init(pxi_row_set *set, const px_model *model, px_extractor *const *extractors,
                           size_t count, px_error *err);
void pxi_row_set_done(pxi_row_set *set);

/* How many rows of that width are observed at a time: a block, halved until it is not too large. So
 * it is a power of two, and whatever a criterion adds up piece by piece depends on nothing else. */
int64_t pxi_row_piece(int64_t width);

struct px_reader {
    const pxi_row_set *set;
    int64_t batch;           /* of the plan */
    int64_t room;            /* facts: a block's, or a batch's */
    int64_t filled;          /* rows of the last public forward */
    struct px_arena *memory; /* of what is one array */
    int64_t *capacity;       /* rows per extractor */
    float **rows;
    bool **rejected;
    void **scratch;
    double *seconds; /* per extractor: what it took */
    double forward_seconds;
    px_input_facts *facts;
    int64_t *predictions; /* of a batch */
    bool *bad;            /* of a batch: its numbers or its scores are not finite */
    double *losses;       /* of the predicted classes */
    int64_t at, samples;  /* where the running forward pass writes to */
};

/* `block`: rows for blocks that are read piece by piece; else for one batch. */
px_status pxi_reader_new(const pxi_row_set *set, int64_t batch, bool block, px_reader **out,
                         px_error *err);

/* Runs the session and fills rows at..at+samples-1 of the block; the rows of an extractor lie at
 * their place modulo its capacity. The facts' index and label must be there. */
px_status pxi_reader_read(px_reader *reader, px_session *session, int64_t at, int64_t samples,
                          px_error *err);

/* What the last public forward left, for another rank's reader of the same set. */
void pxi_reader_pack(const px_reader *reader, px_text *to);
/* False: there are not so many bytes. Moves on behind what it took. */
bool pxi_reader_unpack(px_reader *reader, const char **bytes, size_t *size);

/* Rows first..first+count-1 of the block, which must lie in one piece. */
px_rows pxi_reader_rows(const px_reader *reader, size_t extractor, int64_t first, int64_t count);

#endif
