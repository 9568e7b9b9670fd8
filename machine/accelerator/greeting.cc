#include "machine/accelerator/greeting.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <span>

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

Result<void> send_bytes(int socket, std::span<const std::byte> bytes, int descriptor) {
  // sendmsg() reads what it is given, and takes it as something that it might write.
  iovec piece = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return refused("send to an accelerator's other side");
  if (static_cast<std::size_t>(sent) != bytes.size()) {
    return Error::of(ErrorCode::input_output, "expected to send ", bytes.size(), " bytes at once, found room for ",
                     sent);
  }
  return {};
}

struct Received {
  std::size_t bytes = 0;
  Descriptor descriptor;
};

// At most one descriptor: more have no room, and are closed by the kernel. (It gives out as many as fit in a message's
// control bytes, whose size with all that aligns them has room for two.)
Result<Received> receive_bytes(int socket, std::span<std::byte> room, int flags = 0) {
  iovec piece = {room.data(), room.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));
  const ssize_t count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | flags);
  if (count < 0) {
    if (errno == EAGAIN) return Error::of(ErrorCode::would_block, "expected a message, found none yet");
    return refused("receive from an accelerator's other side");
  }
  Received received;
  received.bytes = static_cast<std::size_t>(count);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    if (header->cmsg_len != CMSG_LEN(sizeof(int))) continue;
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    received.descriptor = Descriptor(number);
  }
  return received;
}

Result<void> wait_for_message(int socket, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return Error::of(ErrorCode::input_output, "expected an accelerator's greeting, found none in time: is it one?");
    }
    pollfd waiting = {socket, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return refused("wait for an accelerator's greeting");
  }
}

Error left_without_greeting() {
  return Error::of(ErrorCode::input_output,
                   "expected an accelerator's greeting, found that it left: it serves as many clients as it may, was "
                   "ended just now, or is no accelerator");
}

Error other_greeting() {
  return Error::of(ErrorCode::corrupt,
                   "expected an accelerator's greeting, found other words: another server listens there, or one of "
                   "another version");
}

Error no_descriptor() {
  return Error::of(ErrorCode::input_output,
                   "expected a descriptor with an accelerator's greeting, found none: this process may have no more "
                   "of them open (ulimit -n)");
}

Result<Descriptor> receive_word(int socket, std::int64_t expected, bool has_descriptor, Clock::time_point deadline) {
  TRY(wait_for_message(socket, deadline));
  std::int64_t word = 0;
  Received received = TRY(receive_bytes(socket, std::as_writable_bytes(std::span(&word, 1))));
  if (received.bytes == 0) return left_without_greeting();
  if (received.bytes != sizeof word || word != expected) return other_greeting();
  if (received.descriptor.is_open() == has_descriptor) return std::move(received.descriptor);
  return has_descriptor ? no_descriptor() : other_greeting();
}

}  // namespace

Result<void> send_greeting(int socket, const Greeting& greeting) {
  const auto send = [&](std::int64_t word, int descriptor) {
    return send_bytes(socket, std::as_bytes(std::span(&word, 1)), descriptor);
  };
  TRY(send(greeting_version, -1));
  TRY(send(client_number, -1));
  TRY(send(-1, greeting.memory.get()));
  TRY(send(worker_number, greeting.worker_bell.get()));
  TRY(send(client_number, greeting.answer_bell.get()));
  return send(client_number, greeting.fault_bell.get());
}

Result<Greeting> receive_greeting(int socket, std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  TRY(receive_word(socket, greeting_version, false, deadline));
  TRY(receive_word(socket, client_number, false, deadline));
  Greeting greeting;
  greeting.memory = TRY(receive_word(socket, -1, true, deadline));
  greeting.worker_bell = TRY(receive_word(socket, worker_number, true, deadline));
  greeting.answer_bell = TRY(receive_word(socket, client_number, true, deadline));
  greeting.fault_bell = TRY(receive_word(socket, client_number, true, deadline));
  return greeting;
}

// A look ends behind the first message with a descriptor, which is the third.
Result<Descriptor> peek_greeting(int socket, std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  constexpr std::array<std::int64_t, 3> expected = {greeting_version, client_number, -1};
  while (true) {
    TRY(wait_for_message(socket, deadline));
    std::array<std::int64_t, 3> words{};
    Received seen = TRY(receive_bytes(socket, std::as_writable_bytes(std::span(words)), MSG_PEEK));
    if (seen.bytes == 0) return left_without_greeting();
    if (seen.bytes < sizeof words) {
      ::poll(nullptr, 0, 1);  // the others are on their way
      continue;
    }
    if (words != expected) return other_greeting();
    if (!seen.descriptor.is_open()) return no_descriptor();
    return std::move(seen.descriptor);
  }
}

Result<void> hand_over(int socket, int memory) {
  const std::byte any{1};
  return send_bytes(socket, std::span(&any, 1), memory);
}

Result<Descriptor> take_over(int socket) {
  std::byte any{};
  Received received = TRY(receive_bytes(socket, std::span(&any, 1)));
  if (received.bytes == 0 || !received.descriptor.is_open()) {
    return Error::of(ErrorCode::invalid_argument, "expected a memory to be handed over, found ",
                     received.bytes == 0 ? "the socket's end" : "a byte without a descriptor");
  }
  return std::move(received.descriptor);
}

bool is_left(int socket) {
  pollfd waiting = {socket, POLLRDHUP, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace ingot
