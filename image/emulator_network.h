// The network of an emulated machine: which words give it one, and what of the host it publishes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/image/network_settings.h"
#include "base/result.h"

namespace ingot::image {

// A port of this machine that leads to one of the guest's.
struct PublishedPort {
  std::string host = "127.0.0.1";  // of version 4: the emulator forwards no other
  std::uint16_t port = 0, guest_port = 0;
};
// "[HOST:]PORT:GUEST_PORT".
Result<PublishedPort> parse_published_port(std::string_view text);

struct NetworkRequest {
  std::vector<PublishedPort> ports;
  std::string tap;      // an interface of this machine; empty: the emulator's own network, with its own router
  std::string capture;  // a file for all frames; empty: none

  bool is_asked_for() const { return !ports.empty() || !tap.empty() || !capture.empty(); }
};

// Whether the emulator can do for a guest with these settings what is asked.
Result<void> check_network(const NetworkRequest& request, const NetworkSettings& settings);

// Whether nobody else has a port that is to be published: the error names it.
Result<void> check_ports_are_free(const std::vector<PublishedPort>& ports);

// `has_pci`: how the machine finds its devices.
std::vector<std::string> network_words(const NetworkRequest& request, const NetworkSettings& settings, bool has_pci);

// As a value of an emulator's option, where a comma ends it unless doubled.
std::string option_value(std::string_view text);

// As people write it.
std::string text_of(const InternetAddress& address);

}  // namespace ingot::image
