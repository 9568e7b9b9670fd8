#include "os/arch/x86_64/user_vector_layout.h"

namespace ingot::os::arch {

bool is_tile_configuration(const std::byte* bytes) {
  constexpr std::size_t tiles = 8, places = 16, most_rows = 16, most_row_bytes = 64;
  struct {
    std::uint8_t palette, first_row, reserved[14];
    std::uint16_t row_bytes[places];
    std::uint8_t rows[places];
  } found;
  static_assert(sizeof found == 64);
  __builtin_memcpy(&found, bytes, sizeof found);
  if (found.palette != 1 || found.first_row >= most_rows) return false;
  for (const std::uint8_t byte : found.reserved) {
    if (byte != 0) return false;
  }
  for (std::size_t tile = 0; tile < places; ++tile) {
    const bool is_empty = found.rows[tile] == 0;
    if (is_empty != (found.row_bytes[tile] == 0) || (tile >= tiles && !is_empty)) return false;
    if (found.rows[tile] > most_rows || found.row_bytes[tile] > most_row_bytes) return false;
  }
  return true;
}

void make_loadable(std::span<std::byte> state, std::uint32_t loaded, const VectorLayout& layout) {
  constexpr std::size_t control_place = 24;
  std::uint32_t control = 0;
  __builtin_memcpy(&control, &state[control_place], sizeof control);
  control &= layout.control_bits;
  __builtin_memcpy(&state[control_place], &control, sizeof control);
  if (layout.instruction == VectorLayout::Instruction::fxsave) return;
  std::uint64_t held = 0;
  __builtin_memcpy(&held, &state[VectorLayout::legacy_bytes], sizeof held);
  held &= loaded & layout.parts;
  constexpr std::uint32_t tiles = VectorLayout::tile_configuration | VectorLayout::tile_data;
  // Without a configuration there is no tile that data could be of.
  const bool is_configured =
      (held & VectorLayout::tile_configuration) != 0 && is_tile_configuration(&state[layout.tile_configuration_place]);
  if (!is_configured) held &= ~std::uint64_t{tiles};
  // The rest of the header must be zero (SDM volume 1, 13.8).
  __builtin_memset(&state[VectorLayout::legacy_bytes], 0, VectorLayout::header_bytes);
  __builtin_memcpy(&state[VectorLayout::legacy_bytes], &held, sizeof held);
}

}  // namespace ingot::os::arch
