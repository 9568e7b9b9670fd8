#include "image/emulator_network.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace ingot::image {

namespace {

using Source = AddressSettings::Source;

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, port);
  return read.ec == std::errc() && read.ptr == end && port != 0 ? std::optional(port) : std::nullopt;
}

InternetAddress network_of(const AddressSettings& settings) {
  InternetAddress network = settings.address;
  for (unsigned bit = settings.prefix; bit < 8u * network.count; ++bit) {
    network.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80u >> bit % 8));
  }
  return network;
}

// Where the emulator's own name server is: one that the guest was told of, or any place that nobody else has.
InternetAddress name_server_of(const AddressSettings& settings) {
  const auto is_free = [&](const InternetAddress& address) {
    return address.is_version_4() && address != settings.gateway && address != settings.address;
  };
  const auto told = std::ranges::find_if(settings.servers(), is_free);
  if (told != settings.servers().end()) return *told;
  InternetAddress address = network_of(settings);
  do {
    ++address.bytes[3];
  } while (!is_free(address));
  return address;
}

// Of a guest with a fixed address the emulator's network is the one that it expects to be in.
std::string user_network(const NetworkRequest& request, const NetworkSettings& settings) {
  std::string words = "user,id=network";
  const AddressSettings& four = settings.version_4;
  std::string guest;
  if (four.source == Source::fixed) {
    guest = text_of(four.address);
    words += ",net=" + text_of(network_of(four)) + '/' + std::to_string(four.prefix) +
             ",host=" + text_of(four.gateway) + ",dns=" + text_of(name_server_of(four)) + ",dhcpstart=" + guest;
  }
  const AddressSettings& six = settings.version_6;
  if (six.source == Source::fixed) {
    words += ",ipv6-prefix=" + text_of(network_of(six)) + ",ipv6-prefixlen=" + std::to_string(six.prefix);
    const bool is_of_this_link = six.gateway.bytes[0] == 0xfe;  // where the emulator's router has a place of its own
    if (!is_of_this_link) words += ",ipv6-host=" + text_of(six.gateway);
  }
  for (const PublishedPort& each : request.ports) {
    words += ",hostfwd=tcp:" + each.host + ':' + std::to_string(each.port) + '-' + guest + ':' +
             std::to_string(each.guest_port);
  }
  return words;
}

}  // namespace

Result<PublishedPort> parse_published_port(std::string_view text) {
  PublishedPort published;
  const std::size_t last = text.rfind(':');
  const std::string_view front = text.substr(0, last == std::string_view::npos ? 0 : last);
  const std::size_t before = front.rfind(':');
  const bool has_host = before != std::string_view::npos;
  const auto port = parse_port(has_host ? front.substr(before + 1) : front);
  const auto guest_port = parse_port(last == std::string_view::npos ? "" : text.substr(last + 1));
  if (has_host) published.host = front.substr(0, before);
  const auto host = parse_internet_address(published.host);
  if (!port || !guest_port || !host || !host->is_version_4()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected [HOST:]PORT:GUEST_PORT with an IPv4 address and ports of 1 to 65535, found '", text,
                     "'");
  }
  published.port = *port;
  published.guest_port = *guest_port;
  return published;
}

Result<void> check_network(const NetworkRequest& request, const NetworkSettings& settings) {
  if (!request.tap.empty() && !request.ports.empty()) {
    return Error::of(
        ErrorCode::invalid_argument,
        "expected --publish or --tap, found both: on an interface of this machine the guest has an address "
        "of its own, which is asked at its own port");
  }
  if (request.tap.size() >= IFNAMSIZ || request.tap.find('/') != std::string::npos) {
    return Error::of(ErrorCode::invalid_argument, "--tap: expected an interface's name of at most ", IFNAMSIZ - 1,
                     " letters, found '", std::string_view(request.tap), "'");
  }
  if (!request.ports.empty() && settings.version_4.source == Source::none) {
    return Error::of(ErrorCode::unsupported,
                     "--publish: expected an image that was cast with an address of IPv4, to which the emulator "
                     "forwards, found one without: reach it by --tap");
  }
  return {};
}

Result<void> check_ports_are_free(const std::vector<PublishedPort>& ports) {
  for (const PublishedPort& each : ports) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(each.port);
    ::inet_pton(AF_INET, each.host.c_str(), &address.sin_addr);
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;  // as the emulator does: connections that have ended keep no port
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool is_free = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                         ::listen(descriptor, 1) == 0;
    const int problem = errno;
    ::close(descriptor);
    if (is_free) continue;
    return Error::of(ErrorCode::input_output, "--publish: expected ", std::string_view(each.host), ":", each.port,
                     " to be free on this machine, found: ", std::strerror(problem));
  }
  return {};
}

std::vector<std::string> network_words(const NetworkRequest& request, const NetworkSettings& settings, bool has_pci) {
  std::vector<std::string> words;
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (request.tap.empty()) {
    add({"-netdev", user_network(request, settings)});
  } else {
    add({"-netdev", "tap,id=network,ifname=" + option_value(request.tap) + ",script=no,downscript=no,vhost=off"});
  }
  if (has_pci) {
    add({"-device", "virtio-net-pci,netdev=network,romfile="});  // nobody boots from it
    add({"-device", "virtio-rng-pci"});
  } else {
    add({"-global", "virtio-mmio.force-legacy=false"});
    add({"-device", "virtio-net-device,netdev=network", "-device", "virtio-rng-device"});
  }
  if (!request.capture.empty()) {
    add({"-object", "filter-dump,id=capture,netdev=network,file=" + option_value(request.capture)});
  }
  return words;
}

std::string option_value(std::string_view text) {
  std::string value;
  for (const char character : text) value.append(character == ',' ? 2 : 1, character);
  return value;
}

std::string text_of(const InternetAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(address.is_version_4() ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof text);
  return text;
}

}  // namespace ingot::image
