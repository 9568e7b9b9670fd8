#include "os/network/tcp/host.h"

#include <algorithm>

namespace ingot::os::network {

bool TcpHost::may_challenge(Nanoseconds now) {
  if (now - challenge_second_ >= seconds(1)) {
    challenge_second_ = now;
    std::uint32_t drawn = 0;
    machine.fill_random(std::as_writable_bytes(std::span(&drawn, 1)));
    challenges_left_ = settings.challenges_per_second / 2 + drawn % std::max(settings.challenges_per_second, 1u);
  }
  if (challenges_left_ == 0) return false;
  --challenges_left_;
  ++counters.challenges;
  return true;
}

std::uint8_t receive_scale(const TcpSettings& settings) {
  std::uint8_t scale = 0;
  while (scale < 14 && std::uint64_t{65535} << scale < settings.most_receive_buffer) ++scale;
  return scale;
}

std::uint16_t offered_segment(const TcpSettings& settings, const Route& route) {
  const std::uint16_t headers = sizeof(TcpHeader) + (route.source.is_v4() ? sizeof(Ipv4Header) : sizeof(Ipv6Header));
  const std::uint16_t mtu = route.link->properties().mtu;  // not the path's, which is the peer's to learn (RFC 6691)
  const auto fits = static_cast<std::uint16_t>(mtu > headers ? mtu - headers : 0);
  return settings.maximum_segment != 0 ? std::min(settings.maximum_segment, fits) : fits;
}

}  // namespace ingot::os::network
