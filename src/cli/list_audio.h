/* src/cli/list_audio.h - plexor list audio */
#ifndef PLEXOR_CLI_LIST_AUDIO_H
#define PLEXOR_CLI_LIST_AUDIO_H

#include <plexor/json.h>

void list_print_audio(void);
void list_json_audio(px_json *json);

#endif
