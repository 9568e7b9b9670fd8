// Lists and proofs of operations as JSON, for programs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/contract/table.h"
#include "profile/verify.h"

namespace ingot {

// What the table picks for a typical call. A parity case stands for it: a benchmark's tensors take seconds to fill.
int typical_choice(const Operation& operation, const KernelTable& table);

// {"operations": [...]}: name, family, equation, backward operations, and the variants: which are available to the
// processor, and which is typically selected.
std::string operations_json(std::span<const Operation* const> operations, const KernelTable& table,
                            const Processor& processor);

struct VerifyCounts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

VerifyCounts count_rows(std::span<const VerifyRow> rows);

// {"passed": ..., "failed": ..., "skipped": ..., "seed": ..., "rows": [...]}
std::string verify_json(std::span<const VerifyRow> rows, std::uint64_t seed);

}  // namespace ingot
