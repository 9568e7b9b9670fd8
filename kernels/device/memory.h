// Loads and stores of several words at once, hints about caches, and asynchronous copies into shared memory.
//
// An address must be a multiple of what is moved: a device faults otherwise, an emulated one tells.
#pragma once

#include "kernels/device/language.h"

#if !defined(__CUDACC__)
#include <cstring>
#endif

namespace ingot::device {

struct alignas(16) Words16 {
  std::uint32_t words[4];
};
struct alignas(8) Words8 {
  std::uint32_t words[2];
};

#if defined(__CUDACC__)

INGOT_ON_DEVICE Words16 words_of(uint4 value) { return {{value.x, value.y, value.z, value.w}}; }
INGOT_ON_DEVICE uint4 vector_of(Words16 value) {
  return make_uint4(value.words[0], value.words[1], value.words[2], value.words[3]);
}
INGOT_ON_DEVICE Words8 words_of(uint2 value) { return {{value.x, value.y}}; }

INGOT_ON_DEVICE Words16 load16(const void* from) { return words_of(*static_cast<const uint4*>(from)); }
INGOT_ON_DEVICE void store16(void* to, Words16 value) { *static_cast<uint4*>(to) = vector_of(value); }
INGOT_ON_DEVICE Words8 load8(const void* from) { return words_of(*static_cast<const uint2*>(from)); }
INGOT_ON_DEVICE void store8(void* to, Words8 value) {
  *static_cast<uint2*>(to) = make_uint2(value.words[0], value.words[1]);
}

// Four bytes from any address. A device reads the words that hold them: what else these hold is not looked at.
INGOT_ON_DEVICE std::uint32_t load4_anywhere(const void* from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const auto* first = reinterpret_cast<const std::uint32_t*>(address / 4 * 4);
  const auto* last = reinterpret_cast<const std::uint32_t*>((address + 3) / 4 * 4);
  return __funnelshift_r(__ldg(first), __ldg(last), static_cast<unsigned>(address % 4) * 8);
}

// What moves in one piece, by its type: an integer, Words8 or Words16.
template <class Unit>
INGOT_ON_DEVICE Unit load_unit(const void* from) {
  return *static_cast<const Unit*>(from);
}
template <>
INGOT_ON_DEVICE Words8 load_unit<Words8>(const void* from) {
  return load8(from);
}
template <>
INGOT_ON_DEVICE Words16 load_unit<Words16>(const void* from) {
  return load16(from);
}
template <class Unit>
INGOT_ON_DEVICE void store_unit(void* to, Unit value) {
  *static_cast<Unit*>(to) = value;
}
INGOT_ON_DEVICE void store_unit(void* to, Words8 value) { store8(to, value); }
INGOT_ON_DEVICE void store_unit(void* to, Words16 value) { store16(to, value); }

// Of what the launch never writes and reads once: it leaves the first-level cache to others.
INGOT_ON_DEVICE Words16 load16_streaming(const void* from) {
  uint4 value;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(from));
  return words_of(value);
}
template <class Value>
INGOT_ON_DEVICE Value load_streaming(const Value* from) {
  return __ldcs(from);
}
// Of what the launch never writes and reads often.
INGOT_ON_DEVICE Words16 load16_constant(const void* from) { return words_of(__ldg(static_cast<const uint4*>(from))); }
template <class Value>
INGOT_ON_DEVICE Value load_constant(const Value* from) {
  return __ldg(from);
}
// Of what nobody reads soon.
INGOT_ON_DEVICE void store16_streaming(void* to, Words16 value) { __stcs(static_cast<uint4*>(to), vector_of(value)); }
template <class Value>
INGOT_ON_DEVICE void store_streaming(Value* to, Value value) {
  __stcs(to, value);
}
// Into the second-level cache.
INGOT_ON_DEVICE void prefetch(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

INGOT_ON_DEVICE unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// From global to shared memory, while the thread goes on. Copies since the last commit_copies() are a group, and
// wait_for_copies<N>() returns when all groups but the last N are there: for this thread; others need a barrier too.
INGOT_ON_DEVICE void copy_async16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
// The first `bytes` bytes, and zeros in place of the rest, which is not read.
INGOT_ON_DEVICE void copy_async16(void* shared, const void* global, unsigned bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global), "r"(bytes)
               : "memory");
}
INGOT_ON_DEVICE void copy_async4(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
INGOT_ON_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <unsigned Groups>
INGOT_ON_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

// What was there before. Integers only: sums of floats would depend on who comes first.
INGOT_ON_DEVICE std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t value) { return atomicAdd(to, value); }
INGOT_ON_DEVICE std::int32_t atomic_add(std::int32_t* to, std::int32_t value) { return atomicAdd(to, value); }
INGOT_ON_DEVICE std::uint32_t atomic_maximum(std::uint32_t* to, std::uint32_t value) { return atomicMax(to, value); }
// What this thread wrote is seen by all blocks before what it writes from here on.
INGOT_ON_DEVICE void fence_device() { __threadfence(); }

#else

INGOT_ON_DEVICE void require_aligned(const void* address, std::uintptr_t bytes) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number % bytes != 0) [[unlikely]] {
    emulated::fail("expected an address that is a multiple of the bytes that are moved, found that modulo 16 it is",
                   number % 16);
  }
}
template <class Words>
INGOT_ON_DEVICE Words load_words(const void* from) {
  require_aligned(from, sizeof(Words));
  Words value;
  std::memcpy(&value, from, sizeof(Words));
  return value;
}
template <class Words>
INGOT_ON_DEVICE void store_words(void* to, const Words& value) {
  require_aligned(to, sizeof(Words));
  std::memcpy(to, &value, sizeof(Words));
}

INGOT_ON_DEVICE Words16 load16(const void* from) { return load_words<Words16>(from); }
INGOT_ON_DEVICE void store16(void* to, Words16 value) { store_words(to, value); }
INGOT_ON_DEVICE Words8 load8(const void* from) { return load_words<Words8>(from); }
INGOT_ON_DEVICE void store8(void* to, Words8 value) { store_words(to, value); }
INGOT_ON_DEVICE std::uint32_t load4_anywhere(const void* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class Unit>
INGOT_ON_DEVICE Unit load_unit(const void* from) {
  return load_words<Unit>(from);
}
template <class Unit>
INGOT_ON_DEVICE void store_unit(void* to, Unit value) {
  store_words(to, value);
}
INGOT_ON_DEVICE Words16 load16_streaming(const void* from) { return load16(from); }
INGOT_ON_DEVICE Words16 load16_constant(const void* from) { return load16(from); }
INGOT_ON_DEVICE void store16_streaming(void* to, Words16 value) { store16(to, value); }
template <class Value>
INGOT_ON_DEVICE Value load_streaming(const Value* from) {
  return load_words<Value>(from);
}
template <class Value>
INGOT_ON_DEVICE Value load_constant(const Value* from) {
  return load_words<Value>(from);
}
template <class Value>
INGOT_ON_DEVICE void store_streaming(Value* to, Value value) {
  store_words(to, value);
}
INGOT_ON_DEVICE void prefetch(const void*) {}

INGOT_ON_DEVICE void copy_async16(void* shared, const void* global) {
  require_aligned(shared, 16);
  require_aligned(global, 16);
  emulated::copy_later(shared, global, 16, 16);
}
INGOT_ON_DEVICE void copy_async16(void* shared, const void* global, unsigned bytes) {
  require_aligned(shared, 16);
  require_aligned(global, 16);
  if (bytes > 16) emulated::fail("expected to copy 16 bytes at most, found", bytes);
  emulated::copy_later(shared, global, bytes, 16);
}
INGOT_ON_DEVICE void copy_async4(void* shared, const void* global) {
  require_aligned(shared, 4);
  require_aligned(global, 4);
  emulated::copy_later(shared, global, 4, 4);
}
INGOT_ON_DEVICE void commit_copies() { emulated::close_copy_group(); }
template <unsigned Groups>
INGOT_ON_DEVICE void wait_for_copies() {
  emulated::await_copies(Groups);
}

// One thread runs at a time, until it waits.
template <class Integer>
INGOT_ON_DEVICE Integer replace_by(Integer* to, Integer value) {
  const Integer before = *to;
  *to = value;
  return before;
}
INGOT_ON_DEVICE std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t value) { return replace_by(to, *to + value); }
INGOT_ON_DEVICE std::int32_t atomic_add(std::int32_t* to, std::int32_t value) {
  return replace_by(to, static_cast<std::int32_t>(static_cast<std::uint32_t>(*to) + static_cast<std::uint32_t>(value)));
}
INGOT_ON_DEVICE std::uint32_t atomic_maximum(std::uint32_t* to, std::uint32_t value) {
  return replace_by(to, *to < value ? value : *to);
}
INGOT_ON_DEVICE void fence_device() {}

#endif

}  // namespace ingot::device
