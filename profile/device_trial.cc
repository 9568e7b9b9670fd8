#include "profile/device_trial.h"

#include <algorithm>

#include "profile/fillings.h"

namespace ingot {
namespace {

constexpr std::size_t band_bytes = 256;  // before and behind each copy

}  // namespace

Result<std::size_t> DeviceTrial::take(std::size_t bytes, std::size_t remainder, std::byte filling) {
  Copy copy;
  copy.memory = TRY(device_.allocate(band_bytes + kept_alignment + bytes + band_bytes));
  copy.data = copy.memory.data() + band_bytes + remainder;
  copy.bytes = bytes;
  queue_.fill(copy.memory.data(), std::to_integer<std::uint8_t>(tensor_surroundings), copy.memory.size());
  queue_.fill(copy.data, std::to_integer<std::uint8_t>(filling), bytes);
  copies_.push_back(std::move(copy));
  return copies_.size() - 1;
}

Result<std::size_t> DeviceTrial::copy_in(std::span<std::byte> original) {
  const std::size_t remainder = reinterpret_cast<std::uintptr_t>(original.data()) % kept_alignment;
  const std::size_t index = TRY(take(original.size(), remainder, std::byte{0}));
  copies_[index].original = original;
  queue_.copy_in(copies_[index].data, original.data(), original.size());
  return index;
}

Result<std::size_t> DeviceTrial::take_scratch(std::size_t bytes) { return take(bytes, 0, scratch_filling); }

Result<void> DeviceTrial::bring_back(std::span<const std::string> names) {
  TRY(queue_.wait());
  std::vector<std::byte> image;
  for (std::size_t index = 0; index < copies_.size(); ++index) {
    const Copy& copy = copies_[index];
    image.resize(copy.memory.size());
    queue_.copy_out(image.data(), copy.memory.data(), image.size());
    TRY(queue_.wait());
    const auto inside = image.begin() + (copy.data - copy.memory.data());
    const auto end = inside + static_cast<std::ptrdiff_t>(copy.bytes);
    auto is_changed = [](std::byte byte) { return byte != tensor_surroundings; };
    if (std::any_of(image.begin(), inside, is_changed) || std::any_of(end, image.end(), is_changed)) {
      return Error::of(ErrorCode::corrupt, "expected writes to outputs only, found changed bytes beside ",
                       names[index]);
    }
    if (!copy.original.empty()) std::copy(inside, end, copy.original.begin());
  }
  return {};
}

}  // namespace ingot
