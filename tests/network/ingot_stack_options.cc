// Settings and options of the kernel's stack under the names that scripts have for them.
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "tests/network/ingot_stack.h"

namespace ingot::network_scripts {
namespace {

using os::Errno;
using os::network::CongestionControl;
using os::network::OptionLayout;
using os::network::TcpInfo;
using os::network::TcpOptions;
using os::network::TcpSettings;

constexpr std::uint8_t freebsd_syn_retries = 12;  // TCP_MAXRXTSHIFT
constexpr std::int64_t refused = -static_cast<std::int64_t>(Errno::enoprotoopt);

Nanoseconds span_of(Microseconds time) { return Nanoseconds(time * 1000); }
std::int64_t seconds_of(Nanoseconds span) { return span.count() / 1'000'000'000; }

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

tcp_info as_linux(const TcpInfo& info) {
  tcp_info told{};
  told.tcpi_state = static_cast<__u8>(info.state);
  told.tcpi_ca_state = info.congestion_state;
  told.tcpi_retransmits = info.retransmits;
  told.tcpi_probes = info.probes;
  told.tcpi_backoff = info.backoff;
  told.tcpi_options =
      static_cast<__u8>((info.has_timestamps ? TCPI_OPT_TIMESTAMPS : 0) | (info.has_selective ? TCPI_OPT_SACK : 0) |
                        (info.has_scaling ? TCPI_OPT_WSCALE : 0) | (info.has_notification ? TCPI_OPT_ECN : 0));
  told.tcpi_snd_mss = info.send_segment;
  told.tcpi_advmss = info.offered_segment;
  told.tcpi_unacked = info.unacknowledged;
  told.tcpi_sacked = info.selectively_acknowledged;
  told.tcpi_lost = info.lost;
  told.tcpi_retrans = info.retransmitted;
  told.tcpi_rtt = info.round_trip;
  told.tcpi_rttvar = info.round_trip_variance;
  told.tcpi_snd_ssthresh = info.congestion_threshold;
  told.tcpi_snd_cwnd = info.congestion_window;
  told.tcpi_reordering = info.reordering;
  told.tcpi_total_retrans = info.total_retransmissions;
  return told;
}

}  // namespace

std::string IngotStack::configure(const Profile& profile) {
  is_freebsd_ = profile.manner == Profile::Manner::freebsd_kernel;
  set_buffers(settings_, profile);
  settings_.layout = is_freebsd_ ? OptionLayout::scale_first : OptionLayout::permission_first;
  settings_.whole_segments_in_buffer = is_freebsd_;
  settings_.quick_acknowledgments = is_freebsd_ ? 0 : TcpSettings().quick_acknowledgments;
  settings_.syn_retries = is_freebsd_ ? freebsd_syn_retries : TcpSettings().syn_retries;
  settings_.timestamps = profile.timestamps;
  settings_.window_scaling = profile.window_scaling;
  settings_.selective_acknowledgments = profile.selective;
  settings_.initial_timeout = span_of(profile.first_timeout);
  settings_.timeout_slack = span_of(profile.timeout_slack);
  settings_.delayed_acknowledgment = span_of(profile.delayed_acknowledgment);
  settings_.connect_timeout = is_freebsd_ ? span_of(profile.connect_timeout) : Nanoseconds(0);
  settings_.keep_alive_idle = span_of(profile.keep_alive_idle);
  settings_.keep_alive_probes = static_cast<std::uint8_t>(profile.keep_alive_count);
  settings_.insecure_reset = !profile.secure_reset;
  settings_.insecure_syn = !profile.secure_syn;
  settings_.drop_syn_fin = profile.drops_syn_with_fin;
  settings_.drop_options_on_retransmission = profile.drops_options_of_later_syns;
  settings_.hard_errors_end_connecting = profile.unreachable_may_reset;
  settings_.slow_start_after_idle = profile.slow_start_after_idle;
  settings_.congestion_control =
      profile.congestion_control == "reno" ? CongestionControl::reno : CongestionControl::cubic;
  settings_.congestion_notification = profile.congestion_notification == Profile::Congestion::asked_for;
  settings_.congestion_notification_retries = static_cast<std::uint8_t>(profile.congestion_retries);
  const bool knows = profile.congestion_control == "cubic" || profile.congestion_control == "reno";
  return knows ? "" : profile.congestion_control;
}

const TcpOptions& IngotStack::options_of(const Socket& socket) const {
  if (socket.connection) return socket.connection->options();
  return socket.listener ? socket.listener->options : socket.options;
}

std::optional<std::int64_t> IngotStack::number_of(const Socket& socket, int level, int name) {
  const TcpOptions& options = options_of(socket);
  const auto or_setting = [](std::int64_t value, std::int64_t otherwise) { return value != 0 ? value : otherwise; };
  if (level == SOL_SOCKET) {
    const std::int64_t told = is_freebsd_ ? 1 : 2;  // Linux tells what it takes with the packets around it
    if (name == SO_ERROR) return socket.connection ? static_cast<std::int64_t>(socket.connection->take_error()) : 0;
    if (name == SO_SNDBUF) return told * or_setting(options.send_buffer, settings_.send_buffer);
    if (name != SO_RCVBUF) return std::nullopt;
    if (socket.connection) return told * socket.connection->receive_buffer();
    return told * or_setting(options.receive_buffer, settings_.receive_buffer);
  }
  if (level != IPPROTO_TCP) return std::nullopt;
  switch (name) {
    case TCP_NODELAY: return options.no_delay;
    case TCP_CORK: return options.cork;
    case TCP_MAXSEG: return options.maximum_segment;
    case TCP_USER_TIMEOUT: return options.user_timeout_milliseconds;
    case TCP_NOTSENT_LOWAT: return options.not_sent_low_water;
    case TCP_KEEPIDLE: return or_setting(options.keep_alive_idle_seconds, seconds_of(settings_.keep_alive_idle));
    case TCP_KEEPCNT: return or_setting(options.keep_alive_probes, settings_.keep_alive_probes);
    case freebsd_connect_timeout:
      return or_setting(options.connect_timeout_seconds, seconds_of(settings_.connect_timeout));
    default: return std::nullopt;
  }
}

bool IngotStack::set_number(Socket& socket, int level, int name, std::int64_t number) {
  if (level == SOL_SOCKET && name == SO_REUSEADDR) return socket.binding.sharing.address = number != 0, true;
  TcpOptions options = options_of(socket);
  const auto value = static_cast<std::uint32_t>(number);
  const auto small = static_cast<std::uint16_t>(number);
  const auto is = [&](int wanted_level, int wanted) { return level == wanted_level && name == wanted; };
  if (is(SOL_SOCKET, SO_RCVBUF)) {
    options.receive_buffer = value;
  } else if (is(SOL_SOCKET, SO_SNDBUF)) {
    options.send_buffer = value;
  } else if (is(SOL_SOCKET, SO_KEEPALIVE)) {
    options.keep_alive = number != 0;
  } else if (is(IPPROTO_TCP, TCP_NODELAY)) {
    options.no_delay = number != 0;
  } else if (is(IPPROTO_TCP, TCP_CORK)) {
    options.cork = number != 0;
  } else if (is(IPPROTO_TCP, TCP_MAXSEG)) {
    options.maximum_segment = small;
  } else if (is(IPPROTO_TCP, TCP_KEEPIDLE)) {
    options.keep_alive_idle_seconds = small;
  } else if (is(IPPROTO_TCP, TCP_USER_TIMEOUT)) {
    options.user_timeout_milliseconds = value;
  } else if (is(IPPROTO_TCP, TCP_NOTSENT_LOWAT)) {
    options.not_sent_low_water = value;
  } else if (is(IPPROTO_TCP, freebsd_connect_timeout)) {
    options.connect_timeout_seconds = small;
  } else if (is(IPPROTO_TCP, freebsd_no_options)) {
    options.no_options = number != 0;
  } else if (is(IPPROTO_IP, IP_TOS)) {
    options.service = static_cast<std::uint8_t>(number);
  } else if (is(IPPROTO_IP, IP_TTL)) {
    options.hop_limit = static_cast<std::uint8_t>(number);
  } else if (!is(IPPROTO_IP, IP_MTU_DISCOVER)) {  // nothing is ever cut by the way here
    return false;
  }
  if (socket.connection) {
    socket.connection->set_options(options, machine_.time);
  } else {
    (socket.listener ? socket.listener->options : socket.options) = options;
  }
  return true;
}

std::int64_t IngotStack::set_option(int descriptor, int level, int name, std::span<const std::uint8_t> value) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -static_cast<std::int64_t>(Errno::ebadf);
  std::int32_t number = 0;
  std::memcpy(&number, value.data(), std::min(value.size(), sizeof(number)));
  const bool is_known = set_number(*socket, level, name, number);
  settle();
  return is_known ? 0 : refused;
}

std::int64_t IngotStack::information(const Socket& socket, std::span<std::uint8_t> value) {
  const tcp_info told = as_linux(socket.connection ? socket.connection->info(machine_.time) : TcpInfo());
  // Behind these there are times that it does not measure.
  const std::size_t bytes = std::min(value.size(), offsetof(tcp_info, tcpi_pacing_rate));
  std::memcpy(value.data(), &told, bytes);
  return static_cast<std::int64_t>(bytes);
}

std::int64_t IngotStack::get_option(int descriptor, int level, int name, std::span<std::uint8_t> value) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -static_cast<std::int64_t>(Errno::ebadf);
  if (level == IPPROTO_TCP && name == TCP_INFO) return information(*socket, value);
  const std::optional<std::int64_t> number = number_of(*socket, level, name);
  if (!number) return refused;
  const auto told = static_cast<std::int32_t>(*number);
  std::memcpy(value.data(), &told, std::min(value.size(), sizeof(told)));
  return static_cast<std::int64_t>(std::min(value.size(), sizeof(told)));
}

std::int64_t IngotStack::control(int descriptor, std::uint64_t request, int& number) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -static_cast<std::int64_t>(Errno::ebadf);
  if (!socket->connection) return -static_cast<std::int64_t>(Errno::einval);
  switch (request) {
    case SIOCINQ: return number = static_cast<int>(socket->connection->unread_bytes()), 0;
    case SIOCOUTQ: return number = static_cast<int>(socket->connection->unacknowledged_bytes()), 0;
    case SIOCOUTQNSD: return number = static_cast<int>(socket->connection->unsent_bytes()), 0;
    default: return -static_cast<std::int64_t>(Errno::enotty);
  }
}

}  // namespace ingot::network_scripts
