// TcpSettings: what an administrator may set for all connections of a machine. The defaults are Linux's where it has
// such a setting; scripts of other systems' suites bring profiles of their own.
#pragma once

#include <cstdint>

#include "os/network/time.h"

namespace ingot::os::network {

// In which order a SYN lists its options, and how they are padded: as Linux does, or as the BSDs.
enum class OptionLayout : std::uint8_t { permission_first, scale_first };

enum class CongestionControl : std::uint8_t { cubic, reno };

struct TcpSettings {
  // Of segments. RFC 6928.
  std::uint32_t initial_window = 10;
  CongestionControl congestion_control = CongestionControl::cubic;
  bool slow_start_after_idle = true;

  Nanoseconds minimum_timeout = milliseconds(200), maximum_timeout = seconds(120), initial_timeout = seconds(1);
  Nanoseconds timeout_slack{0};  // added to every retransmission timeout
  Nanoseconds delayed_acknowledgment = milliseconds(40);
  std::uint8_t quick_acknowledgments = 16;  // so many first segments are acknowledged at once: the peer starts slowly
  // How often something is sent again before the peer counts as gone.
  std::uint8_t syn_retries = 6, syn_acknowledgment_retries = 5, data_retries = 15, orphan_retries = 8;
  Nanoseconds connect_timeout{0};  // 0: the retries alone end an attempt

  Nanoseconds keep_alive_idle = seconds(7200), keep_alive_interval = seconds(75);
  std::uint8_t keep_alive_probes = 9;
  Nanoseconds time_wait = seconds(60), fin_wait_2 = seconds(60);

  // Buffers begin at the default and grow by need up to the most; a program that sets one ends that.
  std::uint32_t receive_buffer = 128 << 10, most_receive_buffer = 6 << 20;
  std::uint32_t send_buffer = 16 << 10, most_send_buffer = 4 << 20;
  bool whole_segments_in_buffer = false;  // the receive buffer is rounded up to a multiple of the MSS (the BSDs)
  std::uint32_t not_sent_low_water = ~std::uint32_t{0};

  bool window_scaling = true, timestamps = true, selective_acknowledgments = true;
  OptionLayout layout = OptionLayout::permission_first;
  bool drop_options_on_retransmission = false;  // of a SYN, from the third time on: some middleboxes dislike options
  std::uint16_t maximum_segment = 0;            // 0: what the link's MTU leaves
  bool offers_segment = true;                   // a SYN says how large the peer's segments may be

  // RFC 5961: challenge instead of obeying resets and SYNs that are merely within the window.
  bool insecure_reset = false, insecure_syn = false;
  bool drop_syn_fin = false;
  // RFC 3168, on connections that we begin; so many repeated SYNs still ask.
  bool congestion_notification = false;
  std::uint8_t congestion_notification_retries = 0;
  // Of each connection; and, on the average, of handshakes and TIME-WAIT, which strangers bring about.
  std::uint8_t answers_per_second = 5;
  std::uint32_t challenges_per_second = 1000;
  // Whatever says that the peer is not reached, while a connection is attempted; RFC 1122 4.2.3.9 would bear some of
  // it.
  bool refusals_end_connecting = true, bears_soft_refusals = false;

  // Connections whose socket is gone: how many, and how long each may still send. FIN-WAIT-2 counts as TIME-WAIT.
  std::uint32_t most_orphans = 4096;
  Nanoseconds orphan_time = seconds(600);

  // What strangers may make us remember. Beyond, SYNs are answered by cookies, and the oldest TIME-WAIT goes.
  std::uint32_t most_handshakes = 1024, most_time_waits = 16'384;
  std::uint32_t most_backlog = 4096;       // of a listener, whatever it asks for
  std::uint32_t resets_per_second = 1000;  // to segments that belong to nobody; this machine's own are not counted
};

}  // namespace ingot::os::network
