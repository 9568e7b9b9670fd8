#include "machine/accelerator/client.h"

#include <algorithm>

#include "base/accelerator/silence.h"
#include "machine/accelerator/answer_error.h"
#include "machine/accelerator/socket_link.h"

namespace ingot {
namespace {

using accelerator::Packet;

// Longer than most contracts take, shorter than anybody would notice on a shared machine.
constexpr std::chrono::microseconds longest_look{50};
constexpr std::chrono::milliseconds look_again{100};
// A process that lives beats ten times a second, whatever it computes: on a machine that is busy with other things,
// too.
constexpr Nanoseconds silence_limit{5'000'000'000};

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string_view name_of(accelerator::FaultKind kind) {
  switch (kind) {
    case accelerator::FaultKind::absent: return "no memory";
    case accelerator::FaultKind::protection: return "memory without that right";
    case accelerator::FaultKind::bus: return "memory that its owner took away";
    case accelerator::FaultKind::arithmetic: return "a division that has no result";
    case accelerator::FaultKind::instruction: return "an instruction that there is not";
  }
  return "something unknown";
}

}  // namespace

AcceleratorClient::AcceleratorClient(std::unique_ptr<AcceleratorLink> link)
    : link_(std::move(link)),
      shared_(link_->words()),
      identity_(shared_.identity()),
      commands_(accelerator::command_writer(shared_)),
      answers_(accelerator::answer_reader(shared_)),
      faults_(accelerator::fault_reader(shared_)),
      patience_(longest_look),
      first_(commands_.written()),
      last_done_(first_) {
  shared_.client().promise.store(link_->promise(), MemoryOrder::release);
}

Result<void> AcceleratorClient::check(const accelerator::Identity& identity, std::string_view where) {
  if (identity.magic == accelerator::magic && identity.version == accelerator::protocol_version) return {};
  return Error::of(ErrorCode::unsupported, "expected an accelerator that speaks version ",
                   accelerator::protocol_version, ", found version ", identity.version, " at ", where,
                   ": start it with this program");
}

Result<std::unique_ptr<AcceleratorClient>> AcceleratorClient::create(std::unique_ptr<AcceleratorLink> link,
                                                                     std::string_view where) {
  TRY(check(link->words().identity(), where));
  std::unique_ptr<AcceleratorClient> client(new AcceleratorClient(std::move(link)));
  // What the client before left undone must not meet our memory: it may name the same addresses.
  if (client->first_ != 0) TRY(client->call(accelerator::barrier_packet(0)));
  return client;
}

Result<std::unique_ptr<AcceleratorClient>> AcceleratorClient::connect(const std::string& path) {
  return create(TRY(SocketLink::connect(path)), path);
}

Error AcceleratorClient::lost() {
  if (lost_.has_value()) return *lost_;
  std::optional<accelerator::Fault> fault;
  while (true) {
    const Result<std::uint64_t> waiting = faults_.waiting();
    if (!waiting.ok() || waiting.value() == 0) break;
    fault = faults_.take();
  }
  const accelerator::WorkerState state = shared_.worker().state.load(MemoryOrder::acquire);
  if (fault.has_value()) {
    lost_ = Error::of(ErrorCode::corrupt, "the accelerator's worker ended: packet ", fault->command, " touched ",
                      name_of(fault->kind), " at ", fault->address,
                      fault->is_clients != 0 ? ", in the client's memory" : ", behind or before the client's memory");
  } else if (state == accelerator::WorkerState::misled) {
    lost_ = Error::of(ErrorCode::corrupt, "the accelerator's worker ended: it found rings that nobody fills so");
  } else if (state == accelerator::WorkerState::unable && read_answers().ok() && failure_.has_value()) {
    lost_ = failure_->within("the accelerator's worker could not begin");
  } else {
    lost_ = Error::of(ErrorCode::input_output, "the accelerator's worker is gone: it or its broker was ended");
  }
  return *lost_;
}

Result<void> AcceleratorClient::check_alive() {
  if (lost_.has_value() || link_->is_left()) return lost();
  return {};
}

Result<void> AcceleratorClient::read_answers() {
  for (std::uint64_t waiting = TRY(answers_.waiting()); waiting > 0; --waiting) {
    const accelerator::Answer answer = answers_.take();
    if (answer.command < first_) continue;
    last_done_ = std::max(last_done_, std::min(answer.command + 1, commands_.written()));
    const bool is_failed = answer.status != accelerator::AnswerStatus::done;
    const auto found = outcomes_.find(answer.tag);
    if (found == outcomes_.end()) {
      if (is_failed && !failure_.has_value()) failure_ = error_of(answer);
      continue;
    }
    found->second = {true, {answer.began, answer.ended}, {}};
    if (is_failed) found->second.error = error_of(answer);
  }
  return {};
}

Result<void> AcceleratorClient::wait_until(const std::function<bool()>& holds) {
  const auto ready = [&]() -> Result<bool> {
    TRY(read_answers());
    return holds();
  };
  Result<bool> is_ready = false;
  const auto is_over = [&] {
    is_ready = ready();
    return !is_ready.ok() || is_ready.value();
  };
  if (patience_.wait_for(is_over)) {
    TRY(std::move(is_ready));
    return {};
  }

  Atomic<std::uint32_t>& sleeps = shared_.client().sleeps;
  accelerator::Silence silence;
  const auto listen = [&] {
    return silence.listen(shared_.worker().heartbeat.load(MemoryOrder::relaxed), Nanoseconds(now()));
  };
  listen();
  while (true) {
    const bool may_sleep = accelerator::may_sleep(sleeps, accelerator::full_fence, is_over);
    if (may_sleep) link_->wait(look_again);
    accelerator::wake_up(sleeps);
    if (!may_sleep) {
      TRY(std::move(is_ready));
      return {};
    }
    // What it answered before it ended counts.
    if (TRY(ready())) return {};
    TRY(check_alive());
    if (listen() > silence_limit) {
      lost_ = Error::of(ErrorCode::input_output, "expected the accelerator's worker to beat ten times a second, found ",
                        "it silent for ", silence_limit.count() / 1'000'000'000, " seconds: it stands still");
      return *lost_;
    }
  }
}

Result<std::uint64_t> AcceleratorClient::submit(Packet packet, Answered answered) {
  if (lost_.has_value()) return *lost_;
  // Once in a ring's length it is known that a packet is done, also where no packet wants an answer.
  const std::uint64_t tag = commands_.written() + 1;
  const bool is_wanted = answered == Answered::always || tag % (accelerator::command_count / 4) == 0;
  if (TRY(commands_.room()) == 0) {
    Result<std::uint64_t> room = std::uint64_t{0};
    TRY(wait_until([&] {
      room = commands_.room();
      return !room.ok() || room.value() > 0;
    }));
    TRY(std::move(room));
  }
  packet.completion = is_wanted ? tag : 0;
  if (answered == Answered::always) outcomes_[tag] = {};
  commands_.push(packet);
  if (accelerator::must_ring(shared_.worker().sleeps, accelerator::full_fence)) TRY(link_->ring());
  return tag;
}

Result<PacketTimes> AcceleratorClient::wait(std::uint64_t tag) {
  const auto found = outcomes_.find(tag);
  if (found == outcomes_.end()) {
    return Error::of(ErrorCode::not_found, "expected a packet that wants an answer, found tag ", tag);
  }
  Outcome& outcome = found->second;
  if (!outcome.is_told) {
    if (lost_.has_value()) return *lost_;
    TRY(wait_until([&] { return outcome.is_told; }));
  }
  const Outcome told = outcome;
  outcomes_.erase(found);
  if (told.error.has_value()) return *told.error;
  return told.times;
}

Result<PacketTimes> AcceleratorClient::call(const Packet& packet) {
  return wait(TRY(submit(packet, Answered::always)));
}

Result<void> AcceleratorClient::map(const ShownMemory& memory) {
  if (lost_.has_value()) return *lost_;
  return link_->map(memory, waiting());
}

Result<void> AcceleratorClient::unmap(const std::byte* begin) {
  // What is said of memory overtakes packets, and these may reach it.
  if (!is_idle()) TRY(call(accelerator::barrier_packet(0)));
  if (lost_.has_value()) return *lost_;
  return link_->unmap(begin, waiting());
}

}  // namespace ingot
