// The language of device sources (kernels/*/*_cuda.cu): C++ with the words of this folder, which mean one thing to the
// device's compiler and another to the host's, that makes of the same source functions for an emulated device.
//
//   nvcc -std=c++20 -fmad=false --expt-relaxed-constexpr -I ROOT ...
//   g++  -std=c++20 -ffp-contract=off -x c++ -I ROOT ...
//
//   namespace ingot::device {
//   INGOT_DEVICE_FUNCTION(double_them, DoubleThem, 256) {   // at most 256 threads a block
//     const unsigned i = block_index() * thread_count() + thread_index();
//     if (i < parameters.count) parameters.y[i] = 2 * parameters.x[i];
//   }
//   }
//
// Sources stand in ingot::device: what a helper is called there may be something else on the host, and both are linked
// into one program. Only this folder names intrinsics. What the language does not have: meetings of a part of a warp,
// blocks with more than one axis, recursion, the heap.
#pragma once

#include <cstdint>

#include "kernels/device/marks.h"

#if defined(__CUDACC__)

// Where the chip can, a launch begins while the one before it still ends. It lets the next one do so, too, and waits
// until what the one before wrote is there, before anything else.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define INGOT_AWAIT_EARLIER_LAUNCHES asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;" ::: "memory")
#else
#define INGOT_AWAIT_EARLIER_LAUNCHES static_cast<void>(0)
#endif

#define INGOT_DEVICE_FUNCTION(name, Parameters, most_threads)                                                      \
  static __device__ __forceinline__ void body_of_##name(const Parameters& parameters);                             \
  extern "C" __global__ void __launch_bounds__(most_threads) name(const __grid_constant__ Parameters parameters) { \
    INGOT_AWAIT_EARLIER_LAUNCHES;                                                                                  \
    body_of_##name(parameters);                                                                                    \
  }                                                                                                                \
  static __device__ __forceinline__ void body_of_##name(const Parameters& parameters)

// In front of an array: one for the block, aligned to 16 bytes. What it holds when a block begins is anybody's guess.
#define INGOT_SHARED __shared__ __align__(16)
// In front of a loop.
#define INGOT_UNROLL _Pragma("unroll")
// Likewise: it stays a loop, for code that is seldom run.
#define INGOT_ROLLED _Pragma("unroll 1")

#else

#include "machine/gpu/emulated/thread.h"

#define INGOT_DEVICE_FUNCTION(name, Parameters, most_threads)            \
  static void name(const Parameters& parameters);                        \
  extern "C" void ingot_emulated_##name(const void* parameters) {        \
    ::ingot::emulated::enter_function(sizeof(Parameters), most_threads); \
    name(*static_cast<const Parameters*>(parameters));                   \
  }                                                                      \
  static void name([[maybe_unused]] const Parameters& parameters)

// A thread of the host plays one block at a time. It holds what the block before left there: which one that was depends
// on the order of blocks, so whoever relies on it gives other bits in another order.
#define INGOT_SHARED alignas(16) static thread_local
#define INGOT_UNROLL
#define INGOT_ROLLED

#endif

namespace ingot::device {

inline constexpr unsigned warp_size = 32;

#if defined(__CUDACC__)

INGOT_ON_DEVICE unsigned thread_index() { return threadIdx.x; }
INGOT_ON_DEVICE unsigned thread_count() { return blockDim.x; }
INGOT_ON_DEVICE unsigned block_index() { return blockIdx.x; }
INGOT_ON_DEVICE unsigned block_index_y() { return blockIdx.y; }
INGOT_ON_DEVICE unsigned block_index_z() { return blockIdx.z; }
INGOT_ON_DEVICE unsigned block_count() { return gridDim.x; }
INGOT_ON_DEVICE unsigned block_count_y() { return gridDim.y; }
INGOT_ON_DEVICE unsigned block_count_z() { return gridDim.z; }

INGOT_ON_DEVICE void synchronize_block() { __syncthreads(); }
INGOT_ON_DEVICE void synchronize_warp() { __syncwarp(); }

// What a launch asked for as shared_bytes: aligned to 16 bytes.
extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];
template <class Type>
INGOT_ON_DEVICE Type* dynamic_shared() {
  return reinterpret_cast<Type*>(dynamic_shared_bytes);
}

// Never meant to happen: ends the launch, and the queue tells.
[[noreturn]] INGOT_ON_DEVICE void stop() {
  __trap();
  __builtin_unreachable();
}

#else

INGOT_ON_DEVICE unsigned thread_index() { return emulated::position.thread; }
INGOT_ON_DEVICE unsigned thread_count() { return emulated::position.threads; }
INGOT_ON_DEVICE unsigned block_index() { return emulated::position.block[0]; }
INGOT_ON_DEVICE unsigned block_index_y() { return emulated::position.block[1]; }
INGOT_ON_DEVICE unsigned block_index_z() { return emulated::position.block[2]; }
INGOT_ON_DEVICE unsigned block_count() { return emulated::position.blocks[0]; }
INGOT_ON_DEVICE unsigned block_count_y() { return emulated::position.blocks[1]; }
INGOT_ON_DEVICE unsigned block_count_z() { return emulated::position.blocks[2]; }

INGOT_ON_DEVICE void synchronize_block() { emulated::meet_block(); }
INGOT_ON_DEVICE void synchronize_warp() { emulated::meet_warp(emulated::Meeting::warp_barrier, nullptr); }

template <class Type>
INGOT_ON_DEVICE Type* dynamic_shared() {
  return reinterpret_cast<Type*>(emulated::position.dynamic_shared);
}

[[noreturn]] INGOT_ON_DEVICE void stop(int line = __builtin_LINE()) {
  emulated::fail("expected never to come here, in line", static_cast<unsigned>(line));
}

#endif

INGOT_ON_DEVICE unsigned lane_index() { return thread_index() % warp_size; }
INGOT_ON_DEVICE unsigned warp_index() { return thread_index() / warp_size; }
INGOT_ON_DEVICE unsigned warp_count() { return (thread_count() + warp_size - 1) / warp_size; }

}  // namespace ingot::device
