/* src/generate/engines.h - every engine of px_fuzz
 *
 * To add one: end its file with `const pxi_fuzz_engine pxi_fuzz_engine_ID = {...};` and add X(ID).
 */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PXI_GENERATE_ENGINES_H
#define PXI_GENERATE_ENGINES_H

#include "generate/fuzz_internal.h"

#define PXI_FUZZ_ENGINES(X) \
    X(loop)                 \
    X(deepxplore)           \
    X(dlfuzz)               \
    X(adapt)                \
    X(deepsensor)

#define PXI_FUZZ_ENGINE_DECLARE(id) extern const pxi_fuzz_engine pxi_fuzz_engine_##id;
PXI_FUZZ_ENGINES(PXI_FUZZ_ENGINE_DECLARE)
#undef PXI_FUZZ_ENGINE_DECLARE

/* Published policies of `loop`; X(ID) as well. */
#define PXI_FUZZ_POLICIES(X) X(deephunter) X(nlc) X(nsgen) X(tensorfuzz)

#endif
