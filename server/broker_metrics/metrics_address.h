// MetricsAddress: where metrics are asked for, as a user says it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot {

struct MetricsAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free

  // "127.0.0.1:9100", "[::1]:9100", and of loopback "9100" and ":9100".
  static Result<MetricsAddress> of(std::string_view text);
  std::string text() const;
};

}  // namespace ingot
