// What the program may use at most (man 2 getrlimit, prlimit).
#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

Answer<void> limits(Caller& caller, std::int32_t process, Resource resource, UserPointer<ResourceLimit> wanted,
                    UserPointer<ResourceLimit> before) {
  if (process != 0 && process != static_cast<std::int32_t>(caller.process.number())) return Errno::esrch;
  if (static_cast<std::size_t>(resource) >= resource_count) return Errno::einval;
  const ResourceLimit old = caller.process.limit_of(resource);
  if (!wanted.is_null()) {
    const ResourceLimit limit = TRY(wanted.read());
    TRY(caller.process.change_limit(resource, limit));
  }
  return before.write_if_wanted(old);
}

Answer<void> get_limit(Caller& caller, Resource resource, UserPointer<ResourceLimit> place) {
  if (static_cast<std::size_t>(resource) >= resource_count) return Errno::einval;
  return place.write(caller.process.limit_of(resource));
}
Answer<void> set_limit(Caller& caller, Resource resource, UserPointer<ResourceLimit> wanted) {
  if (static_cast<std::size_t>(resource) >= resource_count) return Errno::einval;
  return caller.process.change_limit(resource, TRY(wanted.read()));
}

constexpr SystemCall rows[] = {
    system_call<&limits>("prlimit64"),
    system_call<&get_limit>("getrlimit"),
    system_call<&set_limit>("setrlimit"),
};

}  // namespace

std::span<const SystemCall> limit_calls() { return rows; }

}  // namespace ingot::os
