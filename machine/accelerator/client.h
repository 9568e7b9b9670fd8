// AcceleratorClient: a process's way to an accelerator's worker. It shows memory, gives packets and waits for answers;
// where the worker is gone every call says so, and none waits for ever. One thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/accelerator/rings.h"
#include "machine/accelerator/greeting.h"
#include "machine/accelerator/patience.h"
#include "machine/accelerator/shared_memory.h"

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

  const accelerator::Identity& identity() const { return identity_; }

  // The worker may read the memory from now on, and write it, at this process's addresses. It must outlive that.
  Result<void> map(const SharedMemory& memory, bool writable = true);
  // The same of a file that is mapped from its first byte on, to be read alone. Who makes the file shorter ends the
  // worker.
  Result<void> map_file(std::span<const std::byte> bytes, int descriptor);
  // What was shown from there on.
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
  // Whether all that was submitted is done, as far as answers have told.
  bool is_idle() const { return last_done_ == commands_.written(); }

 private:
  struct Outcome {
    bool is_told = false;
    PacketTimes times;
    std::optional<Error> error;
  };
  AcceleratorClient(Descriptor socket, Greeting greeting, SharedMemory rings);

  Result<void> show(std::span<const std::byte> bytes, int descriptor, std::uint32_t rights);
  // Reads the answers that are there.
  Result<void> read_answers();
  template <class Condition>
  Result<void> wait_until(const Condition& holds);
  Result<void> check_alive();
  Error lost();

  Descriptor socket_;
  Descriptor worker_bell_;
  Descriptor answer_bell_;
  Descriptor fault_bell_;
  SharedMemory rings_;
  accelerator::SharedWords shared_;
  accelerator::Identity identity_;
  accelerator::CommandWriter commands_;
  accelerator::AnswerReader answers_;
  accelerator::FaultReader faults_;
  Patience patience_;
  std::uint64_t last_list_ = 0;
  std::uint64_t last_done_ = 0;  // packets before this one are done
  std::map<std::uint64_t, Outcome> outcomes_;
  std::optional<Error> failure_;
  std::optional<Error> lost_;
};

}  // namespace ingot
