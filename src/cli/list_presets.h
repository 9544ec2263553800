/* src/cli/list_presets.h - published settings by name: presets of criteria, policies of fuzzers */
#ifndef PLEXOR_CLI_LIST_PRESETS_H
#define PLEXOR_CLI_LIST_PRESETS_H

#include <plexor/json.h>

void list_print_presets(void);
void list_json_presets(px_json *json);
void list_print_policies(void);
void list_json_policies(px_json *json);

#endif
