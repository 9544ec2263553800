/* src/cover/settings.h - settings of criteria as texts */
#ifndef PXI_COVER_SETTINGS_H
#define PXI_COVER_SETTINGS_H

#include "base/param_texts.h"

#include <plexor/cover.h>

#endif
