// One vector source, compiled for every target: which Highway targets a build holds, and how they become table rows.
//
// Debian's baseline x86_64 has no SSE4, so the baseline target is named explicitly: every vector function carries its
// own target attribute, and is only called when the machine has the feature. Include this before Highway's headers.
#pragma once

#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#if defined(INGOT_ONE_SIMD_TARGET)
#define HWY_DISABLED_TARGETS (HWY_SCALAR | HWY_EMU128 | HWY_SSSE3 | HWY_AVX2 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SCALAR | HWY_EMU128 | HWY_SSSE3)
#endif
#else
// NEON is part of the aarch64 baseline; Highway's SVE targets are left out (no machine of ours runs them).
#define HWY_DISABLED_TARGETS (HWY_SCALAR | HWY_EMU128 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#include "kernels/contract/variant.h"

// In the HWY_ONCE section of a vector source: SimdEntries<Op> entries = INGOT_SIMD_ENTRIES(function);
#if defined(__x86_64__) && defined(INGOT_ONE_SIMD_TARGET)
#define INGOT_SIMD_ENTRIES(function) {nullptr, nullptr, &N_SSE4::function, nullptr}
#elif defined(__x86_64__)
#define INGOT_SIMD_ENTRIES(function) {&N_AVX3::function, &N_AVX2::function, &N_SSE4::function, nullptr}
#else
#define INGOT_SIMD_ENTRIES(function) {nullptr, nullptr, nullptr, &N_NEON::function}
#endif
