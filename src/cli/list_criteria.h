/* src/cli/list_criteria.h - the lists of criteria, selectors, attacks, presets and engines */
#ifndef PLEXOR_CLI_LIST_CRITERIA_H
#define PLEXOR_CLI_LIST_CRITERIA_H

#include <plexor/json.h>

void list_print_criteria(void);
void list_json_criteria(px_json *json);
void list_print_selectors(void);
void list_json_selectors(px_json *json);
void list_print_attacks(void);
void list_json_attacks(px_json *json);
void list_print_presets(void);
void list_json_presets(px_json *json);
void list_print_engines(void);
void list_json_engines(px_json *json);
void list_print_policies(void);
void list_json_policies(px_json *json);

#endif
