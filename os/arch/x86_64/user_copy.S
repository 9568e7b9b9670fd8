// Copying to or from a program's memory, where any byte may fault. Assembly because trap.cc must know the one instruction
// that may fault, and continue behind it: the registers then say how far it came.

.section .text
.balign 16
.globl ingot_copy_user, ingot_user_access, ingot_user_access_failed
ingot_copy_user:                // (to, from, bytes): the bytes that were not copied
  movq %rdx, %rcx
  pushfq
  pushfq
  orl $0x40000, (%rsp)          // AC: SMAP allows it from here on. By the flags, since STAC is not on every CPU
  popfq
  lfence                        // no copy by an address whose check is only guessed to have passed
ingot_user_access:
  rep movsb
ingot_user_access_failed:
  popfq                         // and no longer
  movq %rcx, %rax
  ret

.section .note.GNU-stack, "", @progbits
