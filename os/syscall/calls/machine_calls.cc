// What the machine is and has (man 2 uname, sysinfo, getrandom).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"
#include "os/syscall/user_transfer.h"

namespace ingot::os {

namespace {

// struct utsname.
struct SystemName {
  static constexpr std::size_t length = 65;
  char system[length], node[length], release[length], version[length], machine[length], domain[length];
};

void set(char (&field)[SystemName::length], std::string_view text) { text.copy(field, SystemName::length - 1); }

Answer<void> get_system_name(Caller& caller, UserPointer<SystemName> place) {
  SystemName name{};
  set(name.system, "Linux");  // programs ask whether its calls are there: they are
  set(name.node, caller.kernel.machine_report.host_name());
  set(name.release, caller.kernel.machine_report.release());  // what they expect of that version is answered, or ENOSYS
  set(name.version, "#1 SMP");
  set(name.machine, "x86_64");
  return place.write(name);
}

// struct sysinfo.
struct SystemInformation {
  std::int64_t uptime;  // seconds
  std::uint64_t loads[3];
  std::uint64_t total, free, shared, buffers, total_swap, free_swap;
  std::uint16_t processes, padding;
  std::uint64_t total_high, free_high;
  std::uint32_t unit;  // of the sizes, in bytes
};
static_assert(sizeof(SystemInformation) == 112);

Answer<void> get_system_information(Caller& caller, UserPointer<SystemInformation> place) {
  const MemoryFacts memory = caller.kernel.machine_report.memory();
  SystemInformation information{};
  information.uptime = caller.kernel.now().count() / 1'000'000'000;
  information.total = memory.total;
  information.free = memory.free;
  information.processes = 1;
  information.unit = 1;
  return place.write(information);
}

// GRND_NONBLOCK, GRND_RANDOM, GRND_INSECURE: which of two sources, and whether to wait for it. There is one, and it is
// ready.
Answer<std::size_t> get_random(Caller& caller, UserPointer<void> place, std::uint64_t bytes, std::uint32_t flags) {
  constexpr std::uint32_t random = 2, insecure = 4, known = 7;
  if ((flags & ~known) != 0 || (flags & (random | insecure)) == (random | insecure)) return Errno::einval;
  UserPieces pieces(caller.kernel.memory->heap());
  pieces.set(place.address, bytes);
  UserTransferMemory memory(caller.thread);
  Transfer to = pieces.transfer(memory, 0);
  return caller.kernel.random.give(to);
}

constexpr SystemCall rows[] = {
    system_call<&get_system_name>("uname"),
    system_call<&get_system_information>("sysinfo"),
    system_call<&get_random>("getrandom"),
};

}  // namespace

std::span<const SystemCall> machine_calls() { return rows; }

}  // namespace ingot::os
