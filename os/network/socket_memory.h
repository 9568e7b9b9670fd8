// SocketMemory: what the network holds for sockets: bytes that are queued, and what is remembered of peers. It is
// counted here, bounded in all, and charged to the program.
//
//   below three quarters   queues grow as they need
//   scarce                 they grow no more, windows shrink to a few segments, and what comes early is not kept
//   full                   a queue takes more only when it is empty, a segment at a time, so that nobody waits for
//                          ever; no connection begins
//   an eighth beyond       nothing that comes from others is taken
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "os/memory/address.h"
#include "os/memory/allocator.h"
#include "os/process/program_account.h"

namespace ingot::os::network {

// Changed under the network's lock; read at any time. As an allocator it is for what is remembered; queued bytes, which
// a card may have brought, are told by the chains that hold them.
class SocketMemory final : public Allocator {
 public:
  static constexpr std::uint64_t share = 8;  // of a machine's memory: one part in so many

  SocketMemory(Allocator& heap, std::uint64_t most_bytes) : most(most_bytes), heap_(heap) {}

  using Allocator::allocate, Allocator::free;
  Result<void*> allocate(std::size_t bytes, std::size_t alignment) override {
    if (!may_hold(bytes)) {
      return Error::of(ErrorCode::out_of_memory, "expected at most ", most, " bytes of sockets, found ", used());
    }
    Result<void*> block = heap_.allocate(bytes, alignment);
    if (block.ok()) hold(bytes);
    return block;
  }
  void free(void* block, std::size_t bytes, std::size_t alignment) override {
    let_go(bytes);
    heap_.free(block, bytes, alignment);
  }
  HeapStatistics statistics() const override { return heap_.statistics(); }

  void hold(std::uint64_t bytes) { bytes_.set(used() + bytes); }
  void let_go(std::uint64_t bytes) { bytes_.set(used() - bytes); }
  std::uint64_t used() const { return bytes_.now(); }
  std::uint64_t peak() const { return bytes_.peak(); }
  bool is_scarce() const { return used() >= most / 4 * 3 || !program_has_room(); }
  bool is_full() const { return used() >= most || !program_has_room(); }
  // What nobody is allowed beyond. A little further out: an empty queue takes something, which needs its records.
  bool may_hold(std::uint64_t bytes) const { return used() + bytes <= most + most / 8; }

  // A program that may have less than the machine has gets as large a share of that. nullptr: to nobody any more.
  void charge_to(ProgramAccount* account) {
    account_ = account;
    if (account == nullptr) return;
    account->charge_sockets(bytes_);
    most = std::min(most, account->limit() / share);
  }

  std::uint64_t most;

 private:
  // A little is there for a program that has used up all of its own: it shall still be asked how it is.
  bool program_has_room() const { return account_ == nullptr || used() < most / 16 || account_->has_room(page_bytes); }

  Allocator& heap_;
  ProgramAccount::Peaked bytes_;
  const ProgramAccount* account_ = nullptr;
};

}  // namespace ingot::os::network
