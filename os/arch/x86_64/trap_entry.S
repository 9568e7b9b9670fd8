// Where the CPU arrives with every exception and interrupt. Assembly because all registers of the interrupted program
// must be saved before any compiled code runs, and only IRETQ returns to it.

#include "os/arch/x86_64/register_macros.inc"

.section .text
.balign 16
.globl ingot_trap_stubs
ingot_trap_stubs:               // 256 stubs of 16 bytes: descriptor_tables.cc computes their addresses
.set vector, 0
.rept 256
  .balign 16
  // The CPU pushes an error code with these; the others get a zero, so that all frames look alike.
  .if vector != 8 && (vector < 10 || vector > 14) && vector != 17 && vector != 21 && vector != 29 && vector != 30
  pushq $0
  .endif
  pushq $vector
  .if vector == 2 || vector == 8 || vector == 18
  jmp ingot_save_registers_anywhere
  .else
  jmp save_registers
  .endif
  .set vector, vector + 1
.endr

.balign 16
save_registers:
  push_registers
  testb $3, 18 * 8(%rsp)        // the interrupted program's ring: GS is the program's outside ring 0
  jz in_kernel
  swapgs
in_kernel:
  lfence                        // no guess about the ring reaches memory by the other GS
  pushq $2                      // flags a program may have set, and compiled code expects clear: DF; AC, which would
  popfq                         // lift SMAP; NT. Interrupts are off already
  movq %rsp, %rdi               // TrapFrame&; the stack is aligned to 16: the CPU did, and 22 words follow
  call ingot_trap
.globl ingot_leave_trap
ingot_leave_trap:
  testb $3, 18 * 8(%rsp)
  jz ingot_restore_registers
  swapgs
.globl ingot_restore_registers
ingot_restore_registers:
  pop_registers
  addq $16, %rsp                // vector and error code
  iretq

.section .note.GNU-stack, "", @progbits
