/* src/cli/cmd_index.c - plexor index SPEC: a large data set is listed once */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli_fields.h"

#include <internal/data_index.h>
#include <inttypes.h>

static const px_field index_fields[] = {
    PX_CHARS(px_index_made, path, "output", "the index"),
    PX_CHARS(px_index_made, kind, "kind", "of data: pictures in class folders, or shards"),
    PX_FIELD(px_index_made, count, "count", "inputs"),
    PX_FIELD(px_index_made, class_count, "classes", "that the data have; 0: they have no labels"),
    PX_FIELD(px_index_made, parts, "parts", "folders or tar files that are watched for changes"),
    PX_FIELD(px_index_made, bytes, "bytes", "of the index"),
    PX_FIELD(px_index_made, seconds, "seconds", "it took"),
    PX_FIELDS_END,
};

static void index_print(const void *of)
{
    const px_index_made *made = of;
    char a[CLI_NUMBER_TEXT], b[CLI_NUMBER_TEXT], c[CLI_NUMBER_TEXT];
    cli_print("%s: %s inputs (%s) in %s parts, %d classes, %s bytes; %.1f s\n", made->path,
              cli_number(made->count, a), made->kind, cli_number(made->parts, b), made->class_count,
              cli_number(made->bytes, c), made->seconds);
}

static int index_run(const cli_command *self, int argc, char **argv)
{
    const char *spec = NULL, *split = NULL;
    const cli_option options[] = {
        CLI_STRING(0, "split", &split, "NAME",
                   "of data with splits: the one that commands will ask for by this name; the "
                   "default one if not given"),
        CLI_OUTPUT_OPTIONS,
        CLI_END,
    };
    px_error err = {0};
    px_index_made made;
    CLI_TRY(cli_parse(self, argc, argv, options, &spec, 1, 1));
    const px_status status =
        px_data_index(spec, split, cli_tick, CLI_WORDS("reading shards"), &made, &err);
    return cli_answer(self, status, &err, &made, index_print);
}

const cli_command cli_command_index = {
    .name = "index",
    .usage = "SPEC [options]",
    .help = "list a large data set once, so that it opens fast and takes no memory",
    .details =
        "For class folders with very many pictures, and for tar shards as WebDataset makes them. "
        "The index has the name, place, size and label of every input. It lies beside the data, "
        "FOLDER.plexor-index, or, where nobody may write there, in $PLEXOR_CACHE, "
        "$XDG_CACHE_HOME/plexor or ~/.cache/plexor, and every command that opens the data finds "
        "it there. Results are the same with it and without.\n"
        "\n"
        "An index that is older than a folder or a tar file of its data is not used, and that is "
        "said: make it anew then. A file that is written again under its name is not noticed; it "
        "is read as it is.",
    .examples = "plexor index imagenet --split train\n"
                "plexor index 'laion/shard-{000000..000099}.tar'\n",
    .run = index_run,
    .result = index_fields,
};
