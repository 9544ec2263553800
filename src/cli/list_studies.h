/* src/cli/list_studies.h - the list of studies, their parts and their data */
#ifndef PLEXOR_CLI_LIST_STUDIES_H
#define PLEXOR_CLI_LIST_STUDIES_H

#include <plexor/json.h>

void list_print_studies(void);
void list_json_studies(px_json *json);

#endif
