#include "profile/tensor_pieces.h"

#include <algorithm>

namespace ingot {
namespace {

bool overlap(const Footprint& first, const Footprint& second) {
  return first.begin < second.end && second.begin < first.end;
}

}  // namespace

std::vector<Footprint> tensor_pieces(const Operation& operation, const Invocation& invocation) {
  std::vector<Footprint> footprints = {{}};
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    if (!operation.fields[index].is_tensor) continue;
    const Footprint footprint = footprint_of(invocation.tensor(static_cast<int>(index)));
    if (footprint.size() > 0) footprints.push_back(footprint);
  }
  std::sort(footprints.begin(), footprints.end(),
            [](const Footprint& first, const Footprint& second) { return first.begin < second.begin; });
  std::vector<Footprint> joined;
  for (const Footprint& footprint : footprints) {
    if (joined.empty() || !overlap(joined.back(), footprint)) {
      joined.push_back(footprint);
    } else {
      joined.back().end = std::max(joined.back().end, footprint.end);
    }
  }
  return joined;
}

std::size_t piece_of(const ConstAnyView& view, std::span<const Footprint> pieces) {
  const Footprint footprint = footprint_of(view);
  const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const Footprint& piece) {
    return footprint.size() == 0 ? piece.size() == 0 : overlap(footprint, piece);
  });
  return static_cast<std::size_t>(found - pieces.begin());
}

Result<std::unique_ptr<Invocation>> moved_call(const Operation& operation, const Invocation& original,
                                               std::span<const Footprint> pieces, std::span<std::byte* const> homes,
                                               Place place) {
  std::unique_ptr<Invocation> moved = original.clone();
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    if (!operation.fields[index].is_tensor) continue;
    const ConstAnyView view = original.tensor(static_cast<int>(index));
    if (view.data() == nullptr) continue;
    const std::size_t piece = piece_of(view, pieces);
    std::byte* data = homes[piece];
    if (pieces[piece].size() > 0) data += reinterpret_cast<std::uintptr_t>(view.data()) - pieces[piece].begin;
    TRY(moved->set_tensor(static_cast<int>(index),
                          AnyView(data, view.dtype(), view.shape(), view.byte_strides(), place)));
  }
  return moved;
}

}  // namespace ingot
