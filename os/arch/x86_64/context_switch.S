// Leaving one stack for another. Assembly because the compiler must not know: to it, ingot_switch_stack is a call that
// returns, though other threads run in between, perhaps for seconds, and it may return on another CPU.

.section .text
.balign 16
.globl ingot_switch_stack
ingot_switch_stack:             // (void** left, void* taken)
  // What a caller expects to survive a call. It saves the other registers itself; flags and vector registers have owners
  // of their own (InterruptsOff, VectorState).
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret

// Where a new thread's first switch returns to: prepare_stack put its function and its argument into saved registers.
.balign 16
.globl ingot_begin_stack
ingot_begin_stack:
  movq %r12, %rdi
  call *%rbx
  ud2                           // a thread's function never returns

.section .note.GNU-stack, "", @progbits
