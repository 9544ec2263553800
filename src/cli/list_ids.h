/* src/cli/list_ids.h - the ids of a list, for 'plexor list WHAT --ids' and for shells */
#ifndef PLEXOR_CLI_LIST_IDS_H
#define PLEXOR_CLI_LIST_IDS_H

#include <plexor/text.h>
#include <stddef.h>

const char *list_name(size_t i); /* NULL: there are no more lists */
/* Adds the ids of a list, each with `before` in front. What is no id but says what form a word
 * has, as FOLDER, is left out. */
void list_add_ids(const char *list, const char *before, px_text *out);

/* The i-th id of what is registered; NULL: there are no more. */
const char *list_id_operator(size_t i);
const char *list_id_arch(size_t i);
const char *list_id_preset(size_t i);
const char *list_id_measure(size_t i);
const char *list_id_mutation(size_t i);
const char *list_id_policy(size_t i);
const char *list_id_metric(size_t i);
const char *list_id_gate(size_t i);
const char *list_id_study(size_t i);
const char *list_id_recipe(size_t i);
const char *list_id_audio(size_t i);
const char *list_id_preprocess(size_t i);

#endif
