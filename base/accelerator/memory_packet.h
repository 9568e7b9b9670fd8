// Memory packets: what the owner of a client's memory says of it, on a ring of his own. The shape is that of a vendor's
// packet; the codes are others. Each is answered (MemoryAnswer), a map before any command that is given behind its
// answer; what is unmapped is untouched once that is answered.
//
// The addresses of a machine are physical ones. Its memory is one file, of which nobody says where what lies: the
// machine writes a number into a frame of each range, and the worker looks for it.
#pragma once

#include "base/accelerator/packet.h"

namespace ingot::accelerator {

enum class MemoryCode : std::uint16_t {
  map = 1,         // client's address, bytes, offset in the memory: the next one that was handed over; flags: rights
  unmap = 2,       // client's address, of a range that was mapped
  adopt = 3,       // the next memory that was handed over is this machine's; answered with its bytes. Once
  locate = 4,      // a range's physical address, its bytes, a frame in it, a nonce; answered with the range's offset
  map_pieces = 5,  // client's address, bytes, physical address of a table of pieces, how many; flags: rights
};

// Whether a memory is handed over for it: that is taken, also where the order is refused.
constexpr bool brings_memory(MemoryCode code) { return code == MemoryCode::map || code == MemoryCode::adopt; }

inline constexpr std::uint32_t right_write = 1;  // flag of a map; every range may be read
inline constexpr std::uint64_t page_bytes = 4096;

// A frame that is to be found begins with the nonce, this many times in a row, until the answer has come.
inline constexpr std::size_t nonce_repeats = 8;

// An entry of a table: whole pages in one located range. The table begins at a page, and lies in one located range,
// too; its pieces, one after the other, are the client's range.
struct MemoryPiece {
  std::uint64_t physical = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(MemoryPiece) == 16);
inline constexpr std::uint64_t most_pieces = 1 << 16;
inline constexpr std::uint64_t most_located = 64;

struct MemoryCommand {
  MemoryCode code = MemoryCode::map;
  std::uint64_t tag = 0;
  std::uint64_t address = 0;  // the client's; of locate: a physical one
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // of a map
  bool writable = false;     // of both kinds of map
  std::uint64_t frame = 0;   // of locate
  std::uint64_t nonce = 0;   // of locate
  std::uint64_t table = 0;   // of map_pieces
  std::uint64_t pieces = 0;  // of map_pieces
};

constexpr VendorPacket memory_packet(MemoryCode code, const std::array<std::uint64_t, 4>& operands, std::uint64_t tag,
                                     std::uint32_t flags = 0) {
  VendorPacket packet;
  packet.code = static_cast<std::uint16_t>(code);
  packet.flags = flags;
  for (std::size_t i = 0; i < operands.size(); ++i) packet.operands[i] = operands[i];
  packet.completion = tag;
  return packet;
}

namespace packet_detail {

inline Result<void> require_pages(std::string_view what, std::uint64_t begin, std::uint64_t bytes) {
  if ((begin | bytes) % page_bytes != 0 || bytes == 0) {
    return Error::of(ErrorCode::invalid_argument, "packet: expected ", what, " of whole pages of ", page_bytes,
                     " bytes, found ", bytes, " bytes at ", begin);
  }
  return require_stretch(what, begin, bytes);
}

inline Result<MemoryCommand> decode_locate(MemoryCommand command, const VendorPacket& packet) {
  command.frame = packet.operands[2];
  command.nonce = packet.operands[3];
  TRY(require_pages("a range", command.address, command.bytes));
  TRY(require_pages("a frame", command.frame, page_bytes));
  // What a page has that nobody wrote is zero.
  if (command.nonce == 0) return broken("a nonce other than", 0, 0);
  if (command.frame < command.address || command.frame - command.address >= command.bytes) {
    return Error::of(ErrorCode::out_of_range, "packet: expected a frame in ", command.bytes, " bytes at ",
                     command.address, ", found ", command.frame);
  }
  return command;
}

// How many operands a code has; 5 of one that nobody knows.
constexpr std::size_t operands_of(MemoryCode code) {
  switch (code) {
    case MemoryCode::map: return 3;
    case MemoryCode::unmap: return 1;
    case MemoryCode::adopt: return 0;
    case MemoryCode::locate:
    case MemoryCode::map_pieces: return 4;
  }
  return 5;
}

}  // namespace packet_detail

// Every bit of it is either understood or refused.
inline Result<MemoryCommand> decode_memory(const VendorPacket& packet) {
  using packet_detail::require;
  TRY(require("a memory packet's header of", packet_header(PacketType::vendor), packet.header));
  MemoryCommand command;
  command.code = static_cast<MemoryCode>(packet.code);
  command.tag = packet.completion;
  const std::size_t operands = packet_detail::operands_of(command.code);
  if (operands > 4) return packet_detail::broken("a memory code from 1 to", 5, packet.code);
  for (std::size_t i = operands; i < packet.operands.size(); ++i) {
    TRY(require("an unused operand of", 0, packet.operands[i]));
  }
  const bool is_mapping = command.code == MemoryCode::map || command.code == MemoryCode::map_pieces;
  if (!is_mapping) TRY(require("flags of", 0, packet.flags));
  if ((packet.flags & ~right_write) != 0) return packet_detail::broken("flags of a map below", 2, packet.flags);
  command.writable = (packet.flags & right_write) != 0;
  command.address = packet.operands[0];
  command.bytes = packet.operands[1];
  switch (command.code) {
    case MemoryCode::unmap:
    case MemoryCode::adopt: return command;
    case MemoryCode::map:
      command.offset = packet.operands[2];
      TRY(packet_detail::require_pages("a range", command.address, command.bytes));
      TRY(packet_detail::require_pages("an offset", command.offset, command.bytes));
      return command;
    case MemoryCode::locate: return packet_detail::decode_locate(command, packet);
    case MemoryCode::map_pieces: break;
  }
  command.table = packet.operands[2];
  command.pieces = packet.operands[3];
  TRY(packet_detail::require_pages("a range", command.address, command.bytes));
  TRY(packet_detail::require_pages("a table", command.table, page_bytes));
  if (command.pieces == 0 || command.pieces > most_pieces) {
    return Error::of(ErrorCode::out_of_range, "packet: expected a table of 1 to ", most_pieces, " pieces, found ",
                     command.pieces);
  }
  TRY(packet_detail::require_stretch("a table", command.table, command.pieces * sizeof(MemoryPiece)));
  return command;
}

}  // namespace ingot::accelerator
