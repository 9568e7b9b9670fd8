// VectorLayout: the parts of the vector state that this CPU has, how XSAVE lays them out in memory, and which of them a
// program has to ask for (SDM volume 1, chapters 10.5 and 13). Plain arithmetic: tested on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::os::arch {

struct VectorLayout {
  // Bits of XCR0, and of the masks of XSAVE and XRSTOR.
  static constexpr std::uint32_t x87 = 1, sse = 2, tile_configuration = 1u << 17, tile_data = 1u << 18;
  // x87, SSE, AVX; three of AVX-512; two of AMX. Protection keys are not a thread's registers.
  static constexpr std::uint32_t used = 0x7 | 0xe0 | tile_configuration | tile_data;
  // 8 KiB in every thread's memory and in every signal's frame: only for those that use them.
  static constexpr std::uint32_t on_request = tile_data;
  static constexpr std::size_t legacy_bytes = 512, header_bytes = 64;
  enum class Instruction : std::uint8_t { fxsave, xsave, xsaveopt };

  std::uint32_t parts = x87 | sse;                // what is enabled
  std::uint32_t control_bits = 0xffbf;            // of MXCSR that can be loaded; else these, which every CPU has
  std::uint32_t tile_configuration_place = 0;     // in the memory
  std::uint32_t usual_bytes = legacy_bytes;       // of the memory, without what is on request
  std::uint32_t all_bytes = legacy_bytes;         // and with it
  Instruction instruction = Instruction::fxsave;  // that saves it

  std::uint32_t usual_parts() const { return parts & ~on_request; }
  std::uint32_t bytes_of(std::uint32_t wanted) const { return (wanted & on_request) != 0 ? all_bytes : usual_bytes; }

  // cpuid(leaf, subleaf) has the members eax to edx.
  template <class Cpuid>
  static VectorLayout read(Cpuid&& cpuid) {
    constexpr std::uint32_t leaf = 0xd, has_xsave = 1u << 26, has_xsaveopt = 1u << 0, can_forbid_parts = 1u << 4;
    VectorLayout layout;
    if ((cpuid(1, 0).ecx & has_xsave) == 0) return layout;
    const std::uint32_t abilities = cpuid(leaf, 1).eax;
    layout.instruction = (abilities & has_xsaveopt) != 0 ? Instruction::xsaveopt : Instruction::xsave;
    layout.parts = cpuid(leaf, 0).eax & used;
    if ((abilities & can_forbid_parts) == 0) layout.parts &= ~(tile_configuration | tile_data);
    layout.usual_bytes = layout.all_bytes = legacy_bytes + header_bytes;
    for (std::uint32_t part = 2; part < 32; ++part) {
      if ((layout.parts >> part & 1) == 0) continue;
      const auto place = cpuid(leaf, part);
      const std::uint32_t end = place.ebx + place.eax;
      if (end > layout.all_bytes) layout.all_bytes = end;
      if ((on_request >> part & 1) == 0 && end > layout.usual_bytes) layout.usual_bytes = end;
      if (1u << part == tile_configuration) layout.tile_configuration_place = place.ebx;
    }
    return layout;
  }

  // `mask`: as FXSAVE stores it. CPUs that are older than this field store 0.
  void set_control_bits(std::uint32_t mask) {
    if (mask != 0) control_bits = mask;
  }
};

// What a program wrote into the memory of a state may be anything: what the CPU would refuse to load is taken out.
// `loaded`: the parts to load, of those that the memory says it holds; it has room for all of them.
void make_loadable(std::span<std::byte> state, std::uint32_t loaded, const VectorLayout& layout);

// Whether LDTILECFG would take these 64 bytes (SDM volume 2, LDTILECFG; palette 1 is the only one).
bool is_tile_configuration(const std::byte* bytes);

}  // namespace ingot::os::arch
