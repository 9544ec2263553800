/* src/cli/list_gates.h - plexor list gates */
#ifndef PLEXOR_CLI_LIST_GATES_H
#define PLEXOR_CLI_LIST_GATES_H

#include <plexor/json.h>

void list_print_gates(void);
void list_json_gates(px_json *json);

#endif
