/* src/cli/fuzz_guide.h - --guide nsgen: paths, words and tau for a campaign */
#ifndef PLEXOR_FUZZ_GUIDE_H
#define PLEXOR_FUZZ_GUIDE_H

#include "cli/cli_cover.h"
#include "cli/cli_paths.h"

#include <plexor/fuzz.h>

typedef struct fuzz_guide_args {
    const char *bank, *encoder, *threshold, *compare;
} fuzz_guide_args;

#define FUZZ_GUIDE_OPTIONS(g)                                                                     \
    CLI_STRING(0, "bank", &(g)->bank, "FILE",                                                     \
               "of --guide nsgen: words of the units, from 'plexor describe'"),                   \
        CLI_STRING(0, "encoder", &(g)->encoder, "SPEC",                                           \
                   "likewise: what turns texts into vectors; see 'plexor embed'"),                \
        CLI_STRING(0, "threshold", &(g)->threshold, "FILE",                                       \
                   "likewise: tau, from 'plexor calibrate'; without it tau is found first, from " \
                   "50 training inputs"),                                                         \
        CLI_STRING(0, "compare", &(g)->compare, "parent|root",                                    \
                   "likewise: with the path of the input that was changed, or of its seed")

typedef struct fuzz_guide {
    cli_path_tools tools;
    px_threshold threshold;
    px_fuzz_paths by;
} fuzz_guide;

/* Everything that the campaign needs, with the threshold that it has already, if it has one.
 * fuzz_guide_close() in any case. */
px_status fuzz_guide_open(const cli_command *self, const fuzz_guide_args *args, px_path_mode mode,
                          const cli_data *data, const cli_neurons *neurons,
                          const cli_training *training, const cli_workers *workers,
                          const px_model *model, const cli_inputs *inputs,
                          const px_campaign *campaign, fuzz_guide *out, px_error *err);
/* The same without a campaign: `by` is not filled. */
px_status fuzz_guide_tools_open(const cli_command *self, const fuzz_guide_args *args,
                                const cli_data *data, const cli_neurons *neurons,
                                const cli_training *training, const cli_workers *workers,
                                const px_model *model, const cli_inputs *inputs, fuzz_guide *out,
                                px_error *err);
void fuzz_guide_close(fuzz_guide *guide);

#endif
