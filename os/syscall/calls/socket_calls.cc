// Sockets: making and naming them, connecting them, their options (man 2 socket, bind, listen, accept, connect,
// getsockopt). What they carry is in socket_message_calls.cc.
#include "os/syscall/socket_arguments.h"
#include "os/syscall/table.h"

namespace ingot::os {

Answer<void> read_address(SocketAddress& to, VirtualAddress from, std::int32_t bytes) {
  if (bytes < 0 || static_cast<std::size_t>(bytes) > SocketAddress::most_bytes) return Errno::einval;
  to.size = static_cast<std::uint32_t>(bytes);
  if (bytes != 0 && !copy_from_user(to.bytes.data(), from, to.size).ok()) return Errno::efault;
  return {};
}

Answer<void> write_address(const SocketAddress& address, VirtualAddress to, UserPointer<std::int32_t> room) {
  const std::int32_t wanted = TRY(room.read());
  if (wanted < 0) return Errno::einval;
  const std::size_t told = std::min<std::size_t>(static_cast<std::size_t>(wanted), address.size);
  if (told != 0 && !copy_to_user(to, address.bytes.data(), told).ok()) return Errno::efault;
  return room.write(static_cast<std::int32_t>(address.size));
}

namespace {

constexpr std::uint32_t flags_of_type = open_flag::close_on_execute | open_flag::non_blocking;

struct TwoSockets {
  std::int32_t one, other;
};

OnExecute on_execute_of(std::uint32_t flags) {
  return (flags & open_flag::close_on_execute) != 0 ? OnExecute::closes : OnExecute::keeps;
}

Answer<SocketKind> kind_of(std::uint32_t type) {
  constexpr std::uint32_t kinds = 0xf, most_kind = 10;
  const std::uint32_t kind = type & kinds;
  if ((type & ~(kinds | flags_of_type)) != 0 || kind > most_kind) return Errno::einval;
  return static_cast<SocketKind>(kind);
}

// Of those that not every kernel has: who makes its sockets. EACCES: it has it, and the program was not granted it.
Answer<SocketMaker*> maker_of(Caller& caller, std::uint32_t family) {
  for (const SocketFamily& granted : files_of(caller).families()) {
    if (granted.number == family) return granted.maker;
  }
  for (const SocketFamily& offered : caller.kernel.socket_families.all()) {
    if (offered.number == family) return Errno::eacces;
  }
  return Errno::eafnosupport;
}

Answer<std::int32_t> make(Caller& caller, std::uint32_t family, std::uint32_t type, std::uint32_t protocol) {
  const SocketKind kind = TRY(kind_of(type));
  const std::uint32_t flags = type & open_flag::non_blocking;
  ProcessFiles& files = files_of(caller);
  Reference<SocketFile> socket;
  if (family == socket_family::local) {
    socket = TRY(files.local_sockets().make(kind, protocol, flags));
  } else {
    SocketMaker* const maker = TRY(maker_of(caller, family));
    socket = TRY(maker->make(files.services(), static_cast<std::uint16_t>(family), kind, protocol, flags));
  }
  return files.descriptors().add(std::move(socket), on_execute_of(type));
}

Answer<void> make_pair(Caller& caller, std::uint32_t family, std::uint32_t type, std::uint32_t protocol,
                       UserPointer<TwoSockets> to) {
  const SocketKind kind = TRY(kind_of(type));
  if (family != socket_family::local) {
    static_cast<void>(TRY(maker_of(caller, family)));
    return Errno::eopnotsupp;
  }
  ProcessFiles& files = files_of(caller);
  SocketPair pair = TRY(files.local_sockets().make_pair(kind, protocol, type & open_flag::non_blocking));
  DescriptorTable& table = files.descriptors();
  TwoSockets numbers{};
  numbers.one = TRY(table.add(std::move(pair.one), on_execute_of(type)));
  const Answer<std::int32_t> other = table.add(std::move(pair.other), on_execute_of(type));
  numbers.other = other.ok() ? other.value() : -1;
  const Answer<void> told = other.ok() ? to.write(numbers) : Answer<void>(other.error());
  if (told.ok()) return {};
  static_cast<void>(table.close(numbers.other));
  static_cast<void>(table.close(numbers.one));
  return told.error();
}

Answer<void> bind(Caller& caller, std::int32_t descriptor, UserPointer<void> place, std::int32_t bytes) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  SocketAddress address;
  TRY(read_address(address, place.address, bytes));
  return socket->bind(address);
}

Answer<void> listen(Caller& caller, std::int32_t descriptor, std::uint32_t backlog) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  return socket->listen(backlog);
}

// With a time of its own the call answers how far it came, else it waits for the end.
Answer<void> connect(Caller& caller, std::int32_t descriptor, UserPointer<void> place, std::int32_t bytes) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  SocketAddress address;
  TRY(read_address(address, place.address, bytes));
  Errno under_way = Errno::eagain;
  const auto attempt = [&]() -> Answer<void> {
    const Answer<void> connected = socket->connect(address);
    if (connected.ok()) return {};
    const Errno error = connected.error();
    if (error != Errno::einprogress && error != Errno::ealready) return error;
    if (under_way == Errno::eagain) under_way = error;
    return Errno::eagain;
  };
  const Answer<void> connected =
      when_ready(caller.thread, *socket, attempt, patience_for(caller, *socket, SocketFile::Direction::sending));
  return !connected.ok() && connected.error() == Errno::eagain ? under_way : connected;
}

// The number comes first: where none is left, the connection stays for later.
Answer<std::int32_t> accept_with(Caller& caller, std::int32_t descriptor, UserPointer<void> place,
                                 UserPointer<std::int32_t> room, std::uint32_t flags) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  if ((flags & ~flags_of_type) != 0) return Errno::einval;
  DescriptorTable& table = files_of(caller).descriptors();
  const std::int32_t number = TRY(table.reserve());
  const auto accept_and_tell = [&]() -> Answer<Reference<SocketFile>> {
    Reference<SocketFile> accepted = TRY(when_ready(
        caller.thread, *socket, [&] { return socket->accept(flags & open_flag::non_blocking); },
        patience_for(caller, *socket, SocketFile::Direction::receiving)));
    if (place.is_null()) return accepted;
    SocketAddress peer;
    if (!accepted->tell_peers_name(peer).ok()) return Errno::econnaborted;
    TRY(write_address(peer, place.address, room));
    return accepted;
  };
  Answer<Reference<SocketFile>> accepted = accept_and_tell();
  if (!accepted.ok()) {
    table.release(number);
    return accepted.error();
  }
  table.fill(number, std::move(accepted).value(), on_execute_of(flags));
  return number;
}
Answer<std::int32_t> accept(Caller& caller, std::int32_t descriptor, UserPointer<void> place,
                            UserPointer<std::int32_t> room) {
  return accept_with(caller, descriptor, place, room, 0);
}

Answer<void> tell_own_name(Caller& caller, std::int32_t descriptor, UserPointer<void> place,
                           UserPointer<std::int32_t> room) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  SocketAddress address;
  TRY(socket->tell_own_name(address));
  return write_address(address, place.address, room);
}
Answer<void> tell_peers_name(Caller& caller, std::int32_t descriptor, UserPointer<void> place,
                             UserPointer<std::int32_t> room) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  SocketAddress address;
  TRY(socket->tell_peers_name(address));
  return write_address(address, place.address, room);
}

Answer<void> shut_down(Caller& caller, std::int32_t descriptor, std::uint32_t how) {
  constexpr std::uint32_t most = 2;  // SHUT_RD, SHUT_WR, SHUT_RDWR
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  if (how > most) return Errno::einval;
  return socket->shut_down(static_cast<SocketFile::Direction>(how + 1));
}

Answer<void> get_option(Caller& caller, std::int32_t descriptor, std::uint32_t level, std::uint32_t option,
                        UserPointer<void> to, UserPointer<std::int32_t> room) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  const std::int32_t wanted = TRY(room.read());
  if (wanted < 0) return Errno::einval;
  alignas(8) std::byte value[256];
  const std::span<std::byte> place = std::span(value).first(std::min<std::size_t>(wanted, sizeof value));
  const std::size_t told = TRY(socket->get_option(level, option, place));
  if (!copy_to_user(to.address, value, told).ok()) return Errno::efault;
  return room.write(static_cast<std::int32_t>(told));
}

Answer<void> set_option(Caller& caller, std::int32_t descriptor, std::uint32_t level, std::uint32_t option,
                        UserPointer<void> from, std::int32_t bytes) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  if (bytes < 0) return Errno::einval;
  alignas(8) std::byte value[256];
  const std::size_t read = std::min<std::size_t>(bytes, sizeof value);
  if (!copy_from_user(value, from.address, read).ok()) return Errno::efault;
  return socket->set_option(level, option, std::span(value).first(read));
}

constexpr SystemCall rows[] = {
    system_call<&make>("socket"),
    system_call<&make_pair>("socketpair"),
    system_call<&bind>("bind"),
    system_call<&listen>("listen"),
    system_call<&connect>("connect"),
    system_call<&accept>("accept"),
    system_call<&accept_with>("accept4"),
    system_call<&tell_own_name>("getsockname"),
    system_call<&tell_peers_name>("getpeername"),
    system_call<&shut_down>("shutdown"),
    system_call<&get_option>("getsockopt"),
    system_call<&set_option>("setsockopt"),
};

}  // namespace

std::span<const SystemCall> socket_calls() { return rows; }

}  // namespace ingot::os
