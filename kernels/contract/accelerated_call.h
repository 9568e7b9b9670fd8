// The row that every contract has in the place of an accelerator: its fields and attributes become a block of
// arguments, and the worker's own rows compute. Nothing of it knows an operation.
#pragma once

#include <map>

#include "kernels/contract/call_arguments.h"
#include "kernels/contract/call_queue.h"
#include "kernels/contract/table.h"
#include "machine/accelerator/accelerator_queue.h"

namespace ingot {

class AcceleratedCalls final : public CallQueue {
 public:
  // The queue must outlive it.
  explicit AcceleratedCalls(AcceleratorQueue& queue, Neighbours neighbours = Neighbours::may_show)
      : queue_(queue), are_alone_(neighbours == Neighbours::never_show) {}

  Result<void> put(const Operation& operation, const Invocation& invocation) override {
    const std::span<std::byte> arguments = queue_.arguments(call_bytes(operation));
    if (arguments.empty()) return queue_.wait();  // it has failed, and says why
    TRY(encode_call(operation, invocation, arguments));
    queue_.dispatch(digest_of(operation), arguments, are_alone_);
    return {};
  }

 private:
  std::uint64_t digest_of(const Operation& operation) {
    const auto [found, is_new] = digests_.try_emplace(&operation, 0);
    if (is_new) found->second = contract_digest(operation);
    return found->second;
  }

  AcceleratorQueue& queue_;
  const bool are_alone_;
  std::map<const Operation*, std::uint64_t> digests_;
};

// Into that queue. Precondition: it is of a device that takes calls.
inline std::unique_ptr<CallQueue> calls_into(Queue& queue, Neighbours neighbours) {
  return std::make_unique<AcceleratedCalls>(static_cast<AcceleratorQueue&>(queue), neighbours);
}

}  // namespace ingot
