#include "os/arch/x86_64/user_state.h"

#include "os/arch/x86_64/cpu.h"
#include "os/memory/user_memory.h"
#include "os/schedule/scheduler.h"
#include "os/syscall/dispatch.h"

namespace ingot::os::arch {

extern "C" {
extern const char ingot_system_call_entry[];
[[noreturn]] void ingot_enter_user(TrapFrame* frame);
}
static_assert(offsetof(ProcessorHeader, entry_stack) == 8 && offsetof(ProcessorHeader, entry_scratch) == 16,
              "user_entry.S");

namespace {

// Model-specific registers (SDM volume 4).
constexpr std::uint32_t extended_features = 0xc0000080, star = 0xc0000081, system_call_target = 0xc0000082,
                        system_call_mask = 0xc0000084, fs_base_register = 0xc0000100,
                        program_gs_base_register = 0xc0000102,  // what SWAPGS will bring back
    processor_number_register = 0xc0000103;                     // what RDTSCP tells

// Bits of rflags (SDM volume 1, 3.4.3).
constexpr std::uint64_t always_one = 1u << 1, trap_flag = 1u << 8, interrupts = 1u << 9, direction = 1u << 10,
                        port_level = 3u << 12, nested = 1u << 14, resume = 1u << 16, access_check = 1u << 18;

}  // namespace

void enable_system_calls() {
  constexpr std::uint64_t system_calls = 1;
  // SYSRET adds 8 for the stack's selector and 16 for the code's.
  constexpr std::uint64_t before_user_data = Selector::user_data - 8;
  write_model_register(star, std::uint64_t{Selector::kernel_code} << 32 | before_user_data << 48);
  write_model_register(system_call_target, reinterpret_cast<std::uint64_t>(ingot_system_call_entry));
  write_model_register(system_call_mask,
                       trap_flag | interrupts | direction | port_level | nested | resume | access_check);
  write_model_register(extended_features, read_model_register(extended_features) | system_calls);
  if (tells_processor()) write_model_register(processor_number_register, current_cpu().index);
}

bool tells_processor() {
  constexpr std::uint32_t extended_leaf = 0x80000001, has_rdtscp = 1u << 27;
  return (cpuid(extended_leaf).edx & has_rdtscp) != 0;
}

void UserState::load() const {
  Processor& processor = current_processor();
  processor.entry_stack = entry_stack.value();
  // An exchange, because the program's last look at the queue before ring 3 must not come before it.
  if (!processor.runs_programs.load(MemoryOrder::relaxed)) {
    processor.runs_programs.exchange(true, MemoryOrder::sequentially_consistent);
  }
  processor.part.segments.set_entry_stack(entry_stack);
  write_model_register(fs_base_register, fs_base.value());
  write_model_register(program_gs_base_register, gs_base.value());
}

TrapFrame first_frame(UserAddress instruction, VirtualAddress stack) {
  TrapFrame frame{};
  frame.rip = instruction.value();
  frame.rsp = stack.value();
  frame.cs = Selector::user_code;
  frame.ss = Selector::user_data;
  frame.rflags = always_one | interrupts;
  return frame;
}

TrapFrame cloned_frame(const TrapFrame& parent, VirtualAddress stack) {
  TrapFrame frame = parent;
  frame.rax = 0;
  frame.rsp = stack.value();
  return frame;
}

void enter_user(TrapFrame& frame) {
  disable_interrupts();
  ingot_enter_user(&frame);
}

// True where SYSRET restores the frame: it takes rip and rflags from rcx and r11, and faults in ring 0, on the
// program's stack, where rcx is no address.
extern "C" bool ingot_system_call(TrapFrame& frame) {
  enable_interrupts();
  answer_system_call(frame);
  disable_interrupts();
  before_program(frame);
  return frame.rcx == frame.rip && frame.r11 == frame.rflags && frame.cs == Selector::user_code &&
         UserAddress::of(frame.rip) && (frame.rflags & trap_flag) == 0;
}

}  // namespace ingot::os::arch
