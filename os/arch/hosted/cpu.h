// An ordinary process as an architecture: each thread is a CPU whose interrupts are a flag. For unit tests only.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/result.h"
#include "os/arch/processor_header.h"
#include "os/memory/address.h"
#include "os/memory/allocator.h"
#include "os/memory/user_memory.h"

namespace ingot::os::arch {

struct CpuidResult {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

namespace hosted {
// The ports of a machine that a test invents: widths in bytes.
class Ports {
 public:
  virtual std::uint32_t read(std::uint16_t port, unsigned width) = 0;
  virtual void write(std::uint16_t port, std::uint32_t value, unsigned width) = 0;

 protected:
  ~Ports() = default;
};
struct Thread {
  bool interrupts_enabled = true;
  ProcessorHeader own_header;
  ProcessorHeader* header = nullptr;
  PhysicalAddress page_table;
  Ports* ports = nullptr;                                            // none: as on a machine without
  std::uint32_t model_register = 0;                                  // the last that was written
  std::uint64_t model_value = 0;                                     // and to what
  std::uint64_t (*model_registers)(std::uint32_t number) = nullptr;  // what a test's CPU holds instead
  std::uint64_t skipped_cycles = 0;                                  // a test makes time pass
  CpuidResult (*cpuid)(std::uint32_t leaf) = nullptr;
  void (*on_pause)() = nullptr;  // a test that simulates CPUs lets another one run
};
inline thread_local Thread thread;
}  // namespace hosted

struct TrapFrame {
  std::uint64_t vector = 0, error_code = 0;
  std::uint64_t arguments[6] = {}, answer = 0;  // of a system call
};
inline VirtualAddress instruction_of(const TrapFrame&) { return VirtualAddress(0); }
inline VirtualAddress stack_pointer_of(const TrapFrame&) { return VirtualAddress(0); }
inline VirtualAddress frame_pointer_of(const TrapFrame&) { return VirtualAddress(0); }

inline void pause() {
  if (hosted::thread.on_pause != nullptr) return hosted::thread.on_pause();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");  // assembly: g++ 12 has no builtin for it
#endif
}

inline bool interrupts_enabled() { return hosted::thread.interrupts_enabled; }
inline void enable_interrupts() { hosted::thread.interrupts_enabled = true; }
inline void disable_interrupts() { hosted::thread.interrupts_enabled = false; }
inline void wait_for_interrupt() { enable_interrupts(); }
[[noreturn]] inline void halt_forever() { std::abort(); }
[[noreturn]] inline void triple_fault() { std::abort(); }

inline std::uint64_t cycle_count() {
  return hosted::thread.skipped_cycles +
         static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// A thread that never said which CPU it is, is CPU 0.
inline ProcessorHeader& current_cpu() {
  return hosted::thread.header != nullptr ? *hosted::thread.header : hosted::thread.own_header;
}
inline void set_current_cpu(ProcessorHeader& header) {
  header.self = &header;
  hosted::thread.header = &header;
}

inline std::uint32_t read_port(std::uint16_t port, unsigned width) {
  return hosted::thread.ports != nullptr ? hosted::thread.ports->read(port, width) : ~0u;
}
inline void write_port(std::uint16_t port, std::uint32_t value, unsigned width) {
  if (hosted::thread.ports != nullptr) hosted::thread.ports->write(port, value, width);
}
inline std::uint8_t read_port_8(std::uint16_t port) { return static_cast<std::uint8_t>(read_port(port, 1)); }
inline std::uint16_t read_port_16(std::uint16_t port) { return static_cast<std::uint16_t>(read_port(port, 2)); }
inline std::uint32_t read_port_32(std::uint16_t port) { return read_port(port, 4); }
inline void write_port_8(std::uint16_t port, std::uint8_t value) { write_port(port, value, 1); }
inline void write_port_16(std::uint16_t port, std::uint16_t value) { write_port(port, value, 2); }
inline void write_port_32(std::uint16_t port, std::uint32_t value) { write_port(port, value, 4); }

struct ProcessorTables {};
struct VectorState {
  VectorState() = default;
  VectorState(VectorState&&) noexcept {}  // as the kernel's own, it can be moved and not copied
  static Result<VectorState> create(Allocator&) { return VectorState{}; }
  static Result<VectorState> room_for(Allocator&, const VectorState&) { return VectorState{}; }
  void save() {}
  void restore() const {}
};
inline std::uint64_t vector_parts() { return 0; }
inline std::uint64_t vector_parts_on_request() { return 0; }
inline void save_whole_vectors(VectorState&) {}
// A program's registers: six arguments and an answer.
struct UserState {
  VirtualAddress entry_stack;
  UserAddress fs_base, gs_base;
  void load() const {}
};
inline TrapFrame first_frame(UserAddress, VirtualAddress) { return {}; }
inline TrapFrame cloned_frame(const TrapFrame& parent, VirtualAddress) { return parent; }
inline bool tells_processor() { return false; }
[[noreturn]] inline void enter_user(TrapFrame&) { std::abort(); }
inline bool is_from_user(const TrapFrame&) { return true; }
inline std::uint64_t system_call_number(const TrapFrame& frame) { return frame.error_code; }
inline std::uint64_t system_call_argument(const TrapFrame& frame, std::size_t index) { return frame.arguments[index]; }
inline void set_system_call_answer(TrapFrame& frame, std::uint64_t answer) { frame.answer = answer; }
inline std::uint64_t system_call_answer(const TrapFrame& frame) { return frame.answer; }
inline void repeat_system_call(TrapFrame&) {}
inline void* prepare_stack(VirtualAddress, void (*)(void*), void*) { std::abort(); }
inline void switch_stack(void*&, void*) { std::abort(); }

inline std::uint64_t read_model_register(std::uint32_t number) {
  if (hosted::thread.model_registers != nullptr) return hosted::thread.model_registers(number);
  return number == hosted::thread.model_register ? hosted::thread.model_value : 0;
}
inline void write_model_register(std::uint32_t number, std::uint64_t value) {
  hosted::thread.model_register = number;
  hosted::thread.model_value = value;
}
inline std::optional<std::uint64_t> random_word() { return {}; }
inline CpuidResult cpuid(std::uint32_t leaf, std::uint32_t = 0) {
  return hosted::thread.cpuid != nullptr ? hosted::thread.cpuid(leaf) : CpuidResult{};
}

inline std::uint64_t copy_user(void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
  return 0;
}
inline void invalidate_page(VirtualAddress) {}
inline void invalidate_all_pages() {}
inline void load_page_table(PhysicalAddress table) { hosted::thread.page_table = table; }
inline PhysicalAddress loaded_page_table() { return hosted::thread.page_table; }

}  // namespace ingot::os::arch
