/* src/cover/presets.h - the papers' settings, as texts of --set */
#ifndef PXI_COVER_PRESETS_H
#define PXI_COVER_PRESETS_H

#include <plexor/cover.h>

extern const px_preset pxi_presets[];
extern const size_t pxi_preset_count;

#endif
