#include "machine/accelerator/socket_link.h"

#include <poll.h>

#include "machine/accelerator/answer_error.h"
#include "machine/unix_socket.h"

namespace ingot {
namespace {

using accelerator::memory_packet;
using accelerator::MemoryCode;

}  // namespace

SocketLink::SocketLink(Descriptor socket, Greeting greeting, SharedMemory rings)
    : socket_(std::move(socket)),
      worker_bell_(std::move(greeting.worker_bell)),
      answer_bell_(std::move(greeting.answer_bell)),
      rings_(std::move(rings)),
      shared_(rings_.data()),
      orders_(accelerator::memory_writer(shared_)),
      answers_(accelerator::memory_answer_reader(shared_)) {}

Result<std::unique_ptr<SocketLink>> SocketLink::connect(const std::string& path) {
  Result<Descriptor> connected = connect_to_path(path);
  if (!connected.ok()) {
    return Error::of(connected.error().code(), connected.error().text(), ": `ingot accelerator --socket ",
                     std::string_view(path), "` listens there; in a booted machine it is --device accelerator alone");
  }
  Descriptor socket = std::move(connected).value();
  Greeting greeting = TRY(receive_greeting(socket.get(), greeting_limit));
  SharedMemory rings = TRY(SharedMemory::of(std::move(greeting.memory), Bytes(accelerator::shared_bytes)));
  return std::unique_ptr<SocketLink>(new SocketLink(std::move(socket), std::move(greeting), std::move(rings)));
}

Result<void> SocketLink::ring() {
  const std::uint64_t once = 1;
  if (::write(worker_bell_.get(), &once, sizeof once) < 0 && errno != EAGAIN) return refused("ring an accelerator");
  return {};
}

void SocketLink::wait(std::chrono::milliseconds limit) {
  std::array<pollfd, 2> waiting = {{{answer_bell_.get(), POLLIN, 0}, {socket_.get(), POLLRDHUP, 0}}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(limit.count()));
  std::uint64_t rung = 0;
  if ((waiting[0].revents & POLLIN) != 0) {
    [[maybe_unused]] const ssize_t count = ::read(answer_bell_.get(), &rung, sizeof rung);
  }
}

Result<void> SocketLink::order(accelerator::VendorPacket packet, const WaitUntil& wait_until) {
  packet.completion = orders_.written() + 1;
  if (TRY(orders_.room()) == 0) {
    return Error::of(ErrorCode::would_block, "expected a worker that takes what it is told of memory, found none");
  }
  orders_.push(packet);
  TRY(ring());
  // Answers of those that nobody could wait for come first.
  accelerator::MemoryAnswer told;
  const auto is_told = [&]() -> Result<bool> {
    while (TRY(answers_.waiting()) > 0) {
      const accelerator::MemoryAnswer answer = answers_.take();
      if (answer.tag != packet.completion) continue;
      told = answer;
      return true;
    }
    return false;
  };
  Result<bool> is_over = false;
  TRY(wait_until([&] {
    is_over = is_told();
    return !is_over.ok() || is_over.value();
  }));
  TRY(std::move(is_over));
  if (told.status == accelerator::AnswerStatus::done) return {};
  return error_of(told);
}

Result<void> SocketLink::map(const ShownMemory& memory, const WaitUntil& wait_until) {
  TRY(hand_over(socket_.get(), memory.descriptor));
  const std::array<std::uint64_t, 4> range = {memory.address(), memory.bytes.size(), 0, 0};
  return order(memory_packet(MemoryCode::map, range, 0, memory.rights()), wait_until);
}

Result<void> SocketLink::unmap(const std::byte* begin, const WaitUntil& wait_until) {
  return order(memory_packet(MemoryCode::unmap, {reinterpret_cast<std::uintptr_t>(begin), 0, 0, 0}, 0), wait_until);
}

}  // namespace ingot
