// Where a program's SYSCALL arrives, and how the kernel goes to ring 3. Assembly because SYSCALL changes neither the
// stack nor GS: both are the program's until the instructions below have exchanged them.

#define ENTRY_STACK 8           // of CpuHeader: user_state.cc checks both
#define ENTRY_SCRATCH 16
#define USER_DATA 0x1b
#define USER_CODE 0x23
#define SYSTEM_CALL_VECTOR 256

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
  pushq %rax
  pushq %rbx
  pushq %rcx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  pushq %rbp
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, %rdi
  xorl %ebp, %ebp               // a backtrace ends here
  call ingot_system_call
  testb %al, %al                // whether SYSRET can restore the frame
  jz ingot_leave_trap
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rbp
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rcx
  popq %rbx
  popq %rax
  movq 5 * 8(%rsp), %rsp
  swapgs
  sysretq

.globl ingot_enter_user
ingot_enter_user:               // (TrapFrame*), on this thread's own stack
  movq %rdi, %rsp
  jmp ingot_leave_trap

.section .note.GNU-stack, "", @progbits
