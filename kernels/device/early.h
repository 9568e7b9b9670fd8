// What a launch does before it waits for the one before it, where the chip lets it begin while that one still runs.
//
//   INGOT_DEVICE_FUNCTION_AFTER(name, Parameters, most_threads, before) { ... }
//
// is INGOT_DEVICE_FUNCTION (kernels/device/language.h), but before(parameters) runs ahead of the wait. It may ask for
// what the body will read, and must neither read nor write memory itself: what lies there may not be written yet, or
// still be read. That every thread waits behind it, whatever it finds, is why this is no call in the body: a launch
// that ended without waiting would let the next one begin before the one before it has ended.
#pragma once

#include "kernels/device/memory.h"

#if defined(__CUDACC__)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define INGOT_LET_NEXT_LAUNCH_BEGIN asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define INGOT_LET_NEXT_LAUNCH_BEGIN static_cast<void>(0)
#endif

#define INGOT_DEVICE_FUNCTION_AFTER(name, Parameters, most_threads, before)                                        \
  static __device__ __forceinline__ void body_of_##name(const Parameters& parameters);                             \
  extern "C" __global__ void __launch_bounds__(most_threads) name(const __grid_constant__ Parameters parameters) { \
    INGOT_LET_NEXT_LAUNCH_BEGIN;                                                                                   \
    before(parameters);                                                                                            \
    INGOT_AWAIT_EARLIER_LAUNCHES;                                                                                  \
    body_of_##name(parameters);                                                                                    \
  }                                                                                                                \
  static __device__ __forceinline__ void body_of_##name(const Parameters& parameters)

#else

#define INGOT_DEVICE_FUNCTION_AFTER(name, Parameters, most_threads, before) \
  static void body_of_##name(const Parameters& parameters);                 \
  INGOT_DEVICE_FUNCTION(name, Parameters, most_threads) {                   \
    before(parameters);                                                     \
    body_of_##name(parameters);                                             \
  }                                                                         \
  static void body_of_##name(const Parameters& parameters)

#endif

namespace ingot::device {

// Asks for `bytes` bytes from a place on to be brought into the second-level cache, which what is written later goes
// through, too: whoever loads them finds what was written last. Both are multiples of 16. Where launches do not overlap
// it does nothing, since the body asks for the same as soon.
#if defined(__CUDACC__)

INGOT_ON_DEVICE void prefetch_bytes([[maybe_unused]] const void* from, [[maybe_unused]] unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (bytes > 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#endif
}

#else

// Reads the first and the last byte: what is not the launch's to read is found here, too.
INGOT_ON_DEVICE void prefetch_bytes(const void* from, unsigned bytes) {
  if (bytes == 0) return;
  require_aligned(from, 16);
  if (bytes % 16 != 0) emulated::fail("expected to prefetch whole units of 16 bytes, found", bytes);
  const auto* const first = static_cast<const volatile std::uint8_t*>(from);
  static_cast<void>(first[0]);
  static_cast<void>(first[bytes - 1]);
}

#endif

}  // namespace ingot::device
