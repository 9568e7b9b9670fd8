// Copying to or from a program's memory, where any byte may fault. Assembly because trap.cc must know the two instructions
// that may fault, and continue behind them: the registers then say how far they came. A word of which some bytes are
// there is left to the second, which stops at the byte.

.section .text
.balign 16
.globl ingot_copy_user, ingot_user_words, ingot_user_words_failed, ingot_user_bytes, ingot_user_bytes_failed
ingot_copy_user:                // (to, from, bytes): the bytes that were not copied
  movq %rdx, %rcx
  shrq $3, %rcx
  andl $7, %edx
  pushfq
  pushfq
  orl $0x40000, (%rsp)          // AC: SMAP allows it from here on. By the flags, since STAC is not on every CPU
  popfq
  lfence                        // no copy by an address whose check is only guessed to have passed
ingot_user_words:
  rep movsq
ingot_user_words_failed:
  leaq (%rdx,%rcx,8), %rcx
ingot_user_bytes:
  rep movsb
ingot_user_bytes_failed:
  popfq                         // and no longer
  movq %rcx, %rax
  ret

.section .note.GNU-stack, "", @progbits
