// What sockets carry (man 2 send, recv, sendmmsg, recvmmsg).
#include "os/syscall/deadlines.h"
#include "os/syscall/socket_arguments.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

namespace message_flag {
constexpr std::uint32_t look = 0x2;                     // MSG_PEEK
constexpr std::uint32_t truncated = 0x20;               // MSG_TRUNC
constexpr std::uint32_t do_not_wait = 0x40;             // MSG_DONTWAIT
constexpr std::uint32_t end_of_record = 0x80;           // MSG_EOR: every message is one
constexpr std::uint32_t wait_for_all = 0x100;           // MSG_WAITALL
constexpr std::uint32_t confirm = 0x800;                // MSG_CONFIRM: no route is forgotten here
constexpr std::uint32_t no_signal = 0x4000;             // MSG_NOSIGNAL
constexpr std::uint32_t more = 0x8000;                  // MSG_MORE
constexpr std::uint32_t wait_for_one = 0x10000;         // MSG_WAITFORONE
constexpr std::uint32_t close_on_execute = 0x40000000;  // MSG_CMSG_CLOEXEC
constexpr std::uint32_t known = look | truncated | do_not_wait | end_of_record | wait_for_all | confirm | no_signal |
                                more | wait_for_one | close_on_execute;
}  // namespace message_flag

// struct msghdr and struct mmsghdr.
struct MessageHeader {
  VirtualAddress name;
  std::int32_t name_bytes, padding;
  UserPointer<TransferPiece> pieces;
  std::uint64_t piece_count;
  std::uint64_t control, control_bytes;
  std::uint32_t flags, more_padding;
};
struct ManyHeader {
  MessageHeader header;
  std::uint32_t bytes, padding;
};
static_assert(sizeof(MessageHeader) == 56 && sizeof(ManyHeader) == 64);

// Flags that change what is moved (urgent data) are refused, not passed over.
template <class Move>
Answer<std::uint64_t> exchange(Caller& caller, SocketFile& socket, const UserPieces& pieces, std::uint32_t flags,
                               SocketFile::Direction direction, bool goes_on, Move&& move) {
  if ((flags & ~message_flag::known) != 0) return Errno::eopnotsupp;
  UserTransferMemory memory;
  Patience patience = patience_for(caller, socket, direction);
  patience.waits = (flags & message_flag::do_not_wait) == 0;
  for (std::uint64_t done = 0;;) {
    std::uint64_t left = 0;
    const auto attempt = [&]() -> Answer<std::uint64_t> {
      Transfer transfer = pieces.transfer(memory, done);
      const std::size_t moved = TRY(move(transfer));
      left = transfer.left();
      return std::uint64_t{moved};
    };
    const Answer<std::uint64_t> moved = when_ready(caller.thread, socket, attempt, patience);
    if (!moved.ok()) return done != 0 ? Answer<std::uint64_t>(done) : moved.error();
    done += moved.value();
    const bool may_wait = patience.waits && !socket.non_blocking();
    if (left == 0 || moved.value() == 0 || !goes_on || !may_wait) return done;
  }
}

Answer<std::uint64_t> send_pieces(Caller& caller, SocketFile& socket, const UserPieces& pieces, const SocketAddress& to,
                                  std::uint32_t flags) {
  const SocketFile::Outgoing how{to.size != 0 ? &to : nullptr, (flags & message_flag::more) != 0};
  Answer<std::uint64_t> sent = exchange(caller, socket, pieces, flags, SocketFile::Direction::sending, true,
                                        [&](Transfer& from) { return socket.send(from, how); });
  const bool broken = !sent.ok() && sent.error() == Errno::epipe;
  if (broken && (flags & message_flag::no_signal) == 0) tell_of_broken_pipe(caller, socket);
  return sent;
}

struct ReceivedPieces {
  std::uint64_t told = 0;  // what the call answers: of a message that was cut its whole length, if asked so
  std::uint32_t flags = 0;
};
// `from`: where the sender's address goes; none: nobody asks.
Answer<ReceivedPieces> receive_pieces(Caller& caller, SocketFile& socket, const UserPieces& pieces, std::uint32_t flags,
                                      SocketAddress* from) {
  const Reading reading = (flags & message_flag::look) != 0 ? Reading::looks : Reading::takes;
  // Who looks sees what is there: another look would see it again.
  const bool all =
      (flags & message_flag::wait_for_all) != 0 && reading == Reading::takes && socket.kind() == SocketKind::stream;
  SocketFile::Received last;
  const auto move = [&](Transfer& to) -> Answer<std::size_t> {
    last = TRY(socket.receive(to, {reading, from}));
    return last.moved;
  };
  const std::uint64_t moved = TRY(exchange(caller, socket, pieces, flags, SocketFile::Direction::receiving, all, move));
  const bool was_cut = last.message_bytes > last.moved;
  const bool tells_all = was_cut && (flags & message_flag::truncated) != 0;
  return ReceivedPieces{tells_all ? last.message_bytes : moved, was_cut ? message_flag::truncated : 0};
}

Answer<std::uint64_t> send(Caller& caller, std::int32_t descriptor, UserPointer<void> from, std::uint64_t bytes,
                           std::uint32_t flags, UserPointer<void> place, std::int32_t address_bytes) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  SocketAddress to;
  if (!place.is_null()) TRY(read_address(to, place.address, address_bytes));
  UserPieces pieces(files_of(caller).heap());
  pieces.set(from.address, bytes);
  return send_pieces(caller, *socket, pieces, to, flags);
}

Answer<std::uint64_t> receive(Caller& caller, std::int32_t descriptor, UserPointer<void> to, std::uint64_t bytes,
                              std::uint32_t flags, UserPointer<void> place, UserPointer<std::int32_t> room) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  UserPieces pieces(files_of(caller).heap());
  pieces.set(to.address, bytes);
  SocketAddress from;
  const ReceivedPieces received =
      TRY(receive_pieces(caller, *socket, pieces, flags, place.is_null() ? nullptr : &from));
  if (!place.is_null()) TRY(write_address(from, place.address, room));
  return received.told;
}

Answer<std::uint64_t> send_one(Caller& caller, SocketFile& socket, const MessageHeader& header, std::uint32_t flags) {
  constexpr std::int32_t most = SocketAddress::most_bytes;
  SocketAddress to;
  if (header.name != VirtualAddress(0)) TRY(read_address(to, header.name, std::min(header.name_bytes, most)));
  if (header.control != 0 && header.control_bytes != 0) return Errno::eopnotsupp;  // no other process to hand files to
  if (header.piece_count > UserPieces::most_pieces) return Errno::emsgsize;
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(header.pieces, header.piece_count));
  return send_pieces(caller, socket, pieces, to, flags);
}

Answer<std::uint64_t> receive_one(Caller& caller, SocketFile& socket, UserPointer<MessageHeader> place,
                                  std::uint32_t flags) {
  MessageHeader header = TRY(place.read());
  if (header.piece_count > UserPieces::most_pieces) return Errno::emsgsize;
  UserPieces pieces(files_of(caller).heap());
  TRY(pieces.read(header.pieces, header.piece_count));
  const bool is_named = header.name != VirtualAddress(0);
  if (is_named && header.name_bytes < 0) return Errno::einval;
  SocketAddress from;
  const ReceivedPieces received = TRY(receive_pieces(caller, socket, pieces, flags, is_named ? &from : nullptr));
  if (is_named) {
    const auto told = std::min(static_cast<std::uint32_t>(header.name_bytes), from.size);
    if (told != 0 && !copy_to_user(header.name, from.bytes.data(), told).ok()) return Errno::efault;
    header.name_bytes = static_cast<std::int32_t>(from.size);
  }
  header.control_bytes = 0;
  header.flags = received.flags;
  TRY(place.write(header));
  return received.told;
}

Answer<std::uint64_t> send_message(Caller& caller, std::int32_t descriptor, UserPointer<MessageHeader> place,
                                   std::uint32_t flags) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  const MessageHeader header = TRY(place.read());
  return send_one(caller, *socket, header, flags);
}
Answer<std::uint64_t> receive_message(Caller& caller, std::int32_t descriptor, UserPointer<MessageHeader> place,
                                      std::uint32_t flags) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  return receive_one(caller, *socket, place, flags);
}

// One after the other until one fails: how many went; the error only of the first.
template <class One>
Answer<std::uint32_t> for_each_header(UserPointer<ManyHeader> place, std::uint32_t count, One&& one) {
  constexpr std::uint32_t most = 1024;  // UIO_MAXIOV
  std::uint32_t done = 0;
  for (; done < std::min(count, most); ++done) {
    const UserPointer<ManyHeader> here = place.at(done);
    const auto move_and_tell = [&]() -> Answer<void> {
      const std::uint64_t moved = TRY(one(UserPointer<MessageHeader>{here.address}));
      const UserPointer<std::uint32_t> bytes{here.address + offsetof(ManyHeader, bytes)};
      return bytes.write(static_cast<std::uint32_t>(moved));
    };
    const Answer<void> moved = move_and_tell();
    if (!moved.ok() && done == 0) return moved.error();
    if (!moved.ok()) break;
  }
  return done;
}

Answer<std::uint32_t> send_messages(Caller& caller, std::int32_t descriptor, UserPointer<ManyHeader> place,
                                    std::uint32_t count, std::uint32_t flags) {
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  return for_each_header(place, count, [&](UserPointer<MessageHeader> here) -> Answer<std::uint64_t> {
    const MessageHeader header = TRY(here.read());
    return send_one(caller, *socket, header, flags);
  });
}

// As on Linux, the time is looked at between messages, and ends no wait for one.
Answer<std::uint32_t> receive_messages(Caller& caller, std::int32_t descriptor, UserPointer<ManyHeader> place,
                                       std::uint32_t count, std::uint32_t flags, UserPointer<TimeSpecification> time) {
  const Until until = TRY(until_after(caller, time, &TimeSpecification::nanoseconds));
  const SocketArgument socket = TRY(socket_of(caller, descriptor));
  bool is_late = false;
  const Answer<std::uint32_t> done =
      for_each_header(place, count, [&](UserPointer<MessageHeader> here) -> Answer<std::uint64_t> {
        if (is_late) return Errno::eagain;
        const std::uint64_t told = TRY(receive_one(caller, *socket, here, flags));
        if ((flags & message_flag::wait_for_one) != 0) flags |= message_flag::do_not_wait;
        is_late = until && *until <= caller.kernel.now();
        return told;
      });
  if (!done.ok()) return done.error();
  if (until) {
    const Nanoseconds left = std::max(*until - caller.kernel.now(), Nanoseconds(0));
    TRY(time.write(TimeSpecification::of(left)));
  }
  return done.value();
}

constexpr SystemCall rows[] = {
    system_call<&send>("sendto"),
    system_call<&receive>("recvfrom"),
    system_call<&send_message>("sendmsg"),
    system_call<&receive_message>("recvmsg"),
    system_call<&send_messages>("sendmmsg"),
    system_call<&receive_messages>("recvmmsg"),
};

}  // namespace

std::span<const SystemCall> socket_message_calls() { return rows; }

}  // namespace ingot::os
