#include "os/device/virtio/virtio_places.h"

#include "base/image/boot_arguments.h"
#include "os/device/virtio/virtio_mmio.h"

namespace ingot::os {

namespace {

// Takes a number off the front, decimal or behind 0x hexadecimal; a letter K multiplies it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  std::uint64_t number = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && number >> 58 == 0; ++digits) {
    const int digit = EncodedArgument::digit(text[digits]);
    if (digit < 0 || digit >= base) break;
    number = number * static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(digit);
  }
  text.remove_prefix(digits);
  if (digits == 0 || !text.starts_with('K')) return digits == 0 ? std::nullopt : std::optional(number);
  text.remove_prefix(1);
  return number >> 54 == 0 ? std::optional(number << 10) : std::nullopt;
}

bool take_letter(std::string_view& text, char letter) {
  if (!text.starts_with(letter)) return false;
  text.remove_prefix(1);
  return true;
}

// A fourth part, which Linux takes as the device's number, is not needed.
std::optional<VirtioPlace> parse(std::string_view text) {
  constexpr std::uint64_t most_bytes = 1 << 20, most_lines = 1024;
  const auto bytes = take_number(text);
  if (!bytes || !take_letter(text, '@')) return std::nullopt;
  const auto begin = take_number(text);
  if (!begin || !take_letter(text, ':')) return std::nullopt;
  const auto line = take_number(text);
  if (!line || (!text.empty() && !text.starts_with(':'))) return std::nullopt;
  if (*bytes < VirtioMmio::register_bytes || *bytes > most_bytes || *begin % 4 != 0 || *begin + *bytes < *begin ||
      *line >= most_lines) {
    return std::nullopt;
  }
  return VirtioPlace{PhysicalAddress(*begin), static_cast<std::uint32_t>(*bytes), static_cast<std::uint32_t>(*line)};
}

}  // namespace

Result<std::optional<VirtioPlace>> VirtioPlaceWords::next() {
  while (!rest_.empty()) {
    const std::size_t blank = rest_.find(' ');
    const std::string_view word = rest_.substr(0, blank);
    rest_.remove_prefix(blank == std::string_view::npos ? rest_.size() : blank + 1);
    if (!word.starts_with(device_word)) continue;
    const std::optional<VirtioPlace> place = parse(word.substr(device_word.size()));
    if (place) return place;
    return Error::of(ErrorCode::invalid_argument, "expected virtio_mmio.device=SIZE@ADDRESS:LINE, found ",
                     word.substr(0, 80));
  }
  return std::optional<VirtioPlace>();
}

bool is_microvm(TableBytes fadt) {
  constexpr std::size_t maker_at = 10, flags_at = 112;
  constexpr std::string_view maker = "BOCHS ";          // QEMU's tables say so, on all of its machines
  constexpr std::uint32_t hardware_reduced = 1u << 20;  // and of those for this processor, microvm's alone this
  if (fadt.size() < flags_at + 4) return false;
  for (std::size_t i = 0; i < maker.size(); ++i) {
    if (std::to_integer<char>(fadt[maker_at + i]) != maker[i]) return false;
  }
  return (number_inside<std::uint32_t>(fadt, flags_at) & hardware_reduced) != 0;
}

}  // namespace ingot::os
