// What programs set and ask of a TCP socket beside what every socket has (man 7 tcp, ip, ipv6).
#include <algorithm>

#include "os/network/socket/option_values.h"
#include "os/network/socket/stream_socket.h"

namespace ingot::os::network {

namespace {

// One that is a number: how it stands in TcpOptions, between which bounds, and what is told where nobody has set it and
// the stack's settings know nothing of it.
struct NumberOption {
  std::uint32_t level, option;
  std::int32_t least, most, usual;
  std::int32_t (*get)(const TcpOptions&);
  void (*set)(TcpOptions&, std::int32_t);
};

template <auto member>
constexpr NumberOption number(std::uint32_t level, std::uint32_t option, std::int32_t least, std::int32_t most,
                              std::int32_t usual = 0) {
  return {level,
          option,
          least,
          most,
          usual,
          [](const TcpOptions& options) { return static_cast<std::int32_t>(options.*member); },
          [](TcpOptions& options, std::int32_t value) {
            using Field = std::remove_reference_t<decltype(options.*member)>;
            options.*member = static_cast<Field>(value);
          }};
}

constexpr std::int32_t any = INT32_MAX, below_all = INT32_MIN;
constexpr std::uint32_t of_tcp = option_level::tcp, of_v4 = option_level::v4, of_v6 = option_level::v6;
constexpr std::uint32_t largest_segment = 2;        // TCP_MAXSEG
constexpr std::int32_t least_largest_segment = 88;  // unless it is 0: whatever fits
constexpr NumberOption numbers[] = {
    {of_tcp, 1, below_all, any, 0, [](const TcpOptions& options) { return std::int32_t{options.no_delay}; },
     [](TcpOptions& options, std::int32_t value) { options.no_delay = value != 0; }},  // TCP_NODELAY
    {of_tcp, 3, below_all, any, 0, [](const TcpOptions& options) { return std::int32_t{options.cork}; },
     [](TcpOptions& options, std::int32_t value) { options.cork = value != 0; }},  // TCP_CORK
    number<&TcpOptions::maximum_segment>(of_tcp, largest_segment, 0, 32767),
    number<&TcpOptions::keep_alive_idle_seconds>(of_tcp, 4, 1, 32767),         // TCP_KEEPIDLE
    number<&TcpOptions::keep_alive_interval_seconds>(of_tcp, 5, 1, 32767),     // TCP_KEEPINTVL
    number<&TcpOptions::keep_alive_probes>(of_tcp, 6, 1, 127),                 // TCP_KEEPCNT
    number<&TcpOptions::syn_retries>(of_tcp, 7, 1, 127),                       // TCP_SYNCNT
    number<&TcpOptions::fin_wait_2_seconds>(of_tcp, 8, INT16_MIN, INT16_MAX),  // TCP_LINGER2
    number<&TcpOptions::user_timeout_milliseconds>(of_tcp, 18, 0, any),        // TCP_USER_TIMEOUT
    number<&TcpOptions::not_sent_low_water>(of_tcp, 25, 0, any),               // TCP_NOTSENT_LOWAT
    number<&TcpOptions::service>(of_v4, 1, 0, 255),                            // IP_TOS
    number<&TcpOptions::hop_limit>(of_v4, 2, 1, 255, 64),                      // IP_TTL
    number<&TcpOptions::hop_limit>(of_v6, 16, 1, 255, 64),                     // IPV6_UNICAST_HOPS
    number<&TcpOptions::service>(of_v6, 67, 0, 255),                           // IPV6_TCLASS
};

const NumberOption* find(std::uint32_t level, std::uint32_t option) {
  const auto* const found = std::find_if(std::begin(numbers), std::end(numbers), [&](const NumberOption& it) {
    return it.level == level && it.option == option;
  });
  return found == std::end(numbers) ? nullptr : found;
}

// What holds where a program set nothing.
std::int32_t usual_of(const NumberOption& row, const TcpSettings& settings) {
  const auto in_seconds = [](Nanoseconds span) { return static_cast<std::int32_t>(span.count() / seconds(1).count()); };
  switch (row.level == of_tcp ? row.option : 0) {
    case 4: return in_seconds(settings.keep_alive_idle);
    case 5: return in_seconds(settings.keep_alive_interval);
    case 6: return settings.keep_alive_probes;
    case 7: return settings.syn_retries;
    case 8: return in_seconds(settings.fin_wait_2);
    default: return row.usual;
  }
}

constexpr std::uint32_t tells_all = 11, quick = 12, congestion = 13;  // TCP_INFO, TCP_QUICKACK, TCP_CONGESTION

// struct tcp_info, as far as Linux had it for long: programs ask for what they know.
struct LinuxTcpInfo {
  std::uint8_t state, congestion_state, retransmits, probes, backoff, options, scales, limited;
  std::uint32_t timeout, acknowledgment_timeout, send_segment, receive_segment;
  std::uint32_t unacknowledged, selectively_acknowledged, lost, retransmitted, forward;
  std::uint32_t last_data_sent, last_acknowledgment_sent, last_data_received, last_acknowledgment_received;
  std::uint32_t path_mtu, receive_threshold, round_trip, round_trip_variance, congestion_threshold, congestion_window;
  std::uint32_t offered_segment, reordering, receive_round_trip, receive_space, total_retransmissions;
};
static_assert(sizeof(LinuxTcpInfo) == 104);

LinuxTcpInfo as_linux(const TcpInfo& info) {
  LinuxTcpInfo to{};
  to.state = static_cast<std::uint8_t>(info.state);
  to.congestion_state = info.congestion_state;
  to.retransmits = info.retransmits, to.probes = info.probes, to.backoff = info.backoff;
  to.options = static_cast<std::uint8_t>((info.has_timestamps ? 1 : 0) | (info.has_selective ? 2 : 0) |
                                         (info.has_scaling ? 4 : 0) | (info.has_notification ? 8 : 0));
  to.scales = static_cast<std::uint8_t>(info.send_scale | info.receive_scale << 4);
  to.timeout = info.timeout, to.acknowledgment_timeout = info.acknowledgment_timeout;
  to.send_segment = info.send_segment, to.receive_segment = info.receive_segment;
  to.unacknowledged = info.unacknowledged, to.selectively_acknowledged = info.selectively_acknowledged;
  to.lost = info.lost, to.retransmitted = info.retransmitted;
  to.last_data_sent = info.last_data_sent, to.last_data_received = info.last_data_received;
  to.last_acknowledgment_received = info.last_acknowledgment_received;
  to.path_mtu = info.path_mtu;
  to.round_trip = info.round_trip, to.round_trip_variance = info.round_trip_variance;
  to.congestion_threshold = info.congestion_threshold, to.congestion_window = info.congestion_window;
  to.offered_segment = info.offered_segment, to.reordering = info.reordering;
  to.receive_space = info.receive_space, to.total_retransmissions = info.total_retransmissions;
  return to;
}

constexpr std::string_view name_of(CongestionControl control) {
  return control == CongestionControl::cubic ? "cubic" : "reno";
}

Answer<CongestionControl> read_congestion(std::span<const std::byte> value) {
  std::string_view name(reinterpret_cast<const char*>(value.data()), value.size());
  name = name.substr(0, name.find('\0'));
  for (const CongestionControl control : {CongestionControl::cubic, CongestionControl::reno}) {
    if (name == name_of(control)) return control;
  }
  return Errno::enoent;
}

}  // namespace

const TcpOptions& StreamSocket::options() const {
  if (connection_) return connection_->options();
  return listener() != nullptr ? listener()->options : unconnected_->options;
}

void StreamSocket::set_options(const TcpOptions& options, Nanoseconds now) {
  if (connection_) return connection_->set_options(options, now);
  (listener() != nullptr ? listener()->options : unconnected_->options) = options;
}

// Twice of what it holds of a stream, as heed_setting halves what is set.
std::uint32_t StreamSocket::buffer_bytes(std::uint32_t option, const TcpSettings& settings) const {
  const auto or_usual = [](std::uint32_t bytes, std::uint32_t usual) { return (bytes != 0 ? bytes : usual) * 2; };
  if (option == socket_option::send_buffer) {
    return connection_ ? connection_->send_buffer() * 2 : or_usual(options().send_buffer, settings.send_buffer);
  }
  return connection_ ? connection_->receive_buffer() * 2 : or_usual(options().receive_buffer, settings.receive_buffer);
}

// TCP_MAXSEG: what goes into a segment now.
std::int32_t StreamSocket::segment_bytes(Nanoseconds now) const {
  constexpr std::int32_t usual = 536;
  if (connection_ && connection_->state() != TcpState::closed) {
    return static_cast<std::int32_t>(connection_->info(now).send_segment);
  }
  return options().maximum_segment != 0 ? options().maximum_segment : usual;
}

Answer<std::size_t> StreamSocket::get_own_option(std::uint32_t level, std::uint32_t option, std::span<std::byte> to) {
  return stack_.with([&](Stack& stack, Nanoseconds now) -> Answer<std::size_t> {
    const TcpSettings& settings = stack.tcp().settings;
    if (level == socket_option::level &&
        (option == socket_option::send_buffer || option == socket_option::receive_buffer)) {
      return tell(to, buffer_bytes(option, settings));
    }
    if (level == of_tcp && option == largest_segment) return tell(to, segment_bytes(now));
    if (const NumberOption* row = find(level, option)) {
      const std::int32_t set = row->get(options());
      return tell(to, set != 0 ? set : usual_of(*row, settings));
    }
    if (level == option_level::v6 && option == option_level::v6_only) {
      const bool only = listener() != nullptr ? listener()->v6_only : unconnected_ && unconnected_->binding.v6_only;
      return tell(to, std::int32_t{only});
    }
    if (level != option_level::tcp) return tell_quiet_option(level, option, to);
    switch (option) {
      case tells_all: return tell(to, as_linux(connection_ ? connection_->info(now) : TcpInfo()));
      case quick: return tell(to, std::int32_t{1});
      case congestion: {
        std::array<char, 16> name{};
        const std::string_view text = name_of(options().congestion_control);
        std::copy(text.begin(), text.end(), name.begin());
        return tell(to, name);
      }
      default: return tell_quiet_option(level, option, to);
    }
  });
}

Answer<void> StreamSocket::set_own_option(std::uint32_t level, std::uint32_t option, std::span<const std::byte> value) {
  return stack_.with([&](Stack&, Nanoseconds now) -> Answer<void> {
    TcpOptions changed_options = options();
    if (level == option_level::tcp && option == congestion) {
      changed_options.congestion_control = TRY(read_congestion(value));
      set_options(changed_options, now);
      return {};
    }
    std::int32_t number = TRY(number_in(level, value));
    // Of those that packets carry, -1 asks for what is usual.
    if (const NumberOption* row = find(level, option)) {
      if (number == -1 && level != of_tcp) number = row->usual;
      if (level == of_tcp && option == largest_segment && number != 0 && number < least_largest_segment)
        return Errno::einval;
      if (number < row->least || number > row->most) return Errno::einval;
      row->set(changed_options, number);
      set_options(changed_options, now);
      return {};
    }
    if (level == option_level::v6 && option == option_level::v6_only) {
      if (!unconnected_ || listener() != nullptr || unconnected_->binding.is_bound()) return Errno::einval;
      unconnected_->binding.v6_only = number != 0;
      return {};
    }
    if (level == option_level::tcp && option == quick) {
      if (connection_ && number != 0) connection_->acknowledge_quickly(now);
      return {};
    }
    return set_quiet_option(level, option);
  });
}

void StreamSocket::heed_setting(std::uint32_t option) {
  stack_.with([&](Stack&, Nanoseconds now) {
    TcpOptions wanted = options();
    switch (option) {
      case socket_option::keep_alive: wanted.keep_alive = settings().is_on(option); break;
      case socket_option::linger:
        wanted.linger_seconds = settings().is_on(option)
                                    ? static_cast<std::int32_t>(settings().linger_seconds.load(MemoryOrder::relaxed))
                                    : -1;
        break;
      // Half of what is told goes for what packets take beside their bytes, as on Linux.
      case socket_option::send_buffer:
      case socket_option::any_send_buffer:
        wanted.send_buffer = settings().send_buffer.load(MemoryOrder::relaxed) / 2;
        break;
      case socket_option::receive_buffer:
      case socket_option::any_receive_buffer:
        wanted.receive_buffer = settings().receive_buffer.load(MemoryOrder::relaxed) / 2;
        break;
      case socket_option::reuse_address:
      case socket_option::reuse_port:
        if (!unconnected_) return;
        unconnected_->binding.sharing = {settings().is_on(socket_option::reuse_address),
                                         settings().is_on(socket_option::reuse_port)};
        return;
      default: return;
    }
    set_options(wanted, now);
  });
}

}  // namespace ingot::os::network
