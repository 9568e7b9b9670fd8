// Linux's system calls on x86_64 by name and number, and those that Ingot's kernel answers. The kernel's table and the
// check that `ingot cast` makes before boot share this list.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ingot {

// By their numbers: from 0 on, and, behind a gap that Linux keeps for others, from 424 on. As one text, because a list
// of them would be as long as the rest of the folder.
inline constexpr std::string_view first_system_calls =
    "read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask "
    "rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise "
    "shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile socket connect accept "
    "sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt "
    "getsockopt clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv "
    "msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat "
    "link unlink symlink readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo "
    "times ptrace getuid syslog getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid "
    "setregid getgroups setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget "
    "capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib "
    "personality ustat statfs fstatfs sysfs getpriority setpriority sched_setparam sched_getparam "
    "sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min sched_rr_get_interval "
    "mlock munlock mlockall munlockall vhangup modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit "
    "chroot sync acct settimeofday mount umount2 swapon swapoff reboot sethostname setdomainname iopl ioperm "
    "create_module init_module delete_module get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg "
    "afs_syscall tuxcall security gettid readahead setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr "
    "listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity "
    "sched_getaffinity set_thread_area io_setup io_destroy io_getevents io_submit io_cancel get_thread_area "
    "lookup_dcookie epoll_create epoll_ctl_old epoll_wait_old remap_file_pages getdents64 set_tid_address "
    "restart_syscall semtimedop fadvise64 timer_create timer_settime timer_gettime timer_getoverrun timer_delete "
    "clock_settime clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes "
    "vserver mbind set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify "
    "mq_getsetattr kexec_load waitid add_key request_key keyctl ioprio_set ioprio_get inotify_init "
    "inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat fchownat futimesat newfstatat "
    "unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll unshare set_robust_list "
    "get_robust_list splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait signalfd timerfd_create "
    "eventfd fallocate timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2 epoll_create1 dup3 pipe2 "
    "inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init fanotify_mark "
    "prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv "
    "process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create "
    "kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect "
    "pkey_alloc pkey_free statx io_pgetevents rseq";
inline constexpr std::uint16_t later_system_calls_begin = 424;
inline constexpr std::string_view later_system_calls =
    "pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig "
    "fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 "
    "mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret "
    "process_mrelease futex_waitv set_mempolicy_home_node";

// The names that the kernel answers with more than ENOSYS. Its table does not compile with another, nor fill with
// fewer.
// clang-format off: as one text would be, in lines
inline constexpr std::string_view implemented_system_calls[] = {
    "accept", "accept4", "access", "alarm", "arch_prctl", "bind", "brk", "chdir", "chmod", "chown", "chroot",
    "clock_getres", "clock_gettime", "clock_nanosleep", "clock_settime", "clone", "close", "close_range", "connect",
    "copy_file_range", "creat", "dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait",
    "epoll_wait", "eventfd", "eventfd2", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64", "fallocate",
    "fchdir", "fchmod", "fchmodat", "fchown", "fchownat", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock",
    "fork", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futex", "get_robust_list",
    "getcpu", "getcwd", "getdents64", "getegid", "geteuid", "getgid", "getgroups", "getitimer", "getpeername",
    "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom", "getresgid", "getresuid", "getrlimit",
    "getrusage", "getsid", "getsockname", "getsockopt", "gettid", "gettimeofday", "getuid", "getxattr", "ioctl",
    "kill", "lchown", "lgetxattr", "link", "linkat", "listen", "listxattr", "llistxattr", "lremovexattr", "lseek",
    "lsetxattr", "lstat", "madvise", "memfd_create", "mkdir", "mkdirat", "mknod", "mknodat", "mlock", "mlock2",
    "mlockall", "mmap", "mprotect", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
    "mq_unlink", "mremap", "msync", "munlock", "munlockall", "munmap", "nanosleep", "newfstatat", "open", "openat",
    "pause", "personality", "pipe", "pipe2", "poll", "ppoll", "prctl", "pread64", "preadv", "preadv2", "prlimit64",
    "pselect6", "pwrite64", "pwritev", "pwritev2", "read", "readlink", "readlinkat", "readv", "recvfrom",
    "recvmmsg", "recvmsg", "removexattr", "rename", "renameat", "renameat2", "restart_syscall", "rmdir",
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity",
    "sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setparam",
    "sched_setscheduler", "sched_yield", "select", "sendfile", "sendmmsg", "sendmsg", "sendto", "set_robust_list",
    "set_tid_address", "setgid", "setgroups", "setitimer", "setpgid", "setpriority", "setregid", "setresgid",
    "setresuid", "setreuid", "setrlimit", "setsid", "setsockopt", "settimeofday", "setuid", "setxattr", "shutdown",
    "sigaltstack", "socket", "socketpair", "stat", "statfs", "statx", "symlink", "symlinkat", "sync", "sysinfo",
    "tgkill", "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
    "timerfd_create", "timerfd_gettime", "timerfd_settime", "times", "tkill", "truncate", "umask", "uname",
    "unlink", "unlinkat", "utimensat", "vfork", "wait4", "waitid", "write", "writev"
};
// clang-format on

constexpr std::optional<std::string_view> system_call_name(std::uint64_t number) {
  const bool later = number >= later_system_calls_begin;
  std::string_view rest = later ? later_system_calls : first_system_calls;
  for (std::uint64_t index = number - (later ? later_system_calls_begin : 0);; --index) {
    const std::size_t blank = rest.find(' ');
    if (index == 0) return rest.substr(0, blank);
    if (blank == std::string_view::npos) return {};
    rest.remove_prefix(blank + 1);
  }
}

constexpr std::optional<std::uint16_t> system_call_number(std::string_view name) {
  for (const bool later : {false, true}) {
    std::string_view rest = later ? later_system_calls : first_system_calls;
    for (std::uint16_t number = later ? later_system_calls_begin : 0;; ++number) {
      const std::size_t blank = rest.find(' ');
      if (rest.substr(0, blank) == name) return number;
      if (blank == std::string_view::npos) break;
      rest.remove_prefix(blank + 1);
    }
  }
  return {};
}

constexpr bool is_implemented_system_call(std::string_view name) {
  for (const std::string_view implemented : implemented_system_calls) {
    if (implemented == name) return true;
  }
  return false;
}

static_assert(system_call_number("write") == 1 && system_call_number("futex") == 202 &&
              system_call_number("rseq") == 334 && system_call_number("clone3") == 435 &&
              system_call_name(334) == "rseq" && !system_call_name(335) && !system_call_name(451));

}  // namespace ingot
