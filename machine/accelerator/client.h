// AcceleratorClient: a process's way to an accelerator's worker. It shows memory, gives packets and waits for answers;
// where the worker is gone every call says so, and none waits for ever. One thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "machine/accelerator/link.h"
#include "machine/accelerator/patience.h"

namespace ingot {

// When a packet was worked on, by the worker's clock.
struct PacketTimes {
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
};

class AcceleratorClient {
 public:
  // Fails where nobody listens at the path, or something that is no accelerator of this version.
  static Result<std::unique_ptr<AcceleratorClient>> connect(const std::string& path);
  // Over a link that is there; `where` names it. Fails where its accelerator is of another version. Where another
  // client had it before, what that one left is done or refused by then.
  static Result<std::unique_ptr<AcceleratorClient>> create(std::unique_ptr<AcceleratorLink> link,
                                                           std::string_view where);

  // Whether this program speaks with such an accelerator.
  static Result<void> check(const accelerator::Identity& identity, std::string_view where);

  const accelerator::Identity& identity() const { return identity_; }

  // Memory that may be shown.
  Result<SharedMemory> make_memory(Bytes bytes, const char* name) { return link_->make_memory(bytes, name); }
  // The worker may read the memory from now on, and write it, at this process's addresses. It must outlive that.
  Result<void> map(const ShownMemory& memory);
  Result<void> map(const SharedMemory& memory, bool writable = true) {
    return map({{memory.data(), memory.size()}, memory.descriptor(), writable});
  }
  // What was shown from there on, when the packets are done that were given.
  Result<void> unmap(const std::byte* begin);

  // Gives a packet; waits where the ring is full. Its completion signal is chosen here: a tag for wait(), where
  // somebody will wait for it.
  enum class Answered : std::uint8_t { always, on_failure };
  Result<std::uint64_t> submit(accelerator::Packet packet, Answered answered);
  // Until that packet is done, and all before it. Fails with what the worker refused it for.
  Result<PacketTimes> wait(std::uint64_t tag);
  // Gives a packet and waits for it.
  Result<PacketTimes> call(const accelerator::Packet& packet);
  // Nobody will wait for it.
  void forget(std::uint64_t tag) { outcomes_.erase(tag); }

  // A number for a list that no other list of this client has.
  std::uint64_t new_list() { return ++last_list_; }

  // Why a packet was refused that nobody waits for: the first one since it was asked last.
  std::optional<Error> take_failure() { return std::exchange(failure_, std::nullopt); }
  // As far as a call has found.
  bool is_lost() const { return lost_.has_value(); }
  // Whether all that was submitted is done, as far as answers have told.
  bool is_idle() const { return last_done_ == commands_.written(); }

 private:
  struct Outcome {
    bool is_told = false;
    PacketTimes times;
    std::optional<Error> error;
  };
  explicit AcceleratorClient(std::unique_ptr<AcceleratorLink> link);

  // Reads the answers that are there.
  Result<void> read_answers();
  Result<void> wait_until(const std::function<bool()>& holds);
  AcceleratorLink::WaitUntil waiting() {
    return [this](const std::function<bool()>& holds) { return wait_until(holds); };
  }
  Result<void> check_alive();
  Error lost();

  std::unique_ptr<AcceleratorLink> link_;
  accelerator::SharedWords shared_;
  accelerator::Identity identity_;
  accelerator::CommandWriter commands_;
  accelerator::AnswerReader answers_;
  accelerator::FaultReader faults_;
  Patience patience_;
  std::uint64_t last_list_ = 0;
  std::uint64_t first_;      // packets before this one were another client's
  std::uint64_t last_done_;  // packets before this one are done
  std::map<std::uint64_t, Outcome> outcomes_;
  std::optional<Error> failure_;
  std::optional<Error> lost_;
};

}  // namespace ingot
