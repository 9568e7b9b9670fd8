#include "tests/network/profile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace ingot::network_scripts {
namespace {

constexpr Microseconds millisecond = 1000;

struct Setting {
  std::string_view name;
  void (*apply)(Profile& profile, std::int64_t value);
};

Profile::Congestion congestion_of(std::int64_t value) {
  constexpr std::array kinds = {Profile::Congestion::off, Profile::Congestion::asked_for,
                                Profile::Congestion::answered};
  return kinds[static_cast<std::size_t>(std::clamp<std::int64_t>(value, 0, 2))];
}

constexpr std::array<Setting, 19> freebsd_settings = {{
    {"rfc1323", [](Profile& profile, std::int64_t value) { profile.timestamps = profile.window_scaling = value != 0; }},
    {"sack.enable", [](Profile& profile, std::int64_t value) { profile.selective = value != 0; }},
    {"ecn.enable",
     [](Profile& profile, std::int64_t value) { profile.congestion_notification = congestion_of(value); }},
    {"ecn.maxretries",
     [](Profile& profile, std::int64_t value) { profile.congestion_retries = static_cast<int>(value); }},
    {"recvspace",
     [](Profile& profile, std::int64_t value) { profile.receive_buffer = static_cast<std::uint64_t>(value); }},
    {"sendspace",
     [](Profile& profile, std::int64_t value) { profile.send_buffer = static_cast<std::uint64_t>(value); }},
    {"maxsockbuf",
     [](Profile& profile, std::int64_t value) { profile.most_buffer = static_cast<std::uint64_t>(value); }},
    {"rexmit_initial", [](Profile& profile, std::int64_t value) { profile.first_timeout = value * millisecond; }},
    {"rexmit_slop", [](Profile& profile, std::int64_t value) { profile.timeout_slack = value * millisecond; }},
    {"rexmit_drop_options",
     [](Profile& profile, std::int64_t value) { profile.drops_options_of_later_syns = value != 0; }},
    {"delacktime", [](Profile& profile, std::int64_t value) { profile.delayed_acknowledgment = value * millisecond; }},
    {"keepinit", [](Profile& profile, std::int64_t value) { profile.connect_timeout = value * millisecond; }},
    {"keepidle", [](Profile& profile, std::int64_t value) { profile.keep_alive_idle = value * millisecond; }},
    {"keepcnt", [](Profile& profile, std::int64_t value) { profile.keep_alive_count = static_cast<int>(value); }},
    {"insecure_rst", [](Profile& profile, std::int64_t value) { profile.secure_reset = value == 0; }},
    {"insecure_syn", [](Profile& profile, std::int64_t value) { profile.secure_syn = value == 0; }},
    {"drop_synfin", [](Profile& profile, std::int64_t value) { profile.drops_syn_with_fin = value != 0; }},
    {"icmp_may_rst", [](Profile& profile, std::int64_t value) { profile.unreachable_may_reset = value != 0; }},
    {"blackhole", [](Profile&, std::int64_t) {}},
}};

constexpr std::array<Setting, 6> linux_settings = {{
    {"tcp_timestamps", [](Profile& profile, std::int64_t value) { profile.timestamps = value != 0; }},
    {"tcp_sack", [](Profile& profile, std::int64_t value) { profile.selective = value != 0; }},
    {"tcp_ecn", [](Profile& profile, std::int64_t value) { profile.congestion_notification = congestion_of(value); }},
    {"tcp_early_retrans", [](Profile& profile, std::int64_t value) { profile.tail_loss_probe = value >= 3; }},
    {"tcp_slow_start_after_idle",
     [](Profile& profile, std::int64_t value) { profile.slow_start_after_idle = value != 0; }},
    {"tcp_notsent_lowat",
     [](Profile& profile, std::int64_t value) { profile.unsent_low_water = static_cast<std::uint64_t>(value); }},
}};

// Caches of what hosts were like before: each script has a stack of its own. Sizes of what is handed to a device in one
// piece: packets are joined before they are compared.
constexpr std::array<std::string_view, 3> without_effect = {"hostcache.purgenow", "tcp_min_tso_segs",
                                                            "tcp_tso_win_divisor"};

bool takes_prefix(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

// The middle of "4096 50000 4194304".
std::uint64_t default_of_three(const std::string& value) {
  const std::size_t space = value.find(' ');
  return std::strtoull(space == std::string::npos ? value.c_str() : value.c_str() + space, nullptr, 0);
}

template <std::size_t Count>
SettingOutcome apply_from(const std::array<Setting, Count>& settings, Profile& profile, std::string_view name,
                          const std::string& value) {
  if (std::ranges::find(without_effect, name) != without_effect.end()) return SettingOutcome::ignored;
  for (const Setting& setting : settings) {
    if (setting.name != name) continue;
    setting.apply(profile, std::clamp<std::int64_t>(std::strtoll(value.c_str(), nullptr, 0), 0, INT64_C(1) << 40));
    return SettingOutcome::taken;
  }
  return SettingOutcome::unknown;
}

}  // namespace

Profile linux_profile() { return {}; }

Profile freebsd_profile() {
  Profile profile;
  profile.manner = Profile::Manner::freebsd_kernel;
  profile.congestion_notification = Profile::Congestion::answered;
  profile.receive_buffer = 65'536;
  profile.send_buffer = 32'768;
  profile.most_buffer = 2'097'152;
  profile.timeout_slack = 200 * millisecond;
  profile.connect_timeout = 75'000 * millisecond;
  profile.keep_alive_count = 8;
  return profile;
}

SettingOutcome apply_setting(Profile& profile, std::string_view name, std::string_view value) {
  const std::string text(value);
  if (takes_prefix(name, "net.inet.tcp.") || takes_prefix(name, "kern.ipc.")) {
    if (profile.manner != Profile::Manner::freebsd_kernel) profile = freebsd_profile();
    return apply_from(freebsd_settings, profile, name, text);
  }
  if (!takes_prefix(name, "net.ipv4.") && !takes_prefix(name, "/proc/sys/net/ipv4/")) return SettingOutcome::unknown;
  if (name == "tcp_congestion_control") return profile.congestion_control = text, SettingOutcome::taken;
  if (name == "tcp_wmem") return profile.send_buffer = default_of_three(text), SettingOutcome::taken;
  if (name == "tcp_rmem") return profile.receive_buffer = default_of_three(text), SettingOutcome::taken;
  return apply_from(linux_settings, profile, name, text);
}

}  // namespace ingot::network_scripts
