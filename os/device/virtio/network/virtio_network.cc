#include "os/device/virtio/network/virtio_network.h"

#include <algorithm>
#include <array>

#include "os/schedule/scheduler.h"
#include "os/schedule/sleep.h"

namespace ingot::os {

namespace {

constexpr std::uint32_t status_at = 6;  // of the card's configuration
constexpr std::uint16_t status_up = 1;

constexpr std::uint16_t receiving(std::size_t pair) { return static_cast<std::uint16_t>(2 * pair); }
constexpr std::uint16_t sending(std::size_t pair) { return static_cast<std::uint16_t>(2 * pair + 1); }

}  // namespace

void VirtioNetwork::Pair::begin() {
  thread_ = &current_thread();
  current_timers().add(*this, {});
}

// Under the lock of a CPU's timers: no lock but the scheduler's may be taken.
std::optional<Nanoseconds> VirtioNetwork::Pair::expired() {
  if (network.stopped_.load(MemoryOrder::relaxed)) return {};
  interrupted.store(true, MemoryOrder::sequentially_consistent);
  current_scheduler().wake(*thread_);
  return deadline() + Nanoseconds(250'000'000);
}

Result<void> VirtioNetwork::prepare(std::string_view name, const network::HardwareAddress& fallback, std::size_t cpus) {
  settings_ = TRY(VirtioNetworkSettings::agree(device_, fallback));
  settings_.link.name = name;
  const std::size_t most = std::min(device_.interrupt_count(), cpus);
  pair_count_ = static_cast<std::uint16_t>(std::min<std::size_t>(settings_.most_pairs, most));
  if (pair_count_ == 0) return Error::of(ErrorCode::unsupported, "expected a device with messages, found none");
  TRY(pairs_.allocate(memory_.heap, pair_count_, [&] { return Pair(*this, memory_, settings_, heap_blocks_); }));
  for (std::size_t i = 0; i < pair_count_; ++i) {
    TRY(pairs()[i].receiver.prepare(device_.queue_capacity(receiving(i))));
    const std::uint16_t capacity = device_.queue_capacity(sending(i));
    TRY(pairs()[i].sender.with([&](VirtioSender& sender) { return sender.prepare(capacity); }));
  }
  if (pair_count_ == 1) return {};
  return control_.begin(memory_, device_.queue_capacity(settings_.control_queue()), 4,
                        settings_.has(virtio_event_index));
}

Result<void> VirtioNetwork::start(const VirtioDevice::InterruptServices& services) {
  std::array<VirtioDevice::InterruptTarget, VirtioDevice::most_interrupts> targets;
  for (std::uint32_t i = 0; i < pair_count_; ++i) targets[i] = {{on_queues, &pairs()[i]}, i};
  TRY(device_.connect(services, std::span(targets).first(pair_count_), {on_configuration, this}));
  const Result<void> enabled = enable_queues();
  if (!enabled.ok()) {
    device_.stop();
    return enabled;
  }
  device_.go();
  if (pair_count_ > 1 && !use_pairs()) {
    log_.warning(settings_.link.name, ": expected ", pair_count_, " pairs of queues, found that one serves");
    pair_count_ = 1;
  }
  for (Pair& pair : pairs()) pair.receiver.publish();
  look_at_status();
  return {};
}

Result<void> VirtioNetwork::enable_queues() {
  for (std::uint16_t i = 0; i < pair_count_; ++i) {
    TRY(device_.enable_queue(receiving(i), pairs()[i].receiver.memory(), i));
    TRY(pairs()[i].sender.with([&](VirtioSender& own) { return device_.enable_queue(sending(i), own.memory(), i); }));
  }
  if (pair_count_ > 1) TRY(device_.enable_queue(settings_.control_queue(), control_, 0));
  return {};
}

// Tells the card how many pairs there are: until then it uses the first alone. It answers at once, and once, so it is
// waited for.
bool VirtioNetwork::use_pairs() {
  constexpr std::uint8_t pairs_class = 4, set_pairs = 0, refused = 1;
  const std::array<std::uint8_t, 5> command{pairs_class, set_pairs, static_cast<std::uint8_t>(pair_count_),
                                            static_cast<std::uint8_t>(pair_count_ >> 8), refused};
  __builtin_memcpy(control_.page(), command.data(), command.size());
  const VirtioPiece asked[] = {{control_.page_address(), 2}, {control_.page_address() + 2, 2}};
  const VirtioPiece answer[] = {{control_.page_address() + 4, 1}};
  VirtioQueue& queue = control_.queue();
  if (!queue.add(asked, answer, 0)) return false;
  control_.publish();
  for (int tries = 0; tries < 10'000'000; ++tries) {
    if (queue.take()) return *reinterpret_cast<volatile std::uint8_t*>(control_.page() + 4) == 0;
    if (queue.fault() != VirtioFault::none) return false;
    arch::pause();
  }
  return false;
}

void VirtioNetwork::wake(Pair& pair) {
  pair.interrupted.store(true, MemoryOrder::release);
  pair.sleeping.wake_all();
}

void VirtioNetwork::on_queues(void* context, arch::TrapFrame&) { wake(*static_cast<Pair*>(context)); }

void VirtioNetwork::on_configuration(void* context, arch::TrapFrame&) {
  auto& card = *static_cast<VirtioNetwork*>(context);
  card.configuration_changed_.store(true, MemoryOrder::release);
  wake(card.pairs()[0]);
}

void VirtioNetwork::sleep(Pair& pair) {
  pair.sleeping.wait_until([&] { return pair.interrupted.load(MemoryOrder::acquire); });
}

bool VirtioNetwork::work(Pair& pair) {
  // Before the queues are looked at: an interrupt from here on ends the sleep, or keeps it from beginning.
  pair.interrupted.exchange(false, MemoryOrder::sequentially_consistent);
  if (&pair == &pairs()[0] && configuration_changed_.exchange(false, MemoryOrder::acquire)) look_at_status();
  network::LinkUser* const user = user_.load(MemoryOrder::acquire);
  constexpr int most_turns = 16;  // then others may have the CPU
  bool more = true;
  for (int turn = 0; turn < most_turns && more; ++turn) {
    const std::span<network::Received> packets = pair.receiver.take();
    more = !packets.empty();
    if (more && user != nullptr) user->received(*this, packets);
    for (network::Received& packet : packets) packet.bytes.clear();
  }
  const auto [has_room, fault] = pair.sender.with([](VirtioSender& sender) {
    const bool room = sender.reclaim();
    return std::pair(room, sender.fault());
  });
  if (has_room && user != nullptr) user->link_changed(*this);
  stop(pair.receiver.fault());
  stop(fault);
  return more || !pair.receiver.await();
}

bool VirtioNetwork::send(const network::Outgoing& packet) {
  if (!is_up()) return false;
  Pair& pair = pairs()[current_processor().index % pair_count_];
  const auto [sent, fault] = pair.sender.with([&](VirtioSender& sender) {
    const bool taken = sender.send(packet);
    return std::pair(taken, sender.fault());
  });
  stop(fault);
  pair.unflushed.store(true, MemoryOrder::release);
  return sent && fault == VirtioFault::none;
}

void VirtioNetwork::flush() {
  for (Pair& pair : pairs()) {
    if (!pair.unflushed.load(MemoryOrder::relaxed)) continue;
    pair.unflushed.store(false, MemoryOrder::relaxed);
    pair.sender.with([](VirtioSender& sender) { sender.flush(); });
  }
}

void VirtioNetwork::detach(Detaching detaching) {
  user_.store(nullptr, MemoryOrder::release);
  const bool stops = detaching == Detaching::stops;
  if (stops && !stopped_.exchange(true, MemoryOrder::acquire_release)) device_.stop();
  for (Pair& pair : pairs()) {
    pair.sender.with([&](VirtioSender& sender) { stops ? sender.abandon() : static_cast<void>(sender.reclaim()); });
  }
}

void VirtioNetwork::look_at_status() {
  std::uint16_t status = status_up;
  if (settings_.has(virtio_network::status)) {
    const auto read = device_.read_configuration([&] { status = device_.configuration<std::uint16_t>(status_at); });
    if (!read.ok()) return;
  }
  up_.store((status & status_up) != 0 && !stopped_.load(MemoryOrder::acquire), MemoryOrder::release);
  if (network::LinkUser* const user = user_.load(MemoryOrder::acquire)) user->link_changed(*this);
}

void VirtioNetwork::stop(VirtioFault fault) {
  if (fault == VirtioFault::none || stopped_.exchange(true, MemoryOrder::acquire_release)) return;
  faults_.fetch_add(1, MemoryOrder::relaxed);
  up_.store(false, MemoryOrder::release);
  device_.stop();
  log_.warning(settings_.link.name, ": stopped, the device used ", name_of(fault));
}

}  // namespace ingot::os
