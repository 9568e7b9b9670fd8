#include "accelerator/fault_report.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "accelerator/worker_state.h"

namespace ingot {
namespace {

// A signal handler can reach nothing but static variables.
struct Told {
  std::optional<accelerator::SharedWords> shared;
  const ClientMemory* memory = nullptr;
  int fault_bell = -1;
  std::atomic<std::uint64_t> packet{0};
  std::atomic<bool> is_reported{false};
};
Told& told() {
  static Told the_one;
  return the_one;
}

accelerator::FaultKind kind_of(int signal, int code) {
  if (signal == SIGFPE) return accelerator::FaultKind::arithmetic;
  if (signal == SIGILL) return accelerator::FaultKind::instruction;
  if (signal == SIGBUS) return accelerator::FaultKind::bus;
  return code == SEGV_ACCERR ? accelerator::FaultKind::protection : accelerator::FaultKind::absent;
}

// Several threads may come at once: the first one tells, the others wait for the end.
void report(int signal, siginfo_t* information, void*) {
  Told& all = told();
  if (all.is_reported.exchange(true)) {
    while (true) ::pause();
  }
  const std::optional<std::uint64_t> clients = all.memory->clients_address(information->si_addr);
  accelerator::Fault fault;
  fault.address = clients.value_or(reinterpret_cast<std::uintptr_t>(information->si_addr));
  fault.command = all.packet.load();
  fault.kind = kind_of(signal, information->si_code);
  fault.is_clients = clients.has_value() ? 1 : 0;
  all.shared->slot<accelerator::Fault>(accelerator::at::faults, 0).store(fault);
  all.shared->worker().fault_write.store(1, MemoryOrder::release);
  tell_state(*all.shared, accelerator::WorkerState::faulted);
  const std::uint64_t once = 1;
  [[maybe_unused]] const ssize_t rung = ::write(all.fault_bell, &once, sizeof once);
  ::_exit(1);
}

}  // namespace

void FaultReport::begin(accelerator::SharedWords shared, const ClientMemory& memory, int fault_bell) {
  Told& all = told();
  all.shared = shared;
  all.memory = &memory;
  all.fault_bell = fault_bell;
  struct sigaction action = {};
  action.sa_sigaction = report;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
}

void FaultReport::at_packet(std::uint64_t index) { told().packet.store(index, std::memory_order_relaxed); }

}  // namespace ingot
