// Extended attributes (man 7 xattr), which no file has.
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

// As on file systems that keep none: programs go on without.
Answer<std::uint64_t> no_attributes(Caller&) { return Errno::eopnotsupp; }

constexpr SystemCall rows[] = {
    system_call<&no_attributes>("getxattr"),     system_call<&no_attributes>("lgetxattr"),
    system_call<&no_attributes>("fgetxattr"),    system_call<&no_attributes>("setxattr"),
    system_call<&no_attributes>("lsetxattr"),    system_call<&no_attributes>("fsetxattr"),
    system_call<&no_attributes>("listxattr"),    system_call<&no_attributes>("llistxattr"),
    system_call<&no_attributes>("flistxattr"),   system_call<&no_attributes>("removexattr"),
    system_call<&no_attributes>("lremovexattr"), system_call<&no_attributes>("fremovexattr"),
};

}  // namespace

std::span<const SystemCall> attribute_calls() { return rows; }

}  // namespace ingot::os
