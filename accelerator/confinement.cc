#include "accelerator/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "machine/descriptor.h"

namespace ingot {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#endif

// What may be asked with any arguments.
constexpr std::array free_calls = {
    SYS_read,
    SYS_pread64,
    SYS_recvmsg,
    SYS_ppoll,
    SYS_futex,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_lseek,
    SYS_close,
    SYS_sched_yield,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_exit,
    SYS_exit_group,
    SYS_restart_syscall,
#if defined(__x86_64__)
    SYS_poll,
    SYS_pause,
#endif
#if defined(INGOT_SANITIZED)
    SYS_sigaltstack,  // the runtime's, before a call that does not return
#endif
};

// A filter for Linux's classic BPF, which looks at a system call's number and arguments.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    put(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 1, 0);
    put(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }

  void allow(long call) {
    put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  // Where the lower half of an argument is one of these.
  void allow_with(long call, int argument, std::span<const int> values) {
    const auto count = static_cast<std::uint8_t>(values.size());
    put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, static_cast<std::uint8_t>(count + 3));
    load(offset_of(argument));
    for (std::uint8_t left = count; left > 0; --left) {
      put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(values[count - left]), left, 0);
    }
    put(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  // Where an argument has none of these bits.
  void allow_without(long call, int argument, int bits) {
    put(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load(offset_of(argument));
    put(BPF_JMP | BPF_JSET | BPF_K, static_cast<std::uint32_t>(bits), 0, 1);
    put(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  Result<void> install() {
    put(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const sock_fprog program = {static_cast<unsigned short>(instructions_.size()), instructions_.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("give up new privileges");
    // Of all threads: those that compute are there already.
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
      return refused("confine a worker");
    }
    return {};
  }

 private:
  static std::uint32_t offset_of(int argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
  }
  void load(std::size_t offset) { put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void put(unsigned code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    instructions_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }
  std::vector<sock_filter> instructions_;
};

}  // namespace

Result<void> keep_only(std::span<const int> descriptors) {
  const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nowhere.is_open()) return refused("open /dev/null");
  for (int standard = 0; standard <= 2; ++standard) {
    if (::dup2(nowhere.get(), standard) < 0) return refused("put nothing behind standard descriptors");
  }
  std::vector<int> kept(descriptors.begin(), descriptors.end());
  std::sort(kept.begin(), kept.end());
  unsigned first = 3;
  const auto close_range = [](unsigned from, unsigned to) {
    return from > to || ::syscall(SYS_close_range, from, to, 0) == 0;
  };
  for (const int each : kept) {
    if (!close_range(first, static_cast<unsigned>(each) - 1)) return refused("close descriptors");
    first = static_cast<unsigned>(each) + 1;
  }
  if (!close_range(first, ~0u)) return refused("close descriptors");
  return {};
}

Result<void> confine(std::array<int, 2> bells) {
  Filter filter;
  for (const long call : free_calls) filter.allow(call);
  filter.allow_with(SYS_write, 0, bells);
  filter.allow_with(SYS_fcntl, 1, std::array{F_GET_SEALS});
  filter.allow_without(SYS_mmap, 2, PROT_EXEC);
  filter.allow_without(SYS_mprotect, 2, PROT_EXEC);
  constexpr int ordinary_advice = 31;  // beyond it a superuser declares memory defective
  filter.allow_without(SYS_madvise, 2, ~ordinary_advice);
  return filter.install();
}

}  // namespace ingot
