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

// A name that an interface can have, and a file that the emulator can write.
Result<void> check_interface_name(const std::string& name);
Result<void> check_capture(const std::string& path);

// Whether the emulator can do for a guest with these settings what is asked. Its own network has fewer prefixes than
// there are, and keeps places for itself; an interface of this machine must be a tap, once it is there.
Result<void> check_network(const NetworkRequest& request, const NetworkSettings& settings);

// Whether each can be had beside the others.
Result<void> check_ports_differ(const std::vector<PublishedPort>& ports);

// Whether nobody else has a port of this machine that an option asks for: the error names both.
Result<void> check_port_is_free(std::string_view option, const PublishedPort& port);

// An interface of this machine, as far as the emulator and the guest are to know it.
struct TapInterface {
  int mtu = 1500;
  bool has_queues = false;  // it was made to be opened several times: a pair of queues each
};
// Where there is none, the error (not_found) says how to make one; where it is of another kind, it is the caller's
// (invalid_argument).
Result<TapInterface> find_tap(const std::string& name);

// What of a machine its network's card hangs on.
struct CardPlace {
  bool has_pci = false;  // how it finds its devices
  std::uint64_t cpus = 1;
};
// Of a tap that is not there yet: what most have.
std::vector<std::string> network_words(const NetworkRequest& request, const NetworkSettings& settings,
                                       const CardPlace& place);

// As a value of an emulator's option, where a comma ends it unless doubled.
std::string option_value(std::string_view text);

// As people write it.
std::string text_of(const InternetAddress& address);

}  // namespace ingot::image
