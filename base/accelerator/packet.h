// Packets: what a client asks of an accelerator, 64 bytes each.
//
// The shape is that of the Architected Queuing Language (HSA Platform System Architecture 1.2, section 2.9), which
// drivers of AMD's GPUs speak: the header's type and barrier bits, `kernel_object` at 32, the address of arguments
// at 40, the completion signal at 56. Three things differ. The kernel object is the digest of a contract; there is no
// code to point at. The completion signal is a number that comes back in an answer: an accelerator writes into no
// memory but its own and the outputs of contracts. And a slot is free when the worker's read index has passed it, not
// when its type is INVALID again: that would be a second writer.
//
// Packets are done in their order, one after the other, so barrier and fence bits are always kept.
#pragma once

#include "base/accelerator/layout.h"
#include "base/result.h"

namespace ingot::accelerator {

enum class PacketType : std::uint8_t { vendor = 0, invalid = 1, dispatch = 2, barrier_and = 3, barrier_or = 5 };

inline constexpr std::uint16_t barrier_bit = 1 << 8;
inline constexpr std::uint16_t system_fences = 2 << 9 | 2 << 11;  // acquire and release, for all that share the memory
inline constexpr std::uint16_t packet_header(PacketType type) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(type) | barrier_bit | system_fences);
}

// Of a dispatch, beside the number of dimensions: only variants in which neighbours never show (kernels' table.h).
inline constexpr std::uint16_t setup_one_dimension = 1;
inline constexpr std::uint16_t setup_alone = 1 << 8;

struct Packet {
  std::uint16_t header = packet_header(PacketType::invalid);
  std::uint16_t setup = 0;
  std::array<std::uint16_t, 3> workgroup{};
  std::uint16_t reserved0 = 0;
  std::array<std::uint32_t, 3> grid{};
  std::uint32_t private_bytes = 0;
  std::uint32_t group_bytes = 0;
  std::uint64_t kernel_object = 0;
  std::uint64_t arguments = 0;
  std::uint64_t reserved1 = 0;
  std::uint64_t completion = 0;
};

// The same bytes, of a type that AQL leaves to vendors.
struct VendorPacket {
  std::uint16_t header = packet_header(PacketType::vendor);
  std::uint16_t code = 0;
  std::uint32_t flags = 0;
  std::array<std::uint64_t, 6> operands{};
  std::uint64_t completion = 0;
};
static_assert(sizeof(Packet) == 64 && sizeof(VendorPacket) == 64);
static_assert(offsetof(Packet, kernel_object) == 32 && offsetof(Packet, arguments) == 40);
static_assert(offsetof(Packet, completion) == 56 && offsetof(VendorPacket, completion) == 56);

enum class VendorCode : std::uint16_t {
  copy = 1,          // to, from, bytes; they must not overlap
  fill = 2,          // to, bytes, value of a byte
  record_list = 3,   // list, address of packets, how many: checked and kept; what they point at may go
  execute_list = 4,  // list
  forget_list = 5,   // list; it may have gone with memory that it reached
};

inline constexpr std::uint64_t most_listed = 1 << 16;
inline constexpr std::uint64_t most_lists = 256;
enum class CommandKind : std::uint8_t { dispatch, barrier, copy, fill, record_list, execute_list, forget_list };

// A packet, understood.
struct Command {
  CommandKind kind = CommandKind::barrier;
  std::uint64_t tag = 0;         // comes back when it is done; 0: only a failure is told
  std::uint64_t contract = 0;    // of a dispatch: the digest
  bool alone = false;            // of a dispatch: see setup_alone
  std::uint64_t address = 0;     // of the arguments; where to; of a list's packets
  std::uint64_t source = 0;      // of a copy: where from
  std::uint64_t bytes = 0;       // of a copy, a filling
  std::uint8_t value = 0;        // of a filling
  std::uint64_t list = 0;        // its number, the client's choice
  std::uint64_t list_count = 0;  // of a recording
};

constexpr Packet dispatch_packet(std::uint64_t contract, std::uint64_t arguments, std::uint64_t tag,
                                 bool alone = false) {
  Packet packet;
  packet.header = packet_header(PacketType::dispatch);
  packet.setup = static_cast<std::uint16_t>(setup_one_dimension | (alone ? setup_alone : 0));
  packet.workgroup = {1, 1, 1};
  packet.grid = {1, 1, 1};
  packet.kernel_object = contract;
  packet.arguments = arguments;
  packet.completion = tag;
  return packet;
}

constexpr Packet barrier_packet(std::uint64_t tag) {
  Packet packet;
  packet.header = packet_header(PacketType::barrier_and);
  packet.completion = tag;
  return packet;
}

constexpr Packet vendor_packet(VendorCode code, const std::array<std::uint64_t, 4>& operands, std::uint64_t tag) {
  VendorPacket packet;
  packet.code = static_cast<std::uint16_t>(code);
  for (std::size_t i = 0; i < operands.size(); ++i) packet.operands[i] = operands[i];
  packet.completion = tag;
  return __builtin_bit_cast(Packet, packet);
}

namespace packet_detail {

inline Error broken(std::string_view what, std::uint64_t expected, std::uint64_t found) {
  return Error::of(ErrorCode::invalid_argument, "packet: expected ", what, " ", expected, ", found ", found);
}

inline Result<void> require(std::string_view what, std::uint64_t expected, std::uint64_t found) {
  if (expected != found) return broken(what, expected, found);
  return {};
}

inline Result<void> require_stretch(std::string_view what, std::uint64_t begin, std::uint64_t bytes) {
  if (begin < end_of_addresses && bytes <= end_of_addresses - begin) return {};
  return Error::of(ErrorCode::out_of_range, "packet: expected ", what, " below 2^56, found ", bytes, " bytes at ",
                   begin);
}

inline Result<Command> decode_dispatch(const Packet& packet) {
  Command command;
  command.kind = CommandKind::dispatch;
  TRY(require("setup", setup_one_dimension, packet.setup & ~unsigned{setup_alone}));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    TRY(require("a workgroup of", 1, packet.workgroup[axis]));
    TRY(require("a grid of", 1, packet.grid[axis]));
  }
  TRY(require("private bytes of", 0, packet.private_bytes));
  TRY(require("group bytes of", 0, packet.group_bytes));
  TRY(require("reserved bits of", 0, packet.reserved0 | packet.reserved1));
  if (packet.arguments % 8 != 0 || packet.arguments >= end_of_addresses) {
    return Error::of(ErrorCode::invalid_argument, "packet: expected arguments at a multiple of 8 below 2^56, found ",
                     packet.arguments);
  }
  command.tag = packet.completion;
  command.contract = packet.kernel_object;
  command.alone = (packet.setup & setup_alone) != 0;
  command.address = packet.arguments;
  return command;
}

inline Result<Command> decode_barrier(const Packet& packet) {
  // Signals that it waits for are not needed where packets keep their order.
  Packet expected = barrier_packet(packet.completion);
  expected.header = packet.header;
  const auto words = __builtin_bit_cast(std::array<std::uint64_t, 8>, packet);
  const auto expected_words = __builtin_bit_cast(std::array<std::uint64_t, 8>, expected);
  for (std::size_t i = 0; i < words.size(); ++i) TRY(require("a barrier's word of", expected_words[i], words[i]));
  Command command;
  command.tag = packet.completion;
  return command;
}

inline Result<Command> decode_list(Command command, CommandKind kind, const VendorPacket& packet) {
  command.kind = kind;
  command.list = packet.operands[0];
  if (kind != CommandKind::record_list) return command;
  command.address = packet.operands[1];
  command.list_count = packet.operands[2];
  if (command.list_count == 0 || command.list_count > most_listed) {
    return Error::of(ErrorCode::out_of_range, "packet: expected a list of 1 to ", most_listed, " packets, found ",
                     command.list_count);
  }
  if (command.address % 8 != 0)
    return broken("a list's address, of which the remainder by 8 is", 0, command.address % 8);
  TRY(require_stretch("a list", command.address, command.list_count * sizeof(Packet)));
  return command;
}

// How many operands a code has; 0 of one that nobody knows.
constexpr std::size_t operands_of(VendorCode code) {
  switch (code) {
    case VendorCode::copy:
    case VendorCode::fill:
    case VendorCode::record_list: return 3;
    case VendorCode::execute_list:
    case VendorCode::forget_list: return 1;
  }
  return 0;
}

inline Result<Command> decode_vendor(const VendorPacket& packet) {
  const auto code = static_cast<VendorCode>(packet.code);
  const std::size_t operands = operands_of(code);
  if (operands == 0) return broken("a vendor code from 1 to", 5, packet.code);
  for (std::size_t i = operands; i < packet.operands.size(); ++i) {
    TRY(require("an unused operand of", 0, packet.operands[i]));
  }
  TRY(require("flags of", 0, packet.flags));
  Command command;
  command.tag = packet.completion;
  switch (code) {
    case VendorCode::copy:
      command.kind = CommandKind::copy;
      command.address = packet.operands[0];
      command.source = packet.operands[1];
      command.bytes = packet.operands[2];
      TRY(require_stretch("a target", command.address, command.bytes));
      TRY(require_stretch("a source", command.source, command.bytes));
      if (command.address < command.source + command.bytes && command.source < command.address + command.bytes) {
        return Error::of(ErrorCode::invalid_argument, "packet: expected a copy between stretches that do not overlap, ",
                         "found ", command.bytes, " bytes from ", command.source, " to ", command.address);
      }
      return command;
    case VendorCode::fill:
      command.kind = CommandKind::fill;
      command.address = packet.operands[0];
      command.bytes = packet.operands[1];
      TRY(require_stretch("a target", command.address, command.bytes));
      if (packet.operands[2] > 0xff) return broken("a byte's value up to", 255, packet.operands[2]);
      command.value = static_cast<std::uint8_t>(packet.operands[2]);
      return command;
    case VendorCode::record_list: return decode_list(command, CommandKind::record_list, packet);
    case VendorCode::execute_list: return decode_list(command, CommandKind::execute_list, packet);
    case VendorCode::forget_list: return decode_list(command, CommandKind::forget_list, packet);
  }
  __builtin_unreachable();  // a code has operands, or was refused
}

}  // namespace packet_detail

// Every bit of it is either understood or refused.
inline Result<Command> decode(const Packet& packet) {
  constexpr std::uint16_t reserved_bits = 0xe000;
  if ((packet.header & reserved_bits) != 0) {
    return packet_detail::broken("reserved bits of a header of", 0, packet.header & reserved_bits);
  }
  for (const unsigned scope : {packet.header >> 9 & 3u, packet.header >> 11 & 3u}) {
    if (scope > 2) return packet_detail::broken("a fence's scope up to", 2, scope);
  }
  switch (static_cast<PacketType>(packet.header & 0xff)) {
    case PacketType::vendor: return packet_detail::decode_vendor(__builtin_bit_cast(VendorPacket, packet));
    case PacketType::dispatch: return packet_detail::decode_dispatch(packet);
    case PacketType::barrier_and: return packet_detail::decode_barrier(packet);
    case PacketType::invalid:
    case PacketType::barrier_or: break;
  }
  return Error::of(ErrorCode::unsupported, "packet: expected type 0 (vendor), 2 (dispatch) or 3 (barrier), found ",
                   packet.header & 0xff);
}

}  // namespace ingot::accelerator
