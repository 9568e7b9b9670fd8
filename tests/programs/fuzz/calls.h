// For the fuzzer of system calls: which it makes, with which arguments.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <csignal>

#include "base/system_call_numbers.h"
#include "tests/programs/fuzz/arguments.h"

namespace fuzz {

enum class Ends : unsigned char { no, the_thread };

struct Call {
  Word number = 0;
  Word arguments[6] = {};
  Ends ends = Ends::no;
};

// False: not this one, which would be the end of us, or of what we say.
inline bool is_harmless(Call& call, Random& random) {
  Word* const words = call.arguments;
  const bool is_standard_file = static_cast<unsigned>(words[0]) < 3;  // of a register, calls read the lower half
  switch (call.number) {
    case SYS_exit: call.ends = Ends::the_thread; return random.one_in(50);
    case SYS_exit_group:
    case SYS_execve:
    case SYS_execveat:
    case SYS_rt_sigreturn:
    case SYS_vhangup:
    case SYS_reboot: return false;
    case SYS_clone:
    case SYS_clone3: words[0] &= ~0x10000ul; return call.number == SYS_clone;  // without CLONE_THREAD
    case SYS_arch_prctl: return static_cast<unsigned>(words[0]) != 0x1002;     // ARCH_SET_FS
    case SYS_brk: words[0] = random.one_in(2) ? 0 : -random.below(1 << 20); return true;
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_mlock:
    case SYS_munlock:
    case SYS_msync: words[0] = some_part_of_area(random, words[1]); return true;
    case SYS_mremap:
      words[0] = some_part_of_area(random, words[1]);
      words[2] %= area_bytes * 2;
      words[3] &= 1;
      return true;
    case SYS_mmap:
      if (random.one_in(2)) {  // of a file, or of zeroes, where others are
        words[2] &= 7;
        words[3] = MAP_FIXED | (1 + random.below(2)) | (random.one_in(4) ? MAP_ANONYMOUS : 0);
        words[4] = some_descriptor(random);
        words[5] = random.one_in(4) ? some_number(random) & ~(page_bytes - 1) : random.below(16) * page_bytes;
      }
      if ((words[3] & 0x100010) != 0) {
        words[0] = some_part_of_area(random, words[1]);
        last_mapped = {words[0] & ~(page_bytes - 1), words[1] <= area_bytes ? words[1] & ~(page_bytes - 1) : 0};
        return true;
      }
      if (random.one_in(2)) words[3] = 0x22 | (words[3] & 0x24000), words[2] &= 7, words[1] = 1 + random.below(1 << 20);
      return true;
    case SYS_setrlimit:
    case SYS_prlimit64: {
      const auto resource = static_cast<unsigned>(words[call.number == SYS_setrlimit ? 0 : 1]);
      return resource != RLIMIT_CPU && resource != RLIMIT_AS;
    }
    case SYS_kill:
    case SYS_tkill: words[1] = random.one_in(2) ? 0 : SIGUSR1; return true;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo: words[2] = random.one_in(2) ? 0 : SIGUSR1; return true;
    case SYS_rt_sigqueueinfo: words[1] = SIGUSR1; return true;
    case SYS_rt_sigaction: words[1] = random.one_in(2) ? 0 : 0xffff'8000'0000'0000u; return true;
    case SYS_timer_create: words[1] = random.one_in(2) ? 0 : 0xffff'8000'0000'0000u; return true;
    case SYS_chroot: return random.one_in(100);  // few paths lead anywhere afterwards
    case SYS_epoll_ctl:
      if (random.one_in(2)) {
        words[0] = some_epoll(random);
        words[1] = 1 + random.below(3);
        words[2] = random.one_in(2) ? some_epoll(random) : some_descriptor(random);
        words[3] = reinterpret_cast<Word>(data) + random.below(data_bytes / 16);
      }
      return true;
    case SYS_futex:
      if (random.one_in(2)) words[1] = 5 | (random.next() & 0x80), words[4] = some_address(random);  // FUTEX_WAKE_OP
      return true;
    case SYS_socket:
    case SYS_socketpair:
      if (random.one_in(4)) return true;
      words[0] = 1;  // AF_UNIX
      words[1] = 1 + random.below(5) + (random.one_in(2) ? 04000 : 0);
      words[2] = 0;
      return true;
    case SYS_bind:
    case SYS_connect:
      if (!random.one_in(4)) words[1] = some_socket_address(random, words[2]);
      return true;
    case SYS_sendto:
      if (!random.one_in(4)) words[4] = some_socket_address(random, words[5]);
      return true;
    case SYS_getsockopt:
    case SYS_setsockopt:
      if (!random.one_in(4)) words[1] = 1, words[2] = random.below(48);  // SOL_SOCKET
      return true;
    case SYS_dup2:
    case SYS_dup3: return !is_standard_file && static_cast<unsigned>(words[1]) > 2;
    case SYS_dup:
    case SYS_close:
    case SYS_close_range:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_fcntl:
    case SYS_ioctl:
    case SYS_sendfile:
    case SYS_splice: return !is_standard_file;
    default: return true;
  }
}

inline Call some_call(Random& random) {
  static constexpr std::size_t known = std::size(ingot::implemented_system_calls);
  for (;;) {
    Call call;
    if (random.one_in(8)) {
      call.number = random.one_in(8) ? some_number(random) : random.below(480);
    } else {
      call.number = *ingot::system_call_number(ingot::implemented_system_calls[random.below(known)]);
    }
    for (Word& word : call.arguments) word = some_word(random);
    if (random.one_in(2)) call.arguments[0] = some_descriptor(random);
    if (is_harmless(call, random)) return call;
  }
}

inline Word call_kernel(const Call& call) {
  Word answer = call.number;
  register Word fourth asm("r10") = call.arguments[3];
  register Word fifth asm("r8") = call.arguments[4];
  register Word sixth asm("r9") = call.arguments[5];
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(call.arguments[0]), "S"(call.arguments[1]), "d"(call.arguments[2]), "r"(fourth), "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return answer;
}

}  // namespace fuzz
