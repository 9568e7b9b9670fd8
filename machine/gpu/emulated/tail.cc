#include "machine/gpu/emulated/tail.h"

#include <algorithm>

#include "machine/gpu/emulated/sanitizers.h"

#if INGOT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace ingot::emulated {

#if INGOT_ADDRESS_SANITIZER

void close_tail(std::span<std::byte> tail) { __asan_poison_memory_region(tail.data(), tail.size()); }
void open_tail(std::span<std::byte> tail) { __asan_unpoison_memory_region(tail.data(), tail.size()); }
bool is_tail_whole(std::span<const std::byte>) { return true; }

#else

namespace {
constexpr std::byte untouched{0xd7};
}

void close_tail(std::span<std::byte> tail) { std::ranges::fill(tail, untouched); }
void open_tail(std::span<std::byte>) {}
bool is_tail_whole(std::span<const std::byte> tail) {
  return std::ranges::all_of(tail, [](std::byte byte) { return byte == untouched; });
}

#endif

}  // namespace ingot::emulated
