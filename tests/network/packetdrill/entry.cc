// The calls of packetdrill's interface, as our stack makes them.
#include <fcntl.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "tests/network/packetdrill/interface.h"
#include "tests/network/packetdrill/session.h"

namespace ingot::network_scripts {
namespace {

Session& session_of(void* stack) { return *static_cast<Session*>(stack); }

template <class Number = int>
Number answer(std::int64_t result) {
  if (result >= 0) return static_cast<Number>(result);
  errno = static_cast<int>(-result);
  return -1;
}

int refuse() { return answer(-ENOSYS); }

Endpoint endpoint_of(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in found{};
    std::memcpy(&found, address, sizeof(found));
    IpAddress::V4 bytes;
    std::memcpy(&bytes, &found.sin_addr, sizeof(bytes));
    return {IpAddress(bytes), ntohs(found.sin_port)};
  }
  sockaddr_in6 found{};
  std::memcpy(&found, address, sizeof(found));
  IpAddress::V6 bytes;
  std::memcpy(&bytes, &found.sin6_addr, sizeof(bytes));
  return {IpAddress(bytes), ntohs(found.sin6_port)};
}

void write(const Endpoint& endpoint, sockaddr* to, socklen_t* bytes) {
  if (to == nullptr || bytes == nullptr) return;
  if (endpoint.address.is_v4()) {
    sockaddr_in found{};
    found.sin_family = AF_INET;
    found.sin_port = htons(endpoint.port);
    const IpAddress::V4 address = endpoint.address.as_v4();
    std::memcpy(&found.sin_addr, &address, sizeof(address));
    std::memcpy(to, &found, std::min<std::size_t>(*bytes, sizeof(found)));
    *bytes = sizeof(found);
    return;
  }
  sockaddr_in6 found{};
  found.sin6_family = AF_INET6;
  found.sin6_port = htons(endpoint.port);
  std::memcpy(&found.sin6_addr, &endpoint.address.bytes(), sizeof(IpAddress::V6));
  std::memcpy(to, &found, std::min<std::size_t>(*bytes, sizeof(found)));
  *bytes = sizeof(found);
}

ssize_t receive(void* stack, int descriptor, std::span<const iovec> to, int flags, int* told_flags = nullptr) {
  Message message;
  message.is_nowhere = std::ranges::any_of(to, [](const iovec& part) { return part.iov_base == nullptr; });
  for (const iovec& part : to) message.capacity += part.iov_len;
  const std::int64_t result = session_of(stack).insist(descriptor, flags, [&](IngotStack& its) {
    message.flags = flags;
    return its.receive(descriptor, message);
  });
  std::size_t done = 0;
  for (const iovec& part : to) {
    const auto left = static_cast<std::size_t>(std::max<std::int64_t>(result, 0)) - done;
    const std::size_t count = std::min(part.iov_len, left);
    if (count != 0) std::memcpy(part.iov_base, message.bytes.data() + done, count);
    done += count;
  }
  if (told_flags != nullptr) *told_flags = message.flags;
  return answer<ssize_t>(result);
}

ssize_t send(void* stack, int descriptor, std::span<const iovec> from, int flags, const sockaddr* to = nullptr) {
  Message message;
  message.flags = flags;
  for (const iovec& part : from) {
    message.is_nowhere = message.is_nowhere || part.iov_base == nullptr;
    const auto* begin = static_cast<const std::uint8_t*>(part.iov_base);
    if (begin != nullptr) message.bytes.insert(message.bytes.end(), begin, begin + part.iov_len);
    if (begin == nullptr) message.bytes.resize(message.bytes.size() + part.iov_len);
  }
  const std::optional<Endpoint> endpoint = to != nullptr ? std::optional(endpoint_of(to)) : std::nullopt;
  std::size_t sent = 0;
  const std::int64_t result = session_of(stack).insist(descriptor, flags, [&](IngotStack& its) -> std::int64_t {
    const std::int64_t moved = its.send(descriptor, message, endpoint ? &*endpoint : nullptr);
    if (moved < 0) return moved;
    sent += static_cast<std::size_t>(moved);
    message.bytes.erase(message.bytes.begin(), message.bytes.begin() + moved);
    const bool goes_on =
        moved != 0 && !message.bytes.empty() && session_of(stack).waits(descriptor) && (flags & MSG_DONTWAIT) == 0;
    return goes_on ? -EAGAIN : static_cast<std::int64_t>(sent);
  });
  return answer<ssize_t>(result < 0 && sent != 0 ? static_cast<std::int64_t>(sent) : result);
}

int accept(void* stack, int descriptor, sockaddr* address, socklen_t* bytes) {
  return answer(session_of(stack).insist(descriptor, 0, [&](IngotStack& its) {
    const std::int64_t accepted = its.accept(descriptor);
    const std::optional<Endpoint> remote = its.remote_of(static_cast<int>(accepted));
    if (remote) write(*remote, address, bytes);
    return accepted;
  }));
}

int connect(void* stack, int descriptor, const sockaddr* address, socklen_t) {
  const Endpoint to = endpoint_of(address);
  const std::int64_t begun = session_of(stack).with([&](IngotStack& its) { return its.connect(descriptor, to); });
  if (begun != -EINPROGRESS || !session_of(stack).waits(descriptor)) return answer(begun);
  return answer(session_of(stack).insist(descriptor, 0, [&](IngotStack& its) -> std::int64_t {
    const std::int64_t done = its.connect(descriptor, to);
    return done == -EALREADY ? -EAGAIN : done;
  }));
}

int control_file(void* stack, int descriptor, int command, ...) {
  Session& session = session_of(stack);
  if (command == F_GETFL) return O_RDWR | (session.waits(descriptor) ? 0 : O_NONBLOCK);
  if (command != F_SETFL) return answer(-EINVAL);
  va_list arguments;
  va_start(arguments, command);
  session.set_waiting(descriptor, (va_arg(arguments, int) & O_NONBLOCK) == 0);
  va_end(arguments);
  return 0;
}

int control_device(void* stack, int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  int* const number = va_arg(arguments, int*);
  va_end(arguments);
  return answer(session_of(stack).with([&](IngotStack& its) { return its.control(descriptor, request, *number); }));
}

int close(void* stack, int descriptor) {
  session_of(stack).set_waiting(descriptor, true);
  return answer(session_of(stack).with([&](IngotStack& its) { return its.close(descriptor); }));
}

int poll(void* stack, pollfd* files, nfds_t count, int milliseconds) {
  constexpr std::uint32_t always_told = POLLERR | POLLHUP | POLLNVAL;
  const std::span all(files, count);
  std::optional<Microseconds> end;
  const std::int64_t result = session_of(stack).insist(-1, 0, [&](IngotStack& its) -> std::int64_t {
    if (!end) end = milliseconds < 0 ? INT64_MAX : its.now() + milliseconds * 1000;
    for (pollfd& file : all) {
      file.revents = static_cast<short>(its.ready(file.fd) & (static_cast<unsigned short>(file.events) | always_told));
    }
    const auto ready = std::ranges::count_if(all, [](const pollfd& file) { return file.revents != 0; });
    return ready != 0 || its.now() >= *end ? ready : -EAGAIN;
  });
  return answer(result == -EAGAIN ? 0 : result);
}

int take_packet(void* stack, void* packet, size_t* bytes, long long* microseconds) {
  const std::optional<SentPacket> sent = session_of(stack).await_packet();
  const std::size_t room = std::exchange(*bytes, 0);
  // packetdrill would ask for ever.
  if (!sent) give_up("no packet is sent any more");
  *bytes = std::min(room, sent->bytes.size());
  std::memcpy(packet, sent->bytes.data(), *bytes);
  *microseconds = sent->time;
  return 0;
}

int tell_time(void* stack, timeval* time, struct timezone*) {
  const Microseconds now = session_of(stack).look_at_clock();
  *time = {now / 1'000'000, now % 1'000'000};
  return 0;
}

template <class Use>
int on_stack(void* stack, Use&& use) {
  return answer(session_of(stack).with(use));
}

void add_calls(PacketdrillInterface& to) {
  to.socket = [](void* stack, int family, int type, int protocol) {
    return on_stack(stack, [&](IngotStack& its) { return its.socket(family, type, protocol); });
  };
  to.bind = [](void* stack, int descriptor, const sockaddr* address, socklen_t) {
    return on_stack(stack, [&](IngotStack& its) { return its.bind(descriptor, endpoint_of(address)); });
  };
  to.listen = [](void* stack, int descriptor, int backlog) {
    return on_stack(stack, [&](IngotStack& its) { return its.listen(descriptor, backlog); });
  };
  to.shutdown = [](void* stack, int descriptor, int how) {
    return on_stack(stack, [&](IngotStack& its) { return its.shutdown(descriptor, how); });
  };
  to.getsockopt = [](void* stack, int descriptor, int level, int name, void* value, socklen_t* bytes) {
    return on_stack(stack, [&](IngotStack& its) -> std::int64_t {
      const std::span room(static_cast<std::uint8_t*>(value), *bytes);
      const std::int64_t told = its.get_option(descriptor, level, name, room);
      if (told >= 0) *bytes = static_cast<socklen_t>(told);
      return std::min<std::int64_t>(told, 0);
    });
  };
  to.setsockopt = [](void* stack, int descriptor, int level, int name, const void* value, socklen_t bytes) {
    const std::span given(static_cast<const std::uint8_t*>(value), bytes);
    return on_stack(stack, [&](IngotStack& its) { return its.set_option(descriptor, level, name, given); });
  };
  to.accept = accept;
  to.connect = connect;
  to.fcntl = control_file;
  to.ioctl = control_device;
  to.close = close;
  to.poll = poll;
}

void add_transfers(PacketdrillInterface& to) {
  to.read = [](void* stack, int descriptor, void* room, size_t bytes) {
    return receive(stack, descriptor, std::array{iovec{room, bytes}}, 0);
  };
  to.readv = [](void* stack, int descriptor, const iovec* parts, int count) {
    return receive(stack, descriptor, {parts, static_cast<std::size_t>(count)}, 0);
  };
  to.recv = [](void* stack, int descriptor, void* room, size_t bytes, int flags) {
    return receive(stack, descriptor, std::array{iovec{room, bytes}}, flags);
  };
  to.recvfrom = [](void* stack, int descriptor, void* room, size_t bytes, int flags, sockaddr*, socklen_t*) {
    return receive(stack, descriptor, std::array{iovec{room, bytes}}, flags);
  };
  to.recvmsg = [](void* stack, int descriptor, msghdr* message, int flags) {
    message->msg_controllen = 0;
    return receive(stack, descriptor, {message->msg_iov, message->msg_iovlen}, flags, &message->msg_flags);
  };
  to.write = [](void* stack, int descriptor, const void* from, size_t bytes) {
    return send(stack, descriptor, std::array{iovec{const_cast<void*>(from), bytes}}, 0);
  };
  to.writev = [](void* stack, int descriptor, const iovec* parts, int count) {
    return send(stack, descriptor, {parts, static_cast<std::size_t>(count)}, 0);
  };
  to.send = [](void* stack, int descriptor, const void* from, size_t bytes, int flags) {
    return send(stack, descriptor, std::array{iovec{const_cast<void*>(from), bytes}}, flags);
  };
  to.sendto = [](void* stack, int descriptor, const void* from, size_t bytes, int flags, const sockaddr* address,
                 socklen_t) {
    return send(stack, descriptor, std::array{iovec{const_cast<void*>(from), bytes}}, flags, address);
  };
  to.sendmsg = [](void* stack, int descriptor, const msghdr* message, int flags) {
    return send(stack, descriptor, {message->msg_iov, message->msg_iovlen}, flags);
  };
}

void add_world(PacketdrillInterface& to) {
  to.netdev_send = [](void* stack, const void* packet, size_t bytes) {
    const std::span given(static_cast<const std::uint8_t*>(packet), bytes);
    return on_stack(stack, [&](IngotStack& its) { return its.receive(given), std::int64_t{0}; });
  };
  to.netdev_receive = take_packet;
  to.usleep = [](void* stack, useconds_t span) { return session_of(stack).pass(span), 0; };
  to.gettimeofday = tell_time;
  // Scripts that want these are not compared.
  to.epoll_create = [](void*, int) { return refuse(); };
  to.epoll_ctl = [](void*, int, int, int, epoll_event*) { return refuse(); };
  to.epoll_wait = [](void*, int, epoll_event*, int, int) { return refuse(); };
  to.pipe = [](void*, int*) { return refuse(); };
  to.splice = [](void*, int, loff_t*, int, loff_t*, size_t, unsigned) { return refuse(); };
}

}  // namespace

extern "C" void packetdrill_interface_init(const char* flags, PacketdrillInterface* to) {
  to->stack = Session::create(flags).release();
  to->end = [](void* stack) { delete static_cast<Session*>(stack); };
  add_calls(*to);
  add_transfers(*to);
  add_world(*to);
}

}  // namespace ingot::network_scripts
