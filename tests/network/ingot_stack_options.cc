// Settings and options of the kernel's stack under the names that scripts have for them.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "os/file/socket/option_bytes.h"
#include "tests/network/ingot_stack.h"

namespace ingot::network_scripts {
namespace {

using os::network::CongestionControl;
using os::network::OptionLayout;
using os::network::TcpSettings;

constexpr std::uint8_t freebsd_syn_retries = 12;                           // TCP_MAXRXTSHIFT
constexpr Nanoseconds freebsd_maximum_timeout = os::network::seconds(64);  // TCPTV_REXMTMAX

Nanoseconds span_of(Microseconds time) { return Nanoseconds(time * 1000); }

std::uint32_t bytes_of_buffer(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
}

void set_buffers(TcpSettings& settings, const Profile& profile) {
  settings.receive_buffer = bytes_of_buffer(profile.receive_buffer);
  settings.most_receive_buffer = bytes_of_buffer(profile.most_buffer);
  settings.send_buffer = bytes_of_buffer(profile.send_buffer);
  settings.most_send_buffer = std::max<std::uint32_t>(settings.send_buffer, 4 << 20);
  settings.not_sent_low_water = bytes_of_buffer(profile.unsent_low_water);
}

}  // namespace

std::string IngotStack::configure(const Profile& profile) {
  is_freebsd_ = profile.manner == Profile::Manner::freebsd_kernel;
  TcpSettings& settings = stack_.settings();
  set_buffers(settings, profile);
  settings.layout = is_freebsd_ ? OptionLayout::scale_first : OptionLayout::permission_first;
  settings.whole_segments_in_buffer = is_freebsd_;
  settings.quick_acknowledgments = is_freebsd_ ? 0 : TcpSettings().quick_acknowledgments;
  settings.syn_retries = is_freebsd_ ? freebsd_syn_retries : TcpSettings().syn_retries;
  settings.offers_segment = true;
  settings.timestamps = profile.timestamps;
  settings.window_scaling = profile.window_scaling;
  settings.selective_acknowledgments = profile.selective;
  settings.initial_timeout = span_of(profile.first_timeout);
  settings.maximum_timeout = is_freebsd_ ? freebsd_maximum_timeout : TcpSettings().maximum_timeout;
  settings.timeout_slack = span_of(profile.timeout_slack);
  settings.delayed_acknowledgment = span_of(profile.delayed_acknowledgment);
  settings.connect_timeout = is_freebsd_ ? span_of(profile.connect_timeout) : Nanoseconds(0);
  settings.keep_alive_idle = span_of(profile.keep_alive_idle);
  settings.keep_alive_probes = static_cast<std::uint8_t>(profile.keep_alive_count);
  settings.insecure_reset = !profile.secure_reset;
  settings.insecure_syn = !profile.secure_syn;
  settings.drop_syn_fin = profile.drops_syn_with_fin;
  settings.drop_options_on_retransmission = profile.drops_options_of_later_syns;
  settings.refusals_end_connecting = profile.unreachable_may_reset;
  settings.bears_soft_refusals = is_freebsd_;
  settings.slow_start_after_idle = profile.slow_start_after_idle;
  settings.congestion_control =
      profile.congestion_control == "reno" ? CongestionControl::reno : CongestionControl::cubic;
  settings.congestion_notification = profile.congestion_notification == Profile::Congestion::asked_for;
  settings.congestion_notification_retries = static_cast<std::uint8_t>(profile.congestion_retries);
  const bool knows = profile.congestion_control == "cubic" || profile.congestion_control == "reno";
  return knows ? "" : profile.congestion_control;
}

std::optional<std::int64_t> IngotStack::freebsd_option(int level, int name) const {
  if (level != IPPROTO_TCP || name != freebsd_connect_timeout) return std::nullopt;
  return stack_.settings().connect_timeout.count() / 1'000'000'000;
}

bool IngotStack::set_freebsd_option(int level, int name, std::int32_t number) {
  TcpSettings& settings = stack_.settings();
  if (level != IPPROTO_TCP) return false;
  if (name == freebsd_connect_timeout) return settings.connect_timeout = span_of(number * INT64_C(1'000'000)), true;
  if (name != freebsd_no_options) return false;
  settings.timestamps = settings.window_scaling = settings.selective_acknowledgments = settings.offers_segment =
      number == 0;
  return true;
}

std::int64_t IngotStack::set_option(int descriptor, int level, int name, std::span<const std::uint8_t> value) {
  return with(descriptor, [&](Socket& socket) -> os::Answer<void> {
    std::int32_t number = 0;
    std::memcpy(&number, value.data(), std::min(value.size(), sizeof(number)));
    if (set_freebsd_option(level, name, number)) return {};
    return socket.file->set_option(static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(name),
                                   std::as_bytes(value));
  });
}

std::int64_t IngotStack::get_option(int descriptor, int level, int name, std::span<std::uint8_t> value) {
  return with(descriptor, [&](Socket& socket) -> os::Answer<std::size_t> {
    const auto to = std::as_writable_bytes(value);
    if (const auto number = freebsd_option(level, name)) return os::tell(to, static_cast<std::int32_t>(*number));
    const std::size_t told =
        TRY(socket.file->get_option(static_cast<std::uint32_t>(level), static_cast<std::uint32_t>(name), to));
    // Linux tells what a buffer takes with the packets around its bytes, FreeBSD the bytes.
    const bool is_buffer = level == SOL_SOCKET && (name == SO_RCVBUF || name == SO_SNDBUF);
    if (!is_freebsd_ || !is_buffer || told != sizeof(std::int32_t)) return told;
    std::int32_t bytes = 0;
    std::memcpy(&bytes, value.data(), sizeof(bytes));
    return os::tell(to, bytes / 2);
  });
}

std::int64_t IngotStack::control(int descriptor, std::uint64_t request, int& number) {
  return with(descriptor, [&](Socket& socket) {
    os::network::KernelCaller caller;
    return socket.file->control(static_cast<std::uint32_t>(request), reinterpret_cast<std::uintptr_t>(&number), caller);
  });
}

}  // namespace ingot::network_scripts
