// An operation outside of a pass, with as much scratch as its chosen variant asks for.
#pragma once

#include <algorithm>

#include "kernels/contract/run.h"
#include "machine/memory.h"

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

// In the context's scratch; in `scratch` where that is too small. It is the caller's, so that it grows once.
template <class Op>
Result<void> run_with_scratch(const KernelTable& table, const typename Op::Arguments& arguments, Context& context,
                              Memory& scratch) {
  const std::size_t needed = scratch_needed<Op>(table, arguments, context.workers.count());
  const bool has_room = context.scratch.size() >= needed;
  if (!has_room && scratch.size() < needed) scratch = TRY(Memory::allocate(Bytes(needed)));
  Context with_scratch{context.workers, has_room ? context.scratch : scratch.bytes()};
  return run<Op>(table, arguments, with_scratch);
}

}  // namespace ingot
