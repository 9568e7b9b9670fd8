#include "profile/device_copies.h"

#include <algorithm>
#include <bit>

#include "base/units.h"
#include "profile/tensor_pieces.h"

namespace ingot {
namespace {

constexpr std::size_t piece_alignment = 256;
constexpr std::size_t most_copies = 1024;

}  // namespace

Result<DeviceCopies> DeviceCopies::make(Device& device, Queue& queue, const Operation& operation,
                                        const Invocation& original, std::size_t scratch_bytes) {
  const std::vector<Footprint> pieces = tensor_pieces(operation, original);
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for (const Footprint& piece : pieces) {
    offsets.push_back(bytes);
    bytes += align_up(piece.size(), piece_alignment);
  }
  bytes = std::max(bytes, piece_alignment);
  const DeviceMemoryState state = TRY(device.memory_state());
  const std::size_t wanted = 3 * device.information().level2_bytes / bytes + 2;
  const std::size_t possible = std::max<std::size_t>(state.free_bytes / 2 / bytes, 1);
  const std::size_t count = std::min({wanted, possible, most_copies});

  DeviceCopies made;
  made.scratch_ = TRY(device.allocate(scratch_bytes));
  made.memory_ = TRY(device.allocate(count * bytes));
  for (std::size_t copy = 0; copy < count; ++copy) {
    std::byte* const begin = made.memory_.data() + copy * bytes;
    std::vector<std::byte*> homes;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      homes.push_back(begin + offsets[piece]);
      if (copy > 0) continue;
      queue.copy_in(homes.back(), std::bit_cast<const std::byte*>(pieces[piece].begin), pieces[piece].size());
    }
    if (copy > 0) queue.copy_within(begin, made.memory_.data(), bytes);
    made.calls_.push_back(
        TRY(moved_call(operation, original, pieces, homes, Place::device(device.information().index))));
  }
  TRY(queue.wait());
  return made;
}

}  // namespace ingot
