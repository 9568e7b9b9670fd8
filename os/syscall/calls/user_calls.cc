// Which user the program is (man 2 getuid, setresuid): the superuser, of a machine that has no other.
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

Answer<std::uint32_t> root(Caller&) { return 0u; }

Answer<void> three_identities(Caller&, UserPointer<std::uint32_t> real, UserPointer<std::uint32_t> effective,
                              UserPointer<std::uint32_t> saved) {
  TRY(real.write(0));
  TRY(effective.write(0));
  return saved.write(0);
}
Answer<std::uint32_t> further_groups(Caller&, std::int32_t room, UserPointer<std::uint32_t>) {
  return room < 0 ? Answer<std::uint32_t>(Errno::einval) : std::uint32_t{0};
}

// It stays who it is. Nothing here asks a user's rights of files, so whoever wants fewer must not believe to have them.
// -1 changes nothing.
Answer<void> stay(std::uint32_t wanted) {
  constexpr std::uint32_t unchanged = ~std::uint32_t{0};
  return wanted == 0 || wanted == unchanged ? Answer<void>() : Errno::eperm;
}
Answer<void> set_identity(Caller&, std::uint32_t wanted) {
  constexpr std::uint32_t nobody = ~std::uint32_t{0};
  return wanted == nobody ? Errno::einval : stay(wanted);
}
Answer<void> set_two_identities(Caller&, std::uint32_t real, std::uint32_t effective) {
  TRY(stay(real));
  return stay(effective);
}
Answer<void> set_three_identities(Caller&, std::uint32_t real, std::uint32_t effective, std::uint32_t saved) {
  TRY(stay(real));
  TRY(stay(effective));
  return stay(saved);
}
Answer<void> set_further_groups(Caller&, std::uint32_t count, UserPointer<std::uint32_t>) {
  return count == 0 ? Answer<void>() : Errno::eperm;
}

constexpr SystemCall rows[] = {
    system_call<&root>("getuid"),
    system_call<&root>("geteuid"),
    system_call<&root>("getgid"),
    system_call<&root>("getegid"),
    system_call<&three_identities>("getresuid"),
    system_call<&three_identities>("getresgid"),
    system_call<&further_groups>("getgroups"),
    system_call<&set_identity>("setuid"),
    system_call<&set_identity>("setgid"),
    system_call<&set_two_identities>("setreuid"),
    system_call<&set_two_identities>("setregid"),
    system_call<&set_three_identities>("setresuid"),
    system_call<&set_three_identities>("setresgid"),
    system_call<&set_further_groups>("setgroups"),
};

}  // namespace

std::span<const SystemCall> user_calls() { return rows; }

}  // namespace ingot::os
