// Where every CPU but the first begins: in 16-bit real mode, at a page below 1 MiB that processor_start.cc fills with a
// copy of this code. Assembly because no compiler makes 16-bit code, and because there is no stack until the end.
//
// From real mode straight to long mode: with paging, write-protection and long mode turned on by one write of CR0, no
// 32-bit stage is left to go through (SDM volume 3, 9.8.5).

#define HERE(label) ((label) - ingot_processor_start)

.section .text
.code16
.globl ingot_processor_start, ingot_processor_start_end
ingot_processor_start:
  cli
  movw %cs, %ax                 // the page: all data lies behind the code
  movw %ax, %ds
  lgdtl HERE(descriptors_pointer)
  movl $(1 << 5), %eax          // physical-address extension: 64-bit table entries
  movl %eax, %cr4
  movl HERE(root_table), %eax
  movl %eax, %cr3
  movl $0xc0000080, %ecx        // EFER: long mode, no-execute
  rdmsr
  orl $(1 << 8 | 1 << 11), %eax
  wrmsr
  movl $(1 << 31 | 1 << 16 | 1 << 5 | 1 << 4 | 1 << 1 | 1), %eax  // as entry.S sets it
  movl %eax, %cr0
  ljmpl *HERE(far_target)

.code64
in_long_mode:
  movl $16, %eax
  movl %eax, %ss
  xorl %eax, %eax
  movl %eax, %ds
  movl %eax, %es
  movl %eax, %fs
  movl %eax, %gs
  movq stack(%rip), %rsp
  movq argument(%rip), %rdi
  xorl %ebp, %ebp               // a backtrace ends here
  pushq %rbp                    // as a call would leave the stack
  jmp *entry(%rip)

// StartPage in processor_start.cc describes what follows; the addresses are filled in there.
.balign 8
.globl ingot_start_data
ingot_start_data:
stack: .quad 0
entry: .quad 0
argument: .quad 0
root_table: .long 0
far_target: .long HERE(in_long_mode)
.word 8
descriptors_pointer: .word 23
.long HERE(descriptors)
.balign 8
descriptors: .quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
ingot_processor_start_end:

.section .note.GNU-stack, "", @progbits
