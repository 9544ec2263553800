/* src/cli/list_preprocess.h - plexor list preprocess */
#ifndef PLEXOR_CLI_LIST_PREPROCESS_H
#define PLEXOR_CLI_LIST_PREPROCESS_H

#include <plexor/json.h>

void list_print_preprocess(void);
void list_json_preprocess(px_json *json);

#endif
