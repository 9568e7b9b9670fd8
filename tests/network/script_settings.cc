#include "tests/network/script_settings.h"

#include <charconv>

namespace ingot::network_scripts {
namespace {

constexpr std::int64_t longest_tolerance = 3'600'000'000;

Result<std::int64_t> number_in(const std::string& name, const std::string& value, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= 0 && number <= most) return number;
  return Error::of(ErrorCode::unsupported, "the option --", name, "=", value);
}

Result<Version> version_of(const std::string& value) {
  if (value == "ipv4") return Version::v4;
  if (value == "ipv6") return Version::v6;
  if (value == "ipv4-mapped-ipv6") return Version::v4_as_v6;
  return Error::of(ErrorCode::unsupported, "the version ", value, " of IP");
}

Result<void> apply_option(const std::string& name, const std::string& value, ScriptSettings& settings) {
  if (name == "ip_version") {
    settings.version = TRY(version_of(value));
  } else if (name == "tolerance_usecs") {
    settings.tolerance = TRY(number_in(name, value, longest_tolerance));
  } else if (name == "tolerance_percent") {
    settings.tolerance_share = static_cast<double>(TRY(number_in(name, value, 1000))) / 100;
  } else if (name == "mtu") {
    settings.mtu = static_cast<std::uint16_t>(TRY(number_in(name, value, UINT16_MAX)));
  } else if (name == "bind_port") {
    settings.bind_port = static_cast<std::uint16_t>(TRY(number_in(name, value, UINT16_MAX)));
  } else if (name == "connect_port") {
    settings.connect_port = static_cast<std::uint16_t>(TRY(number_in(name, value, UINT16_MAX)));
  } else if (name == "strict_segments") {
    settings.strict_segments = true;
  } else if (name != "send_omit_free" && name != "verbose") {
    return Error::of(ErrorCode::unsupported, "the option --", name);
  }
  return {};
}

}  // namespace

// The addresses that packetdrill has by default: those of RFC 5737 and RFC 3849 are far away, ours are private ones.
Environment ScriptSettings::environment() const {
  Environment place;
  place.mtu = mtu;
  if (version == Version::v6) {
    place.local = IpAddress(IpAddress::V6{0xfd, 0x3d, 0xfa, 0x7b, 0xd1, 0x7d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    place.gateway = IpAddress(IpAddress::V6{0xfd, 0x3d, 0xfa, 0x7b, 0xd1, 0x7d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});
    place.remote = IpAddress(IpAddress::V6{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  } else {
    place.local = IpAddress::v4(192, 168, 0, 1);
    place.gateway = IpAddress::v4(192, 168, 0, 2);
    place.remote = IpAddress::v4(192, 0, 2, 1);
  }
  return place;
}

Result<ScriptSettings> read_settings(const Script& script) {
  ScriptSettings settings;
  for (const auto& [name, value] : script.options) TRY(apply_option(name, value, settings));
  return settings;
}

}  // namespace ingot::network_scripts
