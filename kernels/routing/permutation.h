// Slots: the order in which grouped tokens stand, as routing.group_tokens makes it. Slot s holds the permutation[s]-th
// choice, and choice c is token c / k's c % k-th expert.
#pragma once

#include <span>

#include "kernels/contract/constraints.h"

namespace ingot {

// Checks that the values are 0 .. count-1, each once. Those on a device are the caller's to know.
Result<void> require_permutation(std::string_view operation, std::string_view number,
                                 const View<const std::int32_t>& permutation);

// slot_of[choice], for a permutation that passed the check. Precondition: slot_of has room for every slot.
void invert_permutation(const View<const std::int32_t>& permutation, std::span<std::int32_t> slot_of);

// The bytes of the inverse, which variants ask for as scratch.
std::size_t inverse_bytes(const View<const std::int32_t>& permutation);
std::span<std::int32_t> inverse_in(std::span<std::byte> scratch, const View<const std::int32_t>& permutation);

// For cases: a random order of the slots.
class CaseBuilder;
View<std::int32_t> random_permutation(CaseBuilder& builder, std::int64_t count);

}  // namespace ingot
