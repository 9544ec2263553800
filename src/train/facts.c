/* src/train/facts.c - what decides the result of a training run, for its checkpoint */
/* SPDX-License-Identifier: Apache-2.0 */
#include "train/trainer.h"

#include "base/memory.h"

#include <internal/text.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void pxi_facts_free(px_trainer *t)
{
    for (size_t i = 0; i < t->fact_count; i++) {
        free((char *)t->facts[i].key);
        free((char *)t->facts[i].value);
    }
    free(t->facts);
    t->facts = NULL;
    t->fact_count = t->fact_room = 0;
}

static void fact_add(px_trainer *t, bool *room, const char *key, const char *value)
{
    if (pxi_grow(&t->facts, &t->fact_room, t->fact_count + 1, sizeof *t->facts) != 0) {
        *room = false;
        return;
    }
    const px_property fact = {pxi_strdup(key), pxi_strdup(value)};
    t->facts[t->fact_count++] = fact;
    *room = *room && fact.key && fact.value;
}

static void fact_add_real(px_trainer *t, bool *room, const char *key, double value)
{
    char text[PX_REAL_TEXT];
    fact_add(t, room, key, px_real_text(value, text));
}

static void fact_add_whole(px_trainer *t, bool *room, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    fact_add(t, room, key, text);
}

static void fact_add_hash(px_trainer *t, bool *room, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    fact_add(t, room, key, text);
}

/* The caller's come first: they are in the words of the one who will read about a difference. */
px_status pxi_facts_make(px_trainer *t, px_error *err)
{
    const px_trainer_options *o = &t->o;
    bool room = true;
    char adversary[PX_ADVERSARY_TEXT];
    for (size_t i = 0; i < o->fact_count; i++)
        fact_add(t, &room, o->facts[i].key, o->facts[i].value);
    fact_add_hash(t, &room, "network", px_model_hash(o->model));
    fact_add(t, &room, "loss", o->loss);
    fact_add_real(t, &room, "label smoothing", t->loss.smoothing);
    fact_add(t, &room, "optimizer", px_optimizer_spec(t->optimizer));
    fact_add(t, &room, "schedule", o->schedule);
    fact_add_real(t, &room, "lr", o->lr);
    fact_add_whole(t, &room, "epochs", o->epochs);
    fact_add_real(t, &room, "clip", o->clip);
    fact_add(t, &room, "freeze", o->freeze ? o->freeze : "");
    fact_add(t, &room, "norms",
             o->freeze_norms  ? "frozen"
             : o->micro_norms ? "of micro-batches"
                              : "trained");
    fact_add(t, &room, "adversary", px_adversary_text(&o->adversary, adversary));
    fact_add_whole(t, &room, "micro-batch", px_plan_batch(t->plan));
    fact_add_hash(t, &room, "seed", o->seed);
    fact_add_whole(t, &room, "evaluation every", o->eval_every);
    fact_add(t, &room, "weights kept", o->keep_best ? "best" : "last");
    fact_add_whole(t, &room, "retries", o->retries);
    fact_add_real(t, &room, "accuracy to stop at", o->until_accuracy);
    fact_add_hash(t, &room, "training data", px_feeder_hash(o->feeder));
    fact_add_hash(t, &room, "test data", o->test.set ? px_dataset_hash(o->test.set) : 0);
    return room ? PX_OK : pxi_no_memory(err);
}
