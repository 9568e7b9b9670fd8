// The intrinsics of AVX-512, for sources that are compiled for it alone.
//
// GCC 12 takes the undefined operands inside its own intrinsics for mistakes (its bug 105593). The complaint names the
// place where they end up, so it is silenced for the rest of the source.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif
