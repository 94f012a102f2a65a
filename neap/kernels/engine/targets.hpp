// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are compiled for: AVX-512 ("avx512"), AVX2
// with FMA ("avx2"), SSE4 ("sse4"), NEON ("neon"), and what every processor of
// the architecture has ("baseline"). Include this before any Highway header, so
// that all kernels are built for the same sets.
#pragma once

#define HWY_DISABLED_TARGETS \
  (~(HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | HWY_NEON | HWY_EMU128 | HWY_SCALAR))
