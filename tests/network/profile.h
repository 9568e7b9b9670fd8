// Profile: the settings of a stack that scripts assume or change, under the names that FreeBSD and Linux give them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/network/script.h"

namespace ingot::network_scripts {

struct Profile {
  // Whose order and filling of options, and whose sizes of buffers, the script's packets show.
  enum class Manner { linux_kernel, freebsd_kernel };
  enum class Congestion { off, asked_for, answered };

  Manner manner = Manner::linux_kernel;
  bool timestamps = true;
  bool window_scaling = true;
  bool selective = true;
  Congestion congestion_notification = Congestion::off;
  int congestion_retries = 1;  // SYNs that ask for it again
  std::uint64_t receive_buffer = 540'000;
  std::uint64_t send_buffer = 262'144;
  std::uint64_t most_buffer = 15 * 1024 * 1024;
  Microseconds first_timeout = 1'000'000;
  Microseconds timeout_slack = 0;
  Microseconds delayed_acknowledgment = 40'000;
  Microseconds connect_timeout = 127'000'000;
  Microseconds keep_alive_idle = 7'200'000'000;
  int keep_alive_count = 9;
  bool secure_reset = true;  // RFC 5961
  bool secure_syn = true;
  bool drops_syn_with_fin = false;
  bool drops_options_of_later_syns = false;
  bool unreachable_may_reset = true;
  bool tail_loss_probe = true;
  bool slow_start_after_idle = false;
  std::uint64_t unsent_low_water = UINT32_MAX;
  std::string congestion_control = "cubic";
};

Profile linux_profile();
Profile freebsd_profile();

enum class SettingOutcome { taken, ignored, unknown };

// `name` as sysctl or /proc/sys has it. What decides nothing in these scripts is ignored.
SettingOutcome apply_setting(Profile& profile, std::string_view name, std::string_view value);

}  // namespace ingot::network_scripts
