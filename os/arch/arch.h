// What an architecture provides to the rest of the kernel, and the only door to it. Two stand behind it: x86_64, in
// the kernel; and `hosted`, an ordinary process, so that the kernel's logic is compiled and tested on any host.
//
//   namespace ingot::os::arch {
//   void pause();                             one turn of a spin loop: tells the CPU, and a hypervisor, that we wait
//   bool interrupts_enabled();
//   void enable_interrupts();
//   void disable_interrupts();
//   void wait_for_interrupt();                enables interrupts and halts as one step, so that none is lost between
//   [[noreturn]] void halt_forever();
//   [[noreturn]] void triple_fault();         an exception that no table answers: the CPU gives up and the PC resets
//   std::uint64_t cycle_count();              a counter that never runs backwards on one CPU; its rate is calibrated
//   ProcessorHeader& current_cpu();           (processor_header.h) precondition: set_current_cpu ran on this CPU
//   void set_current_cpu(ProcessorHeader&);
//   struct ProcessorTables;                   what it keeps for each CPU beside the ProcessorHeader
//   void* prepare_stack(VirtualAddress top, void (*entry)(void*), void* argument);
//                                             a stack that begins with entry(argument) when it is switched to
//   void switch_stack(void*& left, void* taken);
//                                             leaves this stack, saying where; returns when somebody takes it again
//   class VectorState;                        where a thread's vector registers are while others use them:
//                                             Result<VectorState> create(Allocator&), save(), restore()
//   std::uint64_t vector_parts();             that programs may have, a bit each
//   std::uint64_t vector_parts_on_request();  those of them that a thread has once its program asked
//   void save_whole_vectors(VectorState&);    what the registers hold now, perhaps for another thread
//   void invalidate_page(VirtualAddress);     forgets one translation on this CPU
//   void invalidate_all_pages();              forgets them all, the kernel's too
//   void load_page_table(PhysicalAddress);    and forgets those of the table before, not the kernel's
//   PhysicalAddress loaded_page_table();
//   std::uint64_t copy_user(void* to, const void* from, std::uint64_t bytes);
//                                             to or from a program's memory; the bytes left where a page cannot be had
//   std::uint8_t read_port_8(std::uint16_t port), ..._16, ..._32;          I/O ports; without any, reads are ones
//   void write_port_8(std::uint16_t port, std::uint8_t), ..._16, ..._32;
//   std::uint64_t read_model_register(std::uint32_t number);   registers of the CPU that drivers share with it
//   void write_model_register(std::uint32_t number, std::uint64_t value);
//   std::optional<std::uint64_t> random_word();   from the CPU's own source, where it has one
//   CpuidResult cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0);   what the CPU says of itself; else zeros
//   struct TrapFrame;                         what an interrupted program left: vector, error code, registers
//   VirtualAddress instruction_of(const TrapFrame&), stack_pointer_of(...), frame_pointer_of(...);
//   struct UserState;                         what a program's thread has in the CPU beside its frame: load()
//   TrapFrame first_frame(UserAddress instruction, VirtualAddress stack);
//   TrapFrame cloned_frame(const TrapFrame& parent, VirtualAddress stack);   goes on with the answer 0
//   [[noreturn]] void enter_user(TrapFrame&);
//   bool tells_processor();                   whether a program can ask the CPU for its number
//   bool is_from_user(const TrapFrame&);      a program was interrupted, not the kernel
//   std::uint64_t system_call_number(const TrapFrame&), system_call_argument(const TrapFrame&, std::size_t index);
//   void set_system_call_answer(TrapFrame&, std::uint64_t);
//   std::uint64_t system_call_answer(const TrapFrame&);
//   void repeat_system_call(TrapFrame&);      the program asks the same once more
//                                             (signal_frame.h of the architecture: a handler's frame on its stack)
//   }
#pragma once

#if __STDC_HOSTED__
#include "os/arch/hosted/cpu.h"
#elif defined(__x86_64__)
#include "os/arch/x86_64/cpu.h"
#else
#error "expected an architecture of os/arch, found another"
#endif

namespace ingot::os {

// No interrupt arrives on this CPU while it lives. Nests: the outermost restores what it found.
class [[nodiscard]] InterruptsOff {
 public:
  InterruptsOff() : were_enabled_(arch::interrupts_enabled()) { arch::disable_interrupts(); }
  ~InterruptsOff() {
    if (were_enabled_) arch::enable_interrupts();
  }
  InterruptsOff(const InterruptsOff&) = delete;
  InterruptsOff& operator=(const InterruptsOff&) = delete;

 private:
  bool were_enabled_;
};

}  // namespace ingot::os
