#include "machine/gpu/emulated/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "machine/gpu/emulated/sanitizers.h"

#if INGOT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" void ingot_switch_fiber(void** left_stack_pointer, void* entered_stack_pointer);

namespace ingot::emulated {
namespace {

// Instrumented frames are several times as large.
constexpr std::size_t stack_bytes = std::size_t{INGOT_ADDRESS_SANITIZER ? 256 : 64} << 10;

// Tops of stacks that lie a power of two apart would all want the same few lines of the first-level cache.
constexpr std::size_t colour_step = 320;
constexpr std::size_t colour_span = 4096;

// Who switched last: on the other side only he knows what stack was left.
[[maybe_unused]] constinit thread_local Fiber* leaving = nullptr;

// A frame as ingot_switch_fiber leaves one, whose return leads to the entry.
void* first_frame(std::byte* top, void (*entry)()) {
#if defined(__aarch64__)
  constexpr std::size_t words = 20;
  constexpr std::size_t return_word = 11;
  void** frame = reinterpret_cast<void**>(top) - words;
#else
  // At a function's first instruction the stack is 8 bytes off a multiple of 16, as a call leaves it.
  constexpr std::size_t words = 7;
  constexpr std::size_t return_word = 6;
  void** frame = reinterpret_cast<void**>(top) - words - 1;
#endif
  std::fill_n(frame, words, nullptr);
  frame[return_word] = reinterpret_cast<void*>(entry);
  return static_cast<void*>(frame);
}

}  // namespace

void Fiber::prepare(std::span<std::byte> stack, void (*entry)()) {
#if INGOT_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stack.data(), stack.size());
#endif
  bottom_ = stack.data();
  bytes_ = stack.size();
  frames_ = nullptr;
  stack_pointer_ = first_frame(stack.data() + stack.size(), entry);
}

void Fiber::switch_to(Fiber& next) {
#if INGOT_ADDRESS_SANITIZER
  leaving = this;
  __sanitizer_start_switch_fiber(&frames_, next.bottom_, next.bytes_);
#endif
  ingot_switch_fiber(&stack_pointer_, next.stack_pointer_);
#if INGOT_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(frames_, &leaving->bottom_, &leaving->bytes_);
#endif
}

void Fiber::arrive() {
#if INGOT_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, &leaving->bottom_, &leaving->bytes_);
#endif
}

Result<FiberStacks> FiberStacks::reserve(std::size_t count) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = count * (stack_bytes + page);
  void* mapping = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return Error::of(ErrorCode::out_of_memory, "expected ", bytes,
                     " bytes of addresses for the stacks of an emulated device, found: ", std::strerror(errno));
  }
  return FiberStacks(static_cast<std::byte*>(mapping), bytes, page);
}

FiberStacks::FiberStacks(FiberStacks&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), bytes_(other.bytes_), page_(other.page_) {}

FiberStacks::~FiberStacks() {
  if (mapping_ == nullptr) return;
#if INGOT_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(mapping_, bytes_);
#endif
  munmap(mapping_, bytes_);
}

Result<std::span<std::byte>> FiberStacks::open(std::size_t index) {
  std::byte* stack = mapping_ + index * (stack_bytes + page_) + page_;
  if (mprotect(stack, stack_bytes, PROT_READ | PROT_WRITE) != 0) {
    return Error::of(ErrorCode::out_of_memory, "expected a stack of ", stack_bytes,
                     " bytes for a thread of an emulated device, found: ", std::strerror(errno));
  }
  return std::span(stack, stack_bytes - index * colour_step % colour_span / 64 * 64);
}

}  // namespace ingot::emulated
