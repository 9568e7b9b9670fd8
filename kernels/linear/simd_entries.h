// Functions that exist once per vector target, and the table rows of operations built on them.
#pragma once

#include "kernels/contract/variant.h"

namespace ingot {

enum class SimdTarget : std::uint8_t { avx512, avx2, sse4, neon };

// Null where this build has no code for the target. Initialised by INGOT_SIMD_ENTRIES.
template <class Function>
struct PerTarget {
  Function avx512 = nullptr;
  Function avx2 = nullptr;
  Function sse4 = nullptr;
  Function neon = nullptr;

  // For sources of their own instruction set: sanitized builds hold the least target of a PC alone.
  constexpr Function widest(SimdTarget most = SimdTarget::avx512) const {
    const Function wanted = (*this)[most];
    return wanted != nullptr ? wanted : sse4;
  }

  constexpr Function operator[](SimdTarget target) const {
    switch (target) {
      case SimdTarget::avx512: return avx512;
      case SimdTarget::avx2: return avx2;
      case SimdTarget::sse4: return sse4;
      case SimdTarget::neon: return neon;
    }
    return nullptr;
  }
};

// The entries of an operation whose code is the same for each target but for the functions it calls: `run` gives the
// instance for a target, kept where this build has those functions.
template <class Op, class Function, class Run>
SimdEntries<Op> entries_over(const PerTarget<Function>& functions, Run run) {
  using enum SimdTarget;
  auto instance = [&]<SimdTarget target>() { return functions[target] ? run.template operator()<target>() : nullptr; };
  return {
    instance.template operator()<avx512>(),
    instance.template operator()<avx2>(),
    instance.template operator()<sse4>(),
    instance.template operator()<neon>()
  };
}

}  // namespace ingot
