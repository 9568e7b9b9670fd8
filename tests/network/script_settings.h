// ScriptSettings: what a script's options (`--name=value`) ask for.
#pragma once

#include "base/result.h"
#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {

enum class Version { v4, v6, v4_as_v6 };

struct ScriptSettings {
  Version version = Version::v4;
  Microseconds tolerance = 4'000;
  double tolerance_share = 0.125;  // of the time since the event before
  std::uint16_t mtu = 1500;
  std::uint16_t bind_port = 8080, connect_port = 8080;
  bool strict_segments = false;  // packets are not joined before they are compared

  Environment environment() const;
};

// An error of the code `unsupported`: an option without a meaning here.
Result<ScriptSettings> read_settings(const Script& script);

}  // namespace ingot::network_scripts
