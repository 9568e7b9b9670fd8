// Attributes: what a program may change about a file in memory beside its content.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "os/file/file_status.h"
#include "os/schedule/locked.h"

namespace ingot::os {

struct Attributes {
  std::uint32_t permissions = 0;
  std::uint32_t links = 0;
  std::uint32_t user = 0, group = 0;
  FileTimes times;

  static Attributes fresh(std::uint32_t permissions, Nanoseconds now) {
    return {permissions & 07777, 0, 0, 0, {now, now, now}};
  }
  void show_in(FileStatus& status) const {
    status.permissions = permissions;
    status.links = links;
    status.user = user;
    status.group = group;
    status.times = times;
  }
  void set_owner(std::optional<std::uint32_t> new_user, std::optional<std::uint32_t> new_group) {
    user = new_user.value_or(user);
    group = new_group.value_or(group);
  }
  void set_times(std::optional<Nanoseconds> accessed, std::optional<Nanoseconds> modified, Nanoseconds now) {
    times = {accessed.value_or(times.accessed), modified.value_or(times.modified), now};
  }
};

using LockedAttributes = Locked<Attributes>;

}  // namespace ingot::os
