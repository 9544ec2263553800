/* src/attribute/path_tools.c - a bank, paths, an encoder and a judge, opened to go together */
/* SPDX-License-Identifier: Apache-2.0 */
#include <internal/bank.h>
#include <internal/decision_path.h>
#include <internal/text_encoder.h>

#include "base/memory.h"

#include <plexor/predict.h>
#include <stdlib.h>

px_path_tools_options px_path_tools_options_default(void)
{
    return (px_path_tools_options){.paths = px_paths_options_default(),
                                   .classes = px_path_words_default().classes};
}

static px_status tools_names(px_path_tools *tools, const px_model *model, const px_dataset *set,
                             px_error *err)
{
    const int classes = px_paths_scores(tools->paths)->classes;
    PX_TRY(PX_NEW(tools->names, classes, err));
    tools->name_count = (size_t)classes;
    for (int c = 0; c < classes; c++) {
        char number[PX_CLASS_NUMBER];
        const char *name = px_predict_class_name(model, set, c, number);
        if (name != number) /* which is no name */
            PX_TRY(PX_DUP(tools->names[c], name, err));
    }
    return PX_OK;
}

static px_status tools_judge(px_path_tools *tools, const px_path_tools_options *o, px_error *err)
{
    const char *const *names = (const char *const *)tools->names;
    if (tools->bank) {
        px_text_encoder_options options = px_text_encoder_options_default();
        options.spec = o->encoder;
        PX_TRY(px_path_encoder_open(tools->bank, names, tools->name_count, &options,
                                    &tools->encoder, err));
    }
    return px_path_judge_new(tools->paths, tools->encoder, names, tools->name_count, &tools->words,
                             &tools->judge, err);
}

px_status px_path_tools_open(const px_model *model, const px_dataset *set, const px_preprocess *pre,
                             const px_path_tools_options *o, px_path_tools *out, px_error *err)
{
    const px_shape sample = px_dataset_shape(set);
    px_paths_options paths = o->paths;
    *out = (px_path_tools){.words = px_path_words_default()};
    out->words.classes = o->classes;
    if (o->encoder && !o->bank)
        return px_fail(err, PX_E_USAGE,
                       "--encoder compares words, and without a --bank units have none");
    if (o->bank)
        PX_TRY(px_bank_load(o->bank, &out->bank, err));
    paths.bank = out->bank;
    PX_TRY(px_paths_new(model, &sample, pre, &paths, &out->paths, err));
    PX_TRY(tools_names(out, model, set, err));
    if (o->note && !out->bank)
        o->note(o->context, "no --bank: units are called by layer and number, and paths are "
                            "compared by the units they share");
    if (o->note && out->bank && px_bank_verdict(out->bank) == PX_NOT_VALIDATED)
        o->note(o->context, px_bank_validation(out->bank));
    return tools_judge(out, o, err);
}

void px_path_tools_close(px_path_tools *tools)
{
    px_path_judge_free(tools->judge);
    px_text_encoder_free(tools->encoder);
    px_paths_free(tools->paths);
    px_bank_free(tools->bank);
    for (size_t i = 0; i < tools->name_count; i++)
        free(tools->names[i]);
    free(tools->names);
    *tools = (px_path_tools){0};
}
