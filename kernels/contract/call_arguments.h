// A call as the bytes that an accelerator takes (base/accelerator/argument_block.h), and back: written once over
// fields, for every contract there is.
#pragma once

#include <functional>

#include "base/accelerator/argument_block.h"
#include "base/accelerator/client_ranges.h"
#include "base/accelerator/layout.h"
#include "kernels/contract/operation.h"

namespace ingot {

// What both sides of a queue must agree on: the operation's name, its equation, its fields with their roles, and which
// numbers element types have. Two programs in which it is equal mean the same by the same bytes.
std::uint64_t contract_digest(const Operation& operation);
// Of all of them.
std::uint64_t contracts_digest(std::span<const Operation* const> operations);

std::size_t call_bytes(const Operation& operation);
// Tensors are written with the addresses that they have here. Precondition: `bytes` are call_bytes().
Result<void> encode_call(const Operation& operation, const Invocation& invocation, std::span<std::byte> bytes);

// Where bytes lie that the other side names by its own address; fails where it may not have them so.
using FindBytes =
    std::function<Result<std::byte*>(std::uint64_t begin, std::uint64_t bytes, accelerator::Access access)>;

// The call with its tensors where they lie here. Every number in the block is checked, and every byte that a tensor's
// sizes and strides reach is asked for; whether the contract's constraints hold is not (Invocation::check). A place
// other than the host's has them checked by shape alone: what tensors hold is not known yet. Precondition: `bytes` are
// nobody else's.
Result<std::unique_ptr<Invocation>> decode_call(const Operation& operation, std::span<const std::byte> bytes,
                                                const FindBytes& find, Place place = Place::host);

}  // namespace ingot
