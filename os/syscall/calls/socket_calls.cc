// Sockets: pairs that are connected within the program (man 2 socketpair, send, recv). There is no network yet, so
// nothing else makes a socket.
#include "os/file/channels/socket_pair.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

namespace message_flag {
constexpr std::uint32_t look = 0x2;                     // MSG_PEEK
constexpr std::uint32_t truncated = 0x20;               // MSG_TRUNC
constexpr std::uint32_t do_not_wait = 0x40;             // MSG_DONTWAIT
constexpr std::uint32_t end_of_record = 0x80;           // MSG_EOR: every message is one
constexpr std::uint32_t wait_for_all = 0x100;           // MSG_WAITALL
constexpr std::uint32_t no_signal = 0x4000;             // MSG_NOSIGNAL
constexpr std::uint32_t close_on_execute = 0x40000000;  // MSG_CMSG_CLOEXEC
constexpr std::uint32_t known = truncated | do_not_wait | end_of_record | wait_for_all | no_signal | close_on_execute;
}  // namespace message_flag

constexpr std::uint16_t local_family = 1;  // AF_UNIX

struct TwoSockets {
  std::int32_t one, other;
};

// struct msghdr.
struct MessageHeader {
  std::uint64_t name;
  std::uint32_t name_bytes, padding;
  UserPointer<TransferPiece> pieces;
  std::uint64_t piece_count;
  std::uint64_t control, control_bytes;
  std::uint32_t flags, more_padding;
};
static_assert(sizeof(MessageHeader) == 56);

Answer<void> make_pair(Caller& caller, std::uint32_t family, std::uint32_t type, std::uint32_t protocol,
                       UserPointer<TwoSockets> to) {
  constexpr std::uint32_t flags_of_type = open_flag::close_on_execute | open_flag::non_blocking;
  if (family != local_family) return Errno::eafnosupport;
  if (protocol != 0 && protocol != local_family) return Errno::eprotonosupport;
  ProcessFiles& files = files_of(caller);
  const auto kind = static_cast<SocketKind>(type & ~flags_of_type);
  const std::uint32_t flags = type & open_flag::non_blocking;
  SocketPair pair;
  switch (kind) {
    case SocketKind::stream: pair = TRY(make_stream_pair(files.services(), flags)); break;
    case SocketKind::datagrams:
    case SocketKind::packets: pair = TRY(make_packet_pair(files.services(), kind, flags)); break;
    default: return Errno::esocktnosupport;
  }
  DescriptorTable& table = files.descriptors();
  const bool closes = (type & open_flag::close_on_execute) != 0;
  const OnExecute on_execute = closes ? OnExecute::closes : OnExecute::keeps;
  TwoSockets numbers{};
  numbers.one = TRY(table.add(std::move(pair.one), on_execute));
  const Answer<std::int32_t> other = table.add(std::move(pair.other), on_execute);
  numbers.other = other.ok() ? other.value() : -1;
  const Answer<void> told = other.ok() ? to.write(numbers) : Answer<void>(other.error());
  if (told.ok()) return {};
  static_cast<void>(table.close(numbers.other));
  static_cast<void>(table.close(numbers.one));
  return told.error();
}

Answer<Reference<FileDescription>> socket_of(Caller& caller, std::int32_t descriptor) {
  Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (file->as_socket() == nullptr) return Errno::enotsock;
  return file;
}

// Flags that change what is moved (urgent data) are refused, not passed over.
template <class Move>
Answer<std::uint64_t> exchange(Caller& caller, FileDescription& socket, const UserPieces& pieces, std::uint32_t flags,
                               bool goes_on, Move&& move) {
  if ((flags & ~message_flag::known) != 0) return Errno::eopnotsupp;
  UserTransferMemory memory;
  for (std::uint64_t done = 0;;) {
    std::uint64_t left = 0;
    const auto attempt = [&]() -> Answer<std::uint64_t> {
      Transfer transfer = pieces.transfer(memory, done);
      const std::size_t moved = TRY(move(transfer));
      left = transfer.left();
      return std::uint64_t{moved};
    };
    const bool waits = (flags & message_flag::do_not_wait) == 0;
    const Answer<std::uint64_t> moved = waits ? when_ready(caller.thread, socket, attempt) : attempt();
    if (!moved.ok()) return done != 0 ? Answer<std::uint64_t>(done) : moved.error();
    done += moved.value();
    if (left == 0 || moved.value() == 0 || !goes_on || !waits || socket.non_blocking()) return done;
  }
}
Answer<std::uint64_t> send_pieces(Caller& caller, std::int32_t descriptor, const UserPieces& pieces,
                                  std::uint32_t flags) {
  const Reference<FileDescription> socket = TRY(socket_of(caller, descriptor));
  const Answer<std::uint64_t> sent =
      exchange(caller, *socket, pieces, flags, true, [&](Transfer& from) { return socket->write(from); });
  const bool broken = !sent.ok() && sent.error() == Errno::epipe;
  if (broken && (flags & message_flag::no_signal) == 0) tell_of_broken_pipe(caller, *socket);
  return sent.ok() ? Answer<std::uint64_t>(sent.value()) : sent.error();
}
struct ReceivedPieces {
  std::uint64_t told = 0;  // what the call answers: of a message that was cut its whole length, if asked so
  std::uint32_t flags = 0;
};
Answer<ReceivedPieces> receive_pieces(Caller& caller, std::int32_t descriptor, const UserPieces& pieces,
                                      std::uint32_t flags) {
  const Reference<FileDescription> file = TRY(socket_of(caller, descriptor));
  SocketFile& socket = *file->as_socket();
  const Reading reading = (flags & message_flag::look) != 0 ? Reading::looks : Reading::takes;
  // Who looks sees what is there: another look would see it again.
  const bool all =
      (flags & message_flag::wait_for_all) != 0 && reading == Reading::takes && socket.kind() == SocketKind::stream;
  SocketFile::Received last;
  const auto move = [&](Transfer& to) -> Answer<std::size_t> {
    last = TRY(socket.receive(to, reading));
    return last.moved;
  };
  const std::uint64_t moved = TRY(exchange(caller, socket, pieces, flags & ~message_flag::look, all, move));
  const bool was_cut = last.message_bytes > last.moved;
  const bool tells_all = was_cut && (flags & message_flag::truncated) != 0;
  return ReceivedPieces{tells_all ? last.message_bytes : moved, was_cut ? message_flag::truncated : 0};
}

Answer<std::uint64_t> send(Caller& caller, std::int32_t descriptor, UserPointer<void> from, std::uint64_t bytes,
                           std::uint32_t flags, UserPointer<void> address, std::uint32_t) {
  if (!address.is_null()) return Errno::eisconn;
  UserPieces pieces(files_of(caller).heap());
  pieces.set(from.address, bytes);
  return send_pieces(caller, descriptor, pieces, flags);
}
// A pair's sockets have no addresses: of none nothing is told.
Answer<std::uint64_t> receive(Caller& caller, std::int32_t descriptor, UserPointer<void> to, std::uint64_t bytes,
                              std::uint32_t flags, UserPointer<void>, UserPointer<std::uint32_t> address_bytes) {
  UserPieces pieces(files_of(caller).heap());
  pieces.set(to.address, bytes);
  const ReceivedPieces received = TRY(receive_pieces(caller, descriptor, pieces, flags));
  TRY(address_bytes.write_if_wanted(0));
  return received.told;
}
Answer<std::uint64_t> send_message(Caller& caller, std::int32_t descriptor, UserPointer<MessageHeader> place,
                                   std::uint32_t flags) {
  const MessageHeader header = TRY(place.read());
  if (header.name != 0 && header.name_bytes != 0) return Errno::eisconn;
  if (header.control != 0 && header.control_bytes != 0) return Errno::eopnotsupp;  // no other process to hand files to
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(header.pieces, header.piece_count));
  return send_pieces(caller, descriptor, pieces, flags);
}
Answer<std::uint64_t> receive_message(Caller& caller, std::int32_t descriptor, UserPointer<MessageHeader> place,
                                      std::uint32_t flags) {
  MessageHeader header = TRY(place.read());
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(header.pieces, header.piece_count));
  const ReceivedPieces received = TRY(receive_pieces(caller, descriptor, pieces, flags));
  header.name_bytes = 0;
  header.control_bytes = 0;
  header.flags = received.flags;
  TRY(place.write(header));
  return received.told;
}

Answer<void> shut_down(Caller& caller, std::int32_t descriptor, std::uint32_t how) {
  constexpr std::uint32_t receiving = 0, sending = 1, both = 2;  // SHUT_RD, SHUT_WR, SHUT_RDWR
  const Reference<FileDescription> socket = TRY(socket_of(caller, descriptor));
  if (how > both) return Errno::einval;
  if (how != sending) socket->as_socket()->shut_down(SocketFile::Direction::receiving);
  if (how != receiving) socket->as_socket()->shut_down(SocketFile::Direction::sending);
  return {};
}

// What programs ask of any socket; all else is refused by the number that says so.
Answer<void> get_option(Caller& caller, std::int32_t descriptor, std::uint32_t level, std::uint32_t option,
                        UserPointer<std::int32_t> to, UserPointer<std::uint32_t> room) {
  constexpr std::uint32_t of_sockets = 1;                       // SOL_SOCKET
  constexpr std::uint32_t type = 3, error = 4;                  // SO_TYPE, SO_ERROR
  constexpr std::uint32_t send_buffer = 7, receive_buffer = 8;  // SO_SNDBUF, SO_RCVBUF
  constexpr std::uint32_t listens = 30;                         // SO_ACCEPTCONN
  constexpr std::uint32_t protocol = 38, domain = 39;           // SO_PROTOCOL, SO_DOMAIN
  const Reference<FileDescription> socket = TRY(socket_of(caller, descriptor));
  if (level != of_sockets) return Errno::eopnotsupp;
  if (TRY(room.read()) < sizeof(std::int32_t)) return Errno::einval;
  std::int32_t value = 0;
  switch (option) {
    case type: value = static_cast<std::int32_t>(socket->as_socket()->kind()); break;
    case send_buffer:
    case receive_buffer: value = socket->as_socket()->kind() == SocketKind::stream ? 65'536 : 212'992; break;
    case domain: value = local_family; break;
    case error:
      if (socket->as_socket()->take_reset()) value = static_cast<std::int32_t>(Errno::econnreset);
      break;
    case listens:
    case protocol: break;
    default: return Errno::enoprotoopt;
  }
  TRY(to.write(value));
  return room.write(sizeof value);
}

Answer<void> tell_no_address(Caller& caller, std::int32_t descriptor, UserPointer<std::uint16_t> to,
                             UserPointer<std::uint32_t> room) {
  TRY(socket_of(caller, descriptor));
  if (TRY(room.read()) >= sizeof local_family) TRY(to.write(local_family));
  return room.write(sizeof local_family);
}

constexpr SystemCall rows[] = {
    system_call<&make_pair>("socketpair"),
    system_call<&send>("sendto"),
    system_call<&receive>("recvfrom"),
    system_call<&send_message>("sendmsg"),
    system_call<&receive_message>("recvmsg"),
    system_call<&shut_down>("shutdown"),
    system_call<&get_option>("getsockopt"),
    system_call<&tell_no_address>("getsockname"),
    system_call<&tell_no_address>("getpeername"),
};

}  // namespace

std::span<const SystemCall> socket_calls() { return rows; }

}  // namespace ingot::os
