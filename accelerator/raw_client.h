// A client that writes the shared words by hand, for tests of what nobody sane would write.
#pragma once

#include <poll.h>

#include <chrono>

#include "base/accelerator/rings.h"
#include "machine/accelerator/greeting.h"
#include "machine/accelerator/shared_memory.h"
#include "machine/unix_socket.h"

namespace ingot {

struct RawClient {
  // Hands a memory over before it is greeted, where there is one.
  explicit RawClient(const std::string& path, int memory = -1) : socket(connect_to_path(path).value()) {
    if (memory >= 0 && !hand_over(socket.get(), memory).ok()) std::abort();
    greeting = receive_greeting(socket.get(), std::chrono::seconds(5)).value();
    rings = SharedMemory::of(std::move(greeting.memory), Bytes(accelerator::shared_bytes)).value();
  }
  accelerator::SharedWords words() const { return accelerator::SharedWords(rings.data()); }
  void ring() const {
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t count = ::write(greeting.worker_bell.get(), &once, sizeof once);
  }
  // Looks again each millisecond, and when the bell is rung.
  template <class Condition>
  static bool holds_within(std::chrono::seconds limit, const Condition& holds, int bell = -1) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > until) return false;
      pollfd waiting = {bell, POLLIN, 0};
      if (::poll(&waiting, 1, 1) <= 0) continue;
      std::uint64_t rung = 0;
      [[maybe_unused]] const ssize_t count = ::read(bell, &rung, sizeof rung);
    }
    return true;
  }
  bool is_left_within(std::chrono::seconds limit) const {
    return holds_within(limit, [&] { return is_left(socket.get()); });
  }
  // What the worker answers to a packet of the memory's owner.
  accelerator::MemoryAnswer order(accelerator::VendorPacket packet) const {
    accelerator::OwnerWords& owner = words().owner();
    const std::uint64_t next = owner.memory_write.load(MemoryOrder::relaxed);
    words()
        .slot<accelerator::VendorPacket>(accelerator::at::memory_packets, next % accelerator::memory_count)
        .store(packet);
    owner.memory_write.store(next + 1, MemoryOrder::release);
    ring();
    const std::uint64_t read = owner.answer_read.load(MemoryOrder::relaxed);
    const auto is_told = [&] { return words().memory().answer_write.load(MemoryOrder::acquire) > read; };
    if (!holds_within(std::chrono::seconds(20), is_told, greeting.answer_bell.get())) std::abort();
    const accelerator::MemoryAnswer answer =
        words()
            .slot<accelerator::MemoryAnswer>(accelerator::at::memory_answers, read % accelerator::memory_answer_count)
            .load();
    owner.answer_read.store(read + 1, MemoryOrder::release);
    return answer;
  }

  Descriptor socket;
  Greeting greeting;
  SharedMemory rings;
};

inline std::string text_of(const accelerator::MemoryAnswer& answer) {
  return answer.status == accelerator::AnswerStatus::done ? "" : std::string(answer.text.data(), answer.text_length);
}

}  // namespace ingot
