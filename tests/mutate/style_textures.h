/* tests/mutate/style_textures.h - the generated style pictures, of which plexor has statistics */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_STYLE_TEXTURES_H
#define TESTS_STYLE_TEXTURES_H

#include <plexor/mutate.h>

void style_texture(size_t i, uint8_t planes[3 * PX_STYLE_SIDE * PX_STYLE_SIDE]); /* RGB */

#endif
