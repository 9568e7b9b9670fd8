// A client of an accelerator that writes anything: packets, blocks of arguments, ranges and indices of rings are
// understood or refused, and what is found lies in a range that was added.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/accelerator/argument_block.h"
#include "base/accelerator/client_ranges.h"
#include "base/accelerator/rings.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::accelerator;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void fuzz_packet(ByteSource& source) {
  const Result<Command> decoded = decode(source.take<Packet>());
  if (!decoded.ok()) return;
  const Command& command = decoded.value();
  require(command.address + command.bytes >= command.address && command.source + command.bytes >= command.source);
  if (command.kind == CommandKind::record_list) require(command.list_count - 1 < most_listed);
}

void fuzz_order(ByteSource& source) {
  auto packet = source.take<VendorPacket>();
  if (source.take<std::uint8_t>() % 8 != 0) {  // one whose header is right is refused later
    packet.header = packet_header(PacketType::vendor);
    packet.code = source.take<std::uint8_t>() % 7;
  }
  const Result<MemoryCommand> decoded = decode_memory(packet);
  if (!decoded.ok()) return;
  const MemoryCommand& command = decoded.value();
  switch (command.code) {
    case MemoryCode::map: require(command.offset + command.bytes >= command.offset); [[fallthrough]];
    case MemoryCode::map_pieces:
      require(command.bytes > 0 && command.address % page_bytes == 0 && command.bytes % page_bytes == 0);
      require(command.address + command.bytes <= end_of_addresses);
      if (command.code == MemoryCode::map_pieces) require(command.pieces - 1 < most_pieces);
      break;
    case MemoryCode::locate:
      require(command.frame >= command.address && command.frame + page_bytes <= command.address + command.bytes);
      require(command.nonce != 0);
      break;
    case MemoryCode::unmap:
    case MemoryCode::adopt: break;
    default: require(false);
  }
}

void fuzz_block(ByteSource& source) {
  const std::size_t fields = source.take<std::uint8_t>() % (most_fields + 1);
  std::vector<std::byte> bytes(block_bytes_of(fields));
  ArgumentHeader header = {static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(fields), 0};
  if (source.take<std::uint8_t>() % 8 == 0) header = source.take<ArgumentHeader>();
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t field = 0; field < fields; ++field) {
    const auto record = source.take<ArgumentRecord>();
    std::memcpy(bytes.data() + block_bytes_of(field), &record, sizeof record);
  }
  const Result<ArgumentBlock> block = ArgumentBlock::over(bytes);
  if (!block.ok()) return;
  require(block.value().fields() == fields);
  for (std::size_t field = 0; field < fields; ++field) require(block.value().record(field).rank <= most_axes);
}

void fuzz_ranges(ByteSource& source) {
  ClientRanges<8> ranges;
  std::vector<ClientRange> added;
  while (!source.empty()) {
    ClientRange range;
    range.begin = source.take<std::uint8_t>() % 64;
    range.bytes = source.take<std::uint8_t>() % 16;
    if (source.take<std::uint8_t>() % 16 == 0) range.begin = source.take<std::uint64_t>();
    range.home = 1000 * (added.size() + 1);
    const auto overlaps = [&](const ClientRange& other) {
      return other.begin < range.end() && range.begin < other.end();
    };
    const auto holds = [&](const ClientRange& other) {
      return range.begin >= other.begin && range.end() <= other.end() && range.end() >= range.begin;
    };
    switch (source.take<std::uint8_t>() % 3) {
      case 0:
        if (ranges.add(range).ok()) {
          require(range.bytes > 0 && std::none_of(added.begin(), added.end(), overlaps));
          added.push_back(range);
        }
        break;
      case 1: {
        const bool is_removed = ranges.remove(range.begin).ok();
        require((std::erase_if(added, [&](const ClientRange& each) { return each.begin == range.begin; }) == 1) ==
                is_removed);
        break;
      }
      default: {
        const Result<std::uint64_t> found = ranges.find(range.begin, range.bytes, Access::read);
        if (range.bytes > 0) require(found.ok() == std::any_of(added.begin(), added.end(), holds));
      }
    }
    require(ranges.count() == added.size());
  }
}

void fuzz_rings(ByteSource& source) {
  struct alignas(4096) Memory {
    std::array<std::byte, shared_bytes> bytes{};
  };
  static const auto memory = std::make_unique<Memory>();
  memory->bytes.fill(std::byte{0});
  const SharedWords shared(memory->bytes.data());
  CommandReader commands = command_reader(shared);
  AnswerWriter answers = answer_writer(shared);
  MemoryReader orders = memory_reader(shared);
  MemoryAnswerWriter told = memory_answer_writer(shared);
  while (!source.empty()) {
    shared.doorbell().command_write.store(source.take<std::uint16_t>(), MemoryOrder::release);
    shared.client().answer_read.store(source.take<std::uint8_t>(), MemoryOrder::release);
    const Result<std::uint64_t> waiting = commands.waiting();
    require(!waiting.ok() || waiting.value() <= command_count);
    if (waiting.ok() && waiting.value() > 0) static_cast<void>(commands.take());
    const Result<std::uint64_t> room = answers.room();
    require(!room.ok() || room.value() <= answer_count);
    if (room.ok() && room.value() > 0) answers.push({});
    shared.owner().memory_write.store(source.take<std::uint8_t>(), MemoryOrder::release);
    shared.owner().answer_read.store(source.take<std::uint8_t>(), MemoryOrder::release);
    const Result<std::uint64_t> ordered = orders.waiting();
    require(!ordered.ok() || ordered.value() <= memory_count);
    if (ordered.ok() && ordered.value() > 0) static_cast<void>(orders.take());
    const Result<std::uint64_t> left = told.room();
    require(!left.ok() || left.value() <= memory_answer_count);
    if (left.ok() && left.value() > 0) told.push({});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  switch (source.take<std::uint8_t>() % 5) {
    case 0: fuzz_packet(source); break;
    case 1: fuzz_block(source); break;
    case 2: fuzz_ranges(source); break;
    case 3: fuzz_order(source); break;
    default: fuzz_rings(source);
  }
  return 0;
}
