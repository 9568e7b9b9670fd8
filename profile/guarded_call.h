// GuardedCall: a call on trial. It is a copy of an invocation whose tensors lie against pages that nobody may touch,
// and so does the scratch of every run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/contract/call_queue.h"
#include "machine/gpu/device.h"
#include "machine/guarded_memory.h"
#include "profile/watchdog.h"

namespace ingot {

// Where calls on trial take place. Without a watchdog a kernel that hangs or goes astray takes the program with it.
struct ProvingGround {
  GuardedMemory memory;
  std::unique_ptr<Watchdog> watchdog;
  Device* device = nullptr;  // where rows of devices run; null: nowhere
  std::unique_ptr<Queue> queue;
  CallQueue* calls = nullptr;  // where the device is an accelerator: the way into its queue
};

// In the place of a variant's index: the row that every operation has on an accelerator, where the worker chooses among
// its own (kernels/contract/accelerated_call.h).
inline constexpr int accelerator_row = -1;
inline constexpr std::string_view accelerator_row_name = "accelerator";

// How a tensor lies in its pages. A view's elements need no more than their type's alignment, so every tensor can touch
// a guard; scratch is aligned to 64 bytes, so it may end up to 63 bytes before one.
enum class Placement : std::uint8_t {
  before,  // the first byte follows a guard, and is aligned to a page
  behind,  // the last byte precedes a guard
  kept,    // the last byte precedes one by less than 64 bytes: addresses keep their remainder by 64
};

class GuardedCall {
 public:
  // `where` names the case in what a watchdog says. Tensors that share bytes share them in the copy, too.
  static Result<GuardedCall> make(ProvingGround& ground, const Operation& operation, const Invocation& original,
                                  Placement placement, std::string where);

  const Invocation& invocation() const { return *invocation_; }

  // Fails where the variant read or wrote a byte outside of its tensors and its scratch, and where the device failed
  // that it runs on. A real device sees copies, and reads outside of them are not seen.
  // Preconditions: those of Invocation::run; a device in the ground where the variant is a device's, or an accelerator.
  Result<void> run(int variant, Workers& workers);

 private:
  // Bytes at a guard, with some more about them where the piece has room: what is written there is seen, too.
  struct Placed {
    GuardedMemory::Piece piece;
    std::span<std::byte> bytes;
    std::span<std::byte> surroundings;  // `bytes` included
  };
  GuardedCall(ProvingGround& ground, const Operation& operation, Placement placement, std::string where);

  // The call as a device sees it: `homes` are the addresses there of each of tensors_.
  Result<std::unique_ptr<Invocation>> moved(Place place, std::span<std::byte* const> homes) const;
  Result<void> run_here(const Invocation& invocation, int variant, Workers& workers, Queue* queue);
  Result<void> run_on_copies(int variant, Workers& workers);
  Result<void> run_on_accelerator();

  Result<Placed> place(std::size_t bytes, std::size_t remainder, Placement placement);
  Result<void> place_tensors(const Invocation& original);
  std::string names_in(const Placed& placed) const;
  Error trespassed(const Trespass& trespass, const Placed& scratch, int threads) const;
  bool changed_outside(const Placed& placed, std::vector<std::byte>& before) const;

  ProvingGround* ground_;
  const Operation* operation_;
  std::unique_ptr<Invocation> invocation_;
  Placement placement_;
  std::string where_;
  std::vector<Placed> tensors_;
};

}  // namespace ingot
