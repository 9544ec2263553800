/* src/cli/list_mutations.h - the lists of mutations and of sets of them */
#ifndef PLEXOR_CLI_LIST_MUTATIONS_H
#define PLEXOR_CLI_LIST_MUTATIONS_H

#include <plexor/json.h>

void list_print_mutations(void);
void list_json_mutations(px_json *json);

#endif
