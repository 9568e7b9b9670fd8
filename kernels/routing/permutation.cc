#include "kernels/routing/permutation.h"

#include <limits>
#include <utility>
#include <vector>

#include "kernels/contract/case_builder.h"

namespace ingot {
namespace {

Result<void> require_each_once(std::string_view operation, std::string_view number,
                               const View<const std::int32_t>& permutation) {
  const std::int64_t count = permutation.size(0);
  std::vector<bool> seen(static_cast<std::size_t>(count), false);
  for (std::int64_t slot = 0; slot < count; ++slot) {
    const std::int32_t choice = permutation(slot);
    if (choice < 0 || choice >= count) {
      return violated(operation, number, "expected permutation values in [0, ", count, "), found ", choice, " at slot ",
                      slot);
    }
    if (seen[static_cast<std::size_t>(choice)]) {
      return violated(operation, number, "expected each permutation value once, found ", choice, " again at slot ",
                      slot);
    }
    seen[static_cast<std::size_t>(choice)] = true;
  }
  return {};
}

}  // namespace

Result<void> require_permutation(std::string_view operation, std::string_view number,
                                 const View<const std::int32_t>& permutation) {
  TRY(require_rank(operation, number, "permutation", permutation, 1));
  const std::int64_t count = permutation.size(0);
  if (count > std::numeric_limits<std::int32_t>::max()) {
    return violated(operation, number, "expected at most 2^31 - 1 slots, found ", count);
  }
  return permutation.place().is_host() ? require_each_once(operation, number, permutation) : Result<void>();
}

void invert_permutation(const View<const std::int32_t>& permutation, std::span<std::int32_t> slot_of) {
  for (std::int64_t slot = 0; slot < permutation.size(0); ++slot) {
    slot_of[static_cast<std::size_t>(permutation(slot))] = static_cast<std::int32_t>(slot);
  }
}

std::size_t inverse_bytes(const View<const std::int32_t>& permutation) {
  return static_cast<std::size_t>(permutation.size(0)) * sizeof(std::int32_t);
}

std::span<std::int32_t> inverse_in(std::span<std::byte> scratch, const View<const std::int32_t>& permutation) {
  const std::span<std::int32_t> slot_of(reinterpret_cast<std::int32_t*>(scratch.data()),
                                        static_cast<std::size_t>(permutation.size(0)));
  invert_permutation(permutation, slot_of);
  return slot_of;
}

View<std::int32_t> random_permutation(CaseBuilder& builder, std::int64_t count) {
  const View<std::int32_t> permutation = builder.filled<std::int32_t>({count}, Fill::constant(0));
  for (std::int64_t slot = 0; slot < count; ++slot) permutation(slot) = static_cast<std::int32_t>(slot);
  for (std::int64_t slot = count - 1; slot > 0; --slot) {
    std::swap(permutation(slot), permutation(builder.random_index(slot + 1)));
  }
  return permutation;
}

}  // namespace ingot
