#include "machine/guard_watch.h"

#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ingot {
namespace {

// Linux says "segmentation" of pages that may not be touched and "bus" of those that are not there; kernels differ.
constexpr std::array<int, 2> fault_signals = {SIGSEGV, SIGBUS};

// A signal handler gets no argument of its choice, so there is one variable for all: the watch that looks.
std::atomic<GuardWatch*> watch_that_looks = nullptr;
static_assert(std::atomic<GuardWatch*>::is_always_lock_free);

#if defined(__x86_64__)
AccessKind access_kind(const ucontext_t& context) {
  constexpr greg_t was_write = 2;  // of a page fault's error code
  return (context.uc_mcontext.gregs[REG_ERR] & was_write) != 0 ? AccessKind::write : AccessKind::read;
}
#else
// The kernel appends records to the registers; one of them is the exception's syndrome, whose bit 6 says "write, not
// read" of a data abort.
AccessKind access_kind(const ucontext_t& context) {
  constexpr std::uint32_t syndrome_magic = 0x45535201;
  const auto* records = reinterpret_cast<const std::byte*>(context.uc_mcontext.__reserved);
  for (std::size_t offset = 0; offset + 16 <= sizeof(context.uc_mcontext.__reserved);) {
    std::uint32_t header[2];  // magic, bytes of the record
    std::memcpy(header, records + offset, sizeof(header));
    if (header[0] == syndrome_magic) {
      std::uint64_t syndrome;
      std::memcpy(&syndrome, records + offset + sizeof(header), sizeof(syndrome));
      return (syndrome & (1 << 6)) != 0 ? AccessKind::write : AccessKind::read;
    }
    if (header[0] == 0 || header[1] < sizeof(header)) break;
    offset += header[1];
  }
  return AccessKind::unknown;
}
#endif

}  // namespace

std::string_view name_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::read: return "read";
    case AccessKind::write: return "write";
    case AccessKind::unknown: return "read or write";
  }
  return "unknown";
}

void GuardWatch::Note::write(const Trespass& trespass) {
  Progress blank = Progress::blank;
  if (!progress_.compare_exchange_strong(blank, Progress::begun)) return;
  trespass_ = trespass;
  progress_ = Progress::written;
}

std::optional<Trespass> GuardWatch::Note::read() const {
  if (progress_ != Progress::written) return std::nullopt;
  return trespass_;
}

GuardWatch::GuardWatch(GuardedMemory& memory, StrayAccess stray) : memory_(memory), on_stray_(stray) {
  if (watch_that_looks.exchange(this) != nullptr) __builtin_trap();  // the other one would never see its faults
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  for (std::size_t index = 0; index < fault_signals.size(); ++index) {
    sigaction(fault_signals[index], &action, &previous_[index]);
  }
}

GuardWatch::~GuardWatch() {
  for (std::size_t index = 0; index < fault_signals.size(); ++index) {
    sigaction(fault_signals[index], &previous_[index], nullptr);
  }
  watch_that_looks = nullptr;
  if (trespass().has_value()) memory_.close_guards();
}

std::optional<Trespass> GuardWatch::trespass() const { return trespass_.read(); }
std::optional<Trespass> GuardWatch::stray() const { return stray_.read(); }

void GuardWatch::handle(int signal, siginfo_t* information, void* context) {
  const int interrupted_errno = errno;
  GuardWatch& watch = *watch_that_looks;
  const Trespass trespass{static_cast<const std::byte*>(information->si_addr),
                          access_kind(*static_cast<const ucontext_t*>(context))};
  if (watch.memory_.open_guard(trespass.address)) {
    watch.trespass_.write(trespass);
  } else if (watch.on_stray_ == StrayAccess::stops_thread) {
    watch.stray_.write(trespass);
    while (true) pause();
  } else {
    // The instruction begins again and meets whoever listened before.
    sigaction(signal, &watch.previous_[signal == SIGSEGV ? 0 : 1], nullptr);
  }
  errno = interrupted_errno;
}

}  // namespace ingot
