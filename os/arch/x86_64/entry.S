// From a loader's 32-bit world to kernel code in the highest 2 GiB. Assembly because there is neither a stack nor a
// 64-bit mode, and C++ is compiled for both.
//
// PVH enters at ingot_pvh_entry, multiboot2 (GRUB) at ingot_multiboot2_entry, both alike: 32-bit protected mode, flat
// segments, paging off, ebx = address of what the loader has to say. Our UEFI loader calls ingot_uefi_entry in 64-bit
// mode, all memory mapped where it is, rdi = that address. The kernel that move_kernel.cc moved begins anew at ingot_begin.

#define PHYSICAL(symbol) ((symbol) - 0xffffffff80000000)
#define PRESENT_WRITABLE 0x3
#define LARGE_PAGE 0x80
#define DEBUG_PORT 0xe9

// Xen's ELF note 18 (XEN_ELFNOTE_PHYS32_ENTRY): where a PVH loader jumps to.
.section .note.pvh, "a", @note
.balign 4
.long 4, 8, 18
.asciz "Xen"
.quad PHYSICAL(ingot_pvh_entry)

// The multiboot2 header: magic, architecture 0 (32-bit x86), length, checksum; then tags of 8-byte alignment.
.section .text.header, "ax"
.balign 8
multiboot2_header:
.long 0xe85250d6, 0, multiboot2_header_end - multiboot2_header
.long -(0xe85250d6 + multiboot2_header_end - multiboot2_header)
.word 3, 0                      // the entry address
.long 12, PHYSICAL(ingot_multiboot2_entry), 0
.word 5, 1                      // a framebuffer of any size with four bytes a pixel, where there is one
.long 20, 0, 0, 32, 0
.word 6, 0                      // modules at whole pages
.long 8
.word 0, 0                      // the end
.long 8
multiboot2_header_end:

.section .text.entry, "ax"
.code64
.globl ingot_uefi_entry
ingot_uefi_entry:               // the firmware's page table is not ours to keep: back to 32 bits, and in by the same door
  cli
  movl %edi, %ebx
  lgdt PHYSICAL(entry_descriptors_pointer)
  pushq $24
  pushq $PHYSICAL(leave_long_mode)
  lretq
.code32
leave_long_mode:
  movl $16, %eax
  movl %eax, %ds
  movl %eax, %es
  movl %eax, %ss
  movl %cr0, %eax
  andl $~(1 << 31), %eax        // paging off
  movl %eax, %cr0
  movl $0xc0000080, %ecx        // EFER: long mode off
  rdmsr
  andl $~(1 << 8), %eax
  wrmsr
  movl $3, %ebp                 // a LoaderProtocol
  jmp enter
ingot_multiboot2_entry:
  movl $2, %ebp
  jmp enter
.globl ingot_pvh_entry
ingot_pvh_entry:
  movl $1, %ebp
enter:
  cld
  cli
  movl %ebx, %esi               // cpuid destroys ebx
  rdtsc                         // when the kernel began
  movl %eax, PHYSICAL(ingot_entry_cycles)
  movl %edx, PHYSICAL(ingot_entry_cycles) + 4

  // Long mode and no-execute: every x86_64 of the last twenty years, but a wrong -cpu should be told.
  movl $0x80000000, %eax
  cpuid
  cmpl $0x80000001, %eax
  jb too_old
  movl $0x80000001, %eax
  cpuid
  andl $(1 << 29 | 1 << 20), %edx
  cmpl $(1 << 29 | 1 << 20), %edx
  jne too_old

  // The first GiB three times: where it is (this code runs there), in the window, and where the kernel is linked. The
  // first goes away and the third gets its protection in kernel_space.cc.
  movl $PHYSICAL(ingot_low_tables) + PRESENT_WRITABLE, PHYSICAL(ingot_root_table)
  movl $PHYSICAL(ingot_low_tables) + PRESENT_WRITABLE, PHYSICAL(ingot_root_table) + 256 * 8
  movl $PHYSICAL(ingot_kernel_tables) + PRESENT_WRITABLE, PHYSICAL(ingot_root_table) + 511 * 8
  movl $PHYSICAL(ingot_low_directory) + PRESENT_WRITABLE, PHYSICAL(ingot_low_tables)
  movl $PHYSICAL(ingot_low_directory) + PRESENT_WRITABLE, PHYSICAL(ingot_kernel_tables) + 510 * 8
  movl $PHYSICAL(ingot_low_directory), %edi
  movl $(LARGE_PAGE + PRESENT_WRITABLE), %eax
  movl $512, %ecx
fill_directory:
  movl %eax, (%edi)
  addl $0x200000, %eax
  addl $8, %edi
  decl %ecx
  jnz fill_directory

  movl $PHYSICAL(ingot_root_table), %eax
  movl %eax, %cr3
  movl $(1 << 5), %eax          // physical-address extension: 64-bit table entries
  movl %eax, %cr4
  movl $0xc0000080, %ecx        // EFER: long mode, no-execute
  rdmsr
  orl $(1 << 8 | 1 << 11), %eax
  wrmsr
  movl $(1 << 31 | 1 << 16 | 1 << 5 | 1 << 4 | 1 << 1 | 1), %eax  // paging, write-protect, native FPU errors
  movl %eax, %cr0
  lgdt PHYSICAL(entry_descriptors_pointer)
  ljmp $8, $PHYSICAL(entry_64)

too_old:
  movl $PHYSICAL(too_old_text), %esi
next_letter:
  lodsb
  testb %al, %al
  jz halt
  outb %al, $DEBUG_PORT
  jmp next_letter
halt:
  hlt
  jmp halt

.code64
entry_64:
  movq $entry_high, %rax
  jmp *%rax
entry_high:
  movl $16, %eax
  movl %eax, %ss
  xorl %eax, %eax
  movl %eax, %ds
  movl %eax, %es
  movl %eax, %fs
  movl %eax, %gs
  movl %ebp, %edi               // the upper halves of registers are undefined after a change of mode: these clear them
  movl %esi, %esi
.globl ingot_begin
ingot_begin:
  movq $ingot_boot_stacks + 7 * 4096, %rsp
  xorl %ebp, %ebp               // a backtrace ends here
  call ingot_start
  ud2                           // ingot_start never returns

.section .rodata.entry, "a"
too_old_text:
.asciz "ingot: expected an x86_64 CPU with long mode and no-execute pages, found an older one\n"

.balign 8
entry_descriptors:              // null, 64-bit code, data, 32-bit code
.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff
entry_descriptors_pointer:
.word 31
.long PHYSICAL(entry_descriptors), 0

// Where the window on all memory begins; a move changes it, too.
.globl ingot_window_base, ingot_physical_begin
ingot_window_base: .quad 0xffff800000000000
// Where the image lies in memory: a move changes this word as all others that hold an address.
ingot_physical_begin: .long PHYSICAL(ingot_text_begin)

.section .bss.entry, "aw", @nobits
.balign 4096
.globl ingot_root_table, ingot_low_tables, ingot_kernel_tables, ingot_low_directory, ingot_kernel_directory
ingot_root_table: .skip 4096
ingot_low_tables: .skip 4096
ingot_kernel_tables: .skip 4096
ingot_low_directory: .skip 4096
ingot_kernel_directory: .skip 4096
.globl ingot_entry_cycles
ingot_entry_cycles: .skip 8

.section .note.GNU-stack, "", @progbits
