/* src/train/facts.c - what decides the result of a run, as words that a checkpoint can carry */
#include "train/trainer.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdarg.h>
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

PX_PRINTF(4, 5)
static void fact_add(px_trainer *t, bool *room, const char *key, const char *format, ...)
{
    px_text value = {0};
    va_list args;
    char buffer[512];
    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    px_text_add(&value, buffer);
    if (pxi_grow(&t->facts, &t->fact_room, t->fact_count + 1, sizeof *t->facts) == 0) {
        const px_property fact = {pxi_strdup(key), px_text_take(&value)};
        t->facts[t->fact_count++] = fact;
        *room = *room && fact.key && fact.value;
    } else {
        *room = false;
    }
    px_text_done(&value);
}

static void fact_add_real(px_trainer *t, bool *room, const char *key, double value)
{
    char text[PX_REAL_TEXT];
    fact_add(t, room, key, "%s", px_real_text(value, text));
}

/* The caller's come first: they are in the words of the one who will read about a difference. */
px_status pxi_facts_make(px_trainer *t, px_error *err)
{
    const px_trainer_options *o = &t->o;
    bool room = true;
    for (size_t i = 0; i < o->fact_count; i++)
        fact_add(t, &room, o->facts[i].key, "%s", o->facts[i].value);
    fact_add(t, &room, "network", "%016" PRIx64, px_model_hash(o->model));
    fact_add(t, &room, "loss", "%s", o->loss);
    fact_add_real(t, &room, "label smoothing", t->loss.smoothing);
    fact_add(t, &room, "optimizer", "%s", px_optimizer_spec(t->optimizer));
    fact_add(t, &room, "schedule", "%s", o->schedule);
    fact_add_real(t, &room, "lr", o->lr);
    fact_add(t, &room, "epochs", "%" PRId64, o->epochs);
    fact_add_real(t, &room, "clip", o->clip);
    fact_add(t, &room, "freeze", "%s", o->freeze ? o->freeze : "");
    fact_add(t, &room, "norms", "%s", o->freeze_norms ? "frozen" : "trained");
    fact_add(t, &room, "micro-batch", "%" PRId64, px_plan_batch(t->plan));
    fact_add(t, &room, "seed", "%" PRIu64, o->seed);
    fact_add(t, &room, "evaluation every", "%" PRId64, o->eval_every);
    fact_add(t, &room, "weights kept", "%s", o->keep_best ? "best" : "last");
    fact_add(t, &room, "retries", "%d", o->retries);
    fact_add_real(t, &room, "accuracy to stop at", o->until_accuracy);
    fact_add(t, &room, "training data", "%016" PRIx64, px_feeder_hash(o->feeder));
    fact_add(t, &room, "test data", "%016" PRIx64, o->test.set ? px_dataset_hash(o->test.set) : 0);
    return room ? PX_OK : px_fail(err, PX_E_NOMEM, "out of memory");
}
