// Where a program's SYSCALL arrives, and how the kernel goes to ring 3. Assembly because SYSCALL changes neither the
// stack nor GS: both are the program's until the instructions below have exchanged them.

#define ENTRY_STACK 8           // of ProcessorHeader: user_state.cc checks both
#define ENTRY_SCRATCH 16
#define USER_DATA 0x1b
#define USER_CODE 0x23
#define SYSTEM_CALL_VECTOR 256

#include "os/arch/x86_64/register_macros.inc"

.section .text
.balign 16
.globl ingot_system_call_entry
ingot_system_call_entry:        // rcx, r11: the program's rip and rflags; interrupts are off
  swapgs
  movq %rsp, %gs:ENTRY_SCRATCH
  movq %gs:ENTRY_STACK, %rsp
  pushq $USER_DATA              // a TrapFrame, as an interrupt would have made it
  pushq %gs:ENTRY_SCRATCH
  pushq %r11
  pushq $USER_CODE
  pushq %rcx
  pushq %rax                    // the error code: the call's number, since its answer replaces rax
  pushq $SYSTEM_CALL_VECTOR
  push_registers
  movq %rsp, %rdi
  xorl %ebp, %ebp               // a backtrace ends here
  call ingot_system_call
  testb %al, %al                // whether SYSRET can restore the frame
  jz ingot_leave_trap
  pop_registers
  movq 5 * 8(%rsp), %rsp
  swapgs
  sysretq

.globl ingot_enter_user
ingot_enter_user:               // (TrapFrame*), on this thread's own stack
  movq %rdi, %rsp
  jmp ingot_leave_trap

// What no flag keeps away also comes while the kernel has the program's GS still, or again: at its first and last
// instructions. There the ring says nothing; where GS points does, because a program's is never in the upper half.
.balign 16
.globl ingot_save_registers_anywhere
ingot_save_registers_anywhere:
  push_registers
  movl $0xc0000101, %ecx        // GS's base
  rdmsr
  xorl %ebx, %ebx               // a call leaves it as it is: whether GS was the program's
  testl %edx, %edx
  js in_kernel_anywhere
  swapgs
  incl %ebx
in_kernel_anywhere:
  lfence                        // as in trap_entry.S; SYSCALL, which always exchanges, has nothing to guess
  pushq $2
  popfq
  movq %rsp, %rdi
  call ingot_trap
  testl %ebx, %ebx
  jz ingot_restore_registers
  swapgs
  jmp ingot_restore_registers

.section .note.GNU-stack, "", @progbits
