// The options that every socket has, with Linux's bounds (man 7 socket).
#include <algorithm>

#include "os/file/socket/option_bytes.h"
#include "os/file/socket/socket_file.h"
#include "os/syscall/time_values.h"

namespace ingot::os {
namespace {

// struct linger and struct ucred.
struct Linger {
  std::int32_t is_on, seconds;
};
struct Credentials {
  std::int32_t process;
  std::uint32_t user, group;
};

constexpr bool is_switch(std::uint32_t option) {
  using namespace socket_option;
  constexpr std::uint32_t all =
      1u << reuse_address | 1u << broadcast | 1u << keep_alive | 1u << reuse_port | 1u << pass_credentials;
  return option < 32 && (all & 1u << option) != 0;
}

}  // namespace

Answer<FileStatus> SocketFile::status() {
  FileStatus status;
  status.kind = FileKind::socket;
  status.permissions = 0777;
  status.inode = static_cast<std::uint64_t>(made_.count());
  status.times = {made_, made_, made_};
  return status;
}

Answer<std::size_t> SocketFile::get_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to) {
  Answer<std::size_t> own = get_own_option(level, option, to);
  if (own.ok() || level != socket_option::level) return own;
  return get_common_option(option, to);
}

Answer<void> SocketFile::set_option(std::uint32_t level, std::uint32_t option, std::span<const std::byte> value) {
  if (level != socket_option::level) return set_own_option(level, option, value);
  TRY(set_common_option(option, value));
  heed_setting(option);
  return {};
}

Answer<std::size_t> SocketFile::get_common_option(std::uint32_t option, std::span<std::byte> to) {
  using namespace socket_option;
  if (is_switch(option)) return tell(to, std::int32_t{settings_.is_on(option)});
  const auto load = [](const auto& setting) { return setting.load(MemoryOrder::relaxed); };
  switch (option) {
    case type: return tell(to, static_cast<std::int32_t>(sort_.kind));
    case domain: return tell(to, std::int32_t{sort_.family});
    case protocol: return tell(to, sort_.protocol);
    case accepts: return tell(to, std::int32_t{listens()});
    case error: return tell(to, static_cast<std::int32_t>(take_error()));
    case send_buffer: return tell(to, load(settings_.send_buffer));
    case receive_buffer: return tell(to, load(settings_.receive_buffer));
    case receive_time: return tell(to, TimeValue::of(load(settings_.receive_time)));
    case send_time: return tell(to, TimeValue::of(load(settings_.send_time)));
    case linger:
      return tell(to, Linger{settings_.is_on(linger), static_cast<std::int32_t>(load(settings_.linger_seconds))});
    case peer_credentials: return tell(to, knows_peer() ? Credentials{1, 0, 0} : Credentials{0, ~0u, ~0u});
    default: return Errno::enoprotoopt;
  }
}

// As Linux does: twice what was asked for, for what the kernel needs beside the bytes, and no less than a little.
void SocketFile::set_buffer(std::uint32_t option, std::int32_t wanted) {
  using namespace socket_option;
  constexpr std::int32_t most = SocketSettings::usual_buffer;  // net.core.wmem_max and rmem_max
  constexpr std::int32_t least_sent = 4608, least_received = 2304;
  const bool sends = option == send_buffer || option == any_send_buffer;
  if (option == send_buffer || option == receive_buffer) {
    // A negative number counts as one without a sign there, thus as the most.
    wanted = wanted < 0 ? most : std::min(wanted, most);
  }
  wanted = std::clamp(wanted, 0, INT32_MAX / 2) * 2;
  wanted = std::max(wanted, sends ? least_sent : least_received);
  (sends ? settings_.send_buffer : settings_.receive_buffer)
      .store(static_cast<std::uint32_t>(wanted), MemoryOrder::relaxed);
}

Answer<void> SocketFile::set_common_option(std::uint32_t option, std::span<const std::byte> value) {
  using namespace socket_option;
  const std::int32_t number = TRY(value_in<std::int32_t>(value));
  // Who sends is always this program: there is nothing to pass.
  if (option == pass_credentials && number != 0) return Errno::eopnotsupp;
  if (is_switch(option)) {
    settings_.turn(option, number != 0);
    return {};
  }
  switch (option) {
    case send_buffer:
    case receive_buffer:
    case any_send_buffer:
    case any_receive_buffer: set_buffer(option, number); return {};
    case linger: {
      const Linger wanted = TRY(value_in<Linger>(value));
      if (wanted.is_on != 0) {
        settings_.linger_seconds.store(static_cast<std::uint32_t>(wanted.seconds), MemoryOrder::relaxed);
      }
      settings_.turn(linger, wanted.is_on != 0);
      return {};
    }
    case receive_time:
    case send_time: {
      const TimeValue wanted = TRY(value_in<TimeValue>(value));
      if (wanted.microsecond_part < 0 || wanted.microsecond_part >= TimeValue::microseconds_per_second) {
        return Errno::edom;
      }
      // A time before now is over at once; 0 is for ever.
      const Nanoseconds time = wanted.seconds < 0 ? Nanoseconds(1) : TRY(wanted.nanoseconds());
      (option == send_time ? settings_.send_time : settings_.receive_time).store(time, MemoryOrder::relaxed);
      return {};
    }
    default: return set_own_option(level, option, value);
  }
}

}  // namespace ingot::os
