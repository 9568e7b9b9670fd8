#include "server/broker_metrics/metrics_address.h"

#include <charconv>

namespace ingot {

Result<MetricsAddress> MetricsAddress::of(std::string_view text) {
  MetricsAddress address;
  const std::size_t colon = text.rfind(':');
  std::string_view port = text;
  if (colon != std::string_view::npos) {
    port.remove_prefix(colon + 1);
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
      host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
      port = {};  // of an address of version 6, whose end could as well be a port
    }
    if (!host.empty()) address.host = host;
  }
  const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (problem == std::errc() && end == port.data() + port.size()) return address;
  return Error::of(ErrorCode::invalid_argument,
                   "expected an address and a port, such as 127.0.0.1:9100 or [::1]:9100, or a port alone, found \"",
                   text, "\"");
}

std::string MetricsAddress::text() const {
  const bool is_version_6 = host.find(':') != std::string::npos;
  return (is_version_6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace ingot
