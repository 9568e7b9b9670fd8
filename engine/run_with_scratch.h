// An operation outside of a pass, with as much scratch as its chosen variant asks for.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/contract/run.h"

namespace ingot {

// As much as any variant of the table would ask for.
template <class Op>
std::size_t scratch_needed(const KernelTable& table, const typename Op::Arguments& arguments, int threads) {
  std::size_t most = 0;
  for (const int index : table.available(Op::name)) {
    const Variant<Op>& variant = Op::variants()[static_cast<std::size_t>(index)];
    if (variant.scratch_bytes != nullptr) most = std::max(most, variant.scratch_bytes(arguments, threads));
  }
  return most;
}

// `scratch` is the caller's, so that it grows once; the context's own is taken where it is larger.
template <class Op>
Result<void> run_with_scratch(const KernelTable& table, const typename Op::Arguments& arguments, Context& context,
                              std::vector<std::byte>& scratch) {
  const std::size_t needed = scratch_needed<Op>(table, arguments, context.workers.count());
  if (scratch.size() < needed) scratch.resize(needed);
  Context with_scratch{context.workers, context.scratch.size() >= scratch.size() ? context.scratch : scratch};
  return run<Op>(table, arguments, with_scratch);
}

}  // namespace ingot
