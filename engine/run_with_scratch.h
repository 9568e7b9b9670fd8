// An operation outside of a pass, with as much scratch as its chosen variant asks for.
#pragma once

#include <vector>

#include "kernels/contract/run.h"

namespace ingot {

// `scratch` is the caller's, so that it grows once; the context's own is taken where it is larger.
template <class Op>
Result<void> run_with_scratch(const KernelTable& table, const typename Op::Arguments& arguments, Context& context,
                              std::vector<std::byte>& scratch) {
  const auto variants = Op::variants();
  for (const int index : table.available(Op::name)) {
    const Variant<Op>& variant = variants[static_cast<std::size_t>(index)];
    if (variant.scratch_bytes == nullptr) continue;
    const std::size_t needed = variant.scratch_bytes(arguments, context.workers.count());
    if (scratch.size() < needed) scratch.resize(needed);
  }
  Context with_scratch{context.workers, context.scratch.size() >= scratch.size() ? context.scratch : scratch};
  return run<Op>(table, arguments, with_scratch);
}

}  // namespace ingot
