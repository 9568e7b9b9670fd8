// Who the program is, and what the machine is.
#include <array>

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

// The program owns its machine: it is root, and there is nobody else.
Answer<std::uint32_t> root(Caller&) { return 0u; }

// struct utsname.
struct SystemName {
  static constexpr std::size_t length = 65;
  char system[length], node[length], release[length], version[length], machine[length], domain[length];
};

void set(char (&field)[SystemName::length], std::string_view text) { text.copy(field, SystemName::length - 1); }

Answer<void> get_system_name(Caller& caller, UserPointer<SystemName> place) {
  SystemName name{};
  set(name.system, "Linux");  // programs ask whether its calls are there: they are
  set(name.node, caller.kernel.facts.host_name());
  set(name.release, caller.kernel.facts.release());  // what they expect of that version is answered, or ENOSYS
  set(name.version, "#1 SMP");
  set(name.machine, "x86_64");
  return place.write(name);
}

Answer<std::size_t> get_random(Caller& caller, VirtualAddress place, std::size_t bytes, std::uint32_t flags) {
  constexpr std::uint32_t known = 7;
  if ((flags & ~known) != 0) return Errno::einval;
  std::array<std::byte, 256> chunk;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t count = bytes - done < chunk.size() ? bytes - done : chunk.size();
    caller.kernel.random.fill(std::span(chunk).first(count));
    if (!copy_to_user(place + done, chunk.data(), count).ok()) return Errno::efault;
    done += count;
  }
  return bytes;
}

struct Limit {
  std::uint64_t current, most;
};

Answer<void> limits(Caller& caller, std::int32_t process, std::uint32_t resource, UserPointer<Limit> wanted,
                    UserPointer<Limit> place) {
  constexpr std::uint32_t stack = 3, open_files = 7, address_space = 9, resource_count = 16;
  constexpr std::uint64_t unlimited = ~std::uint64_t{0};
  if (process != 0 && process != static_cast<std::int32_t>(caller.process.number())) return Errno::esrch;
  if (resource >= resource_count) return Errno::einval;
  if (!wanted.is_null()) return Errno::eperm;  // the manifest sets them
  Limit limit{unlimited, unlimited};
  if (resource == stack) limit = {8 << 20, 8 << 20};
  if (resource == open_files) {
    const std::uint64_t most = caller.process.files().descriptors().limit();
    limit = {most, most};
  }
  const std::uint64_t most_memory = caller.process.memory().account().limit();
  if (resource == address_space) limit = {most_memory, most_memory};
  return place.write_if_wanted(limit);
}

Answer<void> get_limit(Caller& caller, std::uint32_t resource, UserPointer<Limit> place) {
  return limits(caller, 0, resource, {}, place);
}
Answer<void> set_limit(Caller& caller, std::uint32_t resource, UserPointer<Limit> wanted) {
  return limits(caller, 0, resource, wanted, {});
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
  const MemoryFacts memory = caller.kernel.facts.memory();
  SystemInformation information{};
  information.uptime = caller.kernel.now().count() / 1'000'000'000;
  information.total = memory.total;
  information.free = memory.free;
  information.processes = 1;
  information.unit = 1;
  return place.write(information);
}

constexpr SystemCall rows[] = {
    system_call<&get_system_information>("sysinfo"),
    system_call<&root>("getuid"),
    system_call<&root>("geteuid"),
    system_call<&root>("getgid"),
    system_call<&root>("getegid"),
    system_call<&get_system_name>("uname"),
    system_call<&get_random>("getrandom"),
    system_call<&limits>("prlimit64"),
    system_call<&get_limit>("getrlimit"),
    system_call<&set_limit>("setrlimit"),
};

}  // namespace

std::span<const SystemCall> identity_calls() { return rows; }

}  // namespace ingot::os
