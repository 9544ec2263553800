/* src/cli/list_metrics.h - plexor list metrics */
#ifndef PLEXOR_CLI_LIST_METRICS_H
#define PLEXOR_CLI_LIST_METRICS_H

#include <plexor/json.h>

void list_print_metrics(void);
void list_json_metrics(px_json *json);

#endif
