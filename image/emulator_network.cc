#include "image/emulator_network.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "image/output_file.h"

namespace ingot::image {

namespace {

using Source = AddressSettings::Source;

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto read = std::from_chars(begin, end, port);
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
    // On a link's own addresses the emulator's router has a place of its own.
    if (!is_of_this_link(six.gateway)) words += ",ipv6-host=" + text_of(six.gateway);
  }
  for (const PublishedPort& each : request.ports) {
    words += ",hostfwd=tcp:" + each.host + ':' + std::to_string(each.port) + '-' + guest + ':' +
             std::to_string(each.guest_port);
  }
  return words;
}

Error not_in_the_emulators_network(std::string_view expected, const AddressSettings& settings) {
  return Error::of(ErrorCode::invalid_argument, "expected ", expected, " in the emulator's own network, found ",
                   std::string_view(text_of(settings.address)), "/", settings.prefix,
                   " in the image: boot it with --tap, or cast it with another --address");
}

// As QEMU has it, which would not start, or would answer for the guest's address.
Result<void> check_user_network(const NetworkSettings& settings) {
  constexpr unsigned least_prefix_4 = 4, most_prefix_6 = 126;
  constexpr std::uint8_t routers_place = 2, name_servers_place = 3;
  const AddressSettings& four = settings.version_4;
  if (four.source == Source::fixed && four.prefix < least_prefix_4) {
    return not_in_the_emulators_network("a prefix of 4 bits or more", four);
  }
  const AddressSettings& six = settings.version_6;
  if (six.source != Source::fixed) return {};
  if (six.prefix > most_prefix_6) return not_in_the_emulators_network("a prefix of at most 126 bits", six);
  InternetAddress place = network_of(six);
  for (const std::uint8_t last : {routers_place, name_servers_place}) {
    if (last == routers_place && !is_of_this_link(six.gateway)) continue;
    place.bytes.back() = static_cast<std::uint8_t>(network_of(six).bytes.back() | last);
    if (six.address == place) return not_in_the_emulators_network("neither ::2 nor ::3, which are QEMU's,", six);
  }
  return {};
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

Result<void> check_interface_name(const std::string& name) {
  const bool is_one =
      !name.empty() && name.size() < IFNAMSIZ && name != "." && name != ".." &&
      std::ranges::none_of(
          name, [](unsigned char letter) { return letter <= ' ' || letter == '/' || letter == ':' || letter == 0x7f; });
  if (is_one) return {};
  return Error::of(ErrorCode::invalid_argument, "expected an interface's name of 1 to ", IFNAMSIZ - 1,
                   " letters, found '", std::string_view(name), "'");
}

Result<void> check_capture(const std::string& path) {
  TRY(check_output_name(path));
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  if (::access(is_there ? path.c_str() : folder.empty() ? "." : folder.c_str(), W_OK) == 0) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a file that may be written, found '", std::string_view(path),
                   "': ", std::strerror(errno));
}

Result<void> check_network(const NetworkRequest& request, const NetworkSettings& settings) {
  if (!request.tap.empty()) {
    const Result<TapInterface> found = find_tap(request.tap);
    if (!found.ok() && found.error().code() == ErrorCode::invalid_argument) return found.error();
    return {};
  }
  TRY(check_user_network(settings));
  if (!request.ports.empty() && settings.version_4.source == Source::none) {
    return Error::of(ErrorCode::invalid_argument,
                     "--publish: expected an image that was cast with an address of IPv4, to which the emulator "
                     "forwards, found one without: reach it by --tap");
  }
  return {};
}

Result<void> check_ports_differ(const std::vector<PublishedPort>& ports) {
  constexpr std::string_view any_host = "0.0.0.0";
  for (auto later = ports.begin(); later != ports.end(); ++later) {
    const auto earlier = std::find_if(ports.begin(), later, [&](const PublishedPort& port) {
      const bool shares_host = port.host == later->host || port.host == any_host || later->host == any_host;
      return port.port == later->port && shares_host;
    });
    if (earlier == later) continue;
    return Error::of(ErrorCode::invalid_argument, "expected every port of this machine once, found ",
                     std::string_view(earlier->host), ":", earlier->port, " and ", std::string_view(later->host), ":",
                     later->port, ": publish one of them at another port");
  }
  return {};
}

Result<void> check_port_is_free(std::string_view option, const PublishedPort& port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port.port);
  ::inet_pton(AF_INET, port.host.c_str(), &address.sin_addr);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;  // as the emulator does: connections that have ended keep no port
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool is_free = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                       ::listen(descriptor, 1) == 0;
  const int problem = errno;
  ::close(descriptor);
  if (is_free) return {};
  return Error::of(ErrorCode::invalid_argument, option, ": expected ", std::string_view(port.host), ":", port.port,
                   " to be free on this machine, found: ", std::strerror(problem));
}

Result<TapInterface> find_tap(const std::string& name) {
  ifreq asked = {};
  name.copy(asked.ifr_name, IFNAMSIZ - 1);
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool is_there = ::ioctl(descriptor, SIOCGIFMTU, &asked) == 0;
  const int mtu = asked.ifr_mtu;
  // By the socket, which is in this process's network: /sys may be another's.
  ethtool_drvinfo driver = {};
  driver.cmd = ETHTOOL_GDRVINFO;
  asked.ifr_data = reinterpret_cast<char*>(&driver);
  const bool is_tap = ::ioctl(descriptor, SIOCETHTOOL, &asked) == 0 && std::string_view(driver.bus_info) == "tap";
  ::close(descriptor);
  if (!is_there) {
    return Error::of(ErrorCode::not_found, "--tap: expected an interface '", std::string_view(name),
                     "' of this machine, found none: ip tuntap add dev ", std::string_view(name),
                     " mode tap, then ip link set ", std::string_view(name), " up");
  }
  if (!is_tap) {
    return Error::of(ErrorCode::invalid_argument, "--tap: expected a tap, found '", std::string_view(name),
                     "', an interface of another kind: ip tuntap add dev tap0 mode tap makes one");
  }
  unsigned flags = 0;
  std::ifstream("/sys/class/net/" + name + "/tun_flags") >> std::hex >> flags;
  return TapInterface{.mtu = mtu, .has_queues = (flags & IFF_MULTI_QUEUE) != 0};
}

std::vector<std::string> network_words(const NetworkRequest& request, const NetworkSettings& settings,
                                       const CardPlace& place) {
  constexpr std::uint64_t least_pairs = 2, most_pairs = 8;
  std::vector<std::string> words;
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  std::string card = ",netdev=network";
  if (request.tap.empty()) {
    add({"-netdev", user_network(request, settings)});
  } else {
    const Result<TapInterface> found = find_tap(request.tap);
    const TapInterface tap = found.ok() ? found.value() : TapInterface();
    std::string more;
    if (tap.has_queues) {  // such a one the emulator opens with two or more alone
      const std::uint64_t pairs = std::clamp(place.cpus, least_pairs, most_pairs);
      more = ",queues=" + std::to_string(pairs);
      card += ",mq=on";
      // One for each queue, for what is asked of the card, and for what it tells of itself.
      if (place.has_pci) card += ",vectors=" + std::to_string(2 * pairs + 2);
    }
    if (tap.mtu != TapInterface().mtu) card += ",host_mtu=" + std::to_string(tap.mtu);
    // The emulator would write the card's own headers into the file, in front of the frames.
    if (!request.capture.empty()) more += ",vnet_hdr=off";
    add({"-netdev",
         "tap,id=network,ifname=" + option_value(request.tap) + ",script=no,downscript=no,vhost=off" + more});
  }
  if (place.has_pci) {
    add({"-device", "virtio-net-pci" + card + ",romfile="});  // nobody boots from it
    add({"-device", "virtio-rng-pci"});
  } else {
    add({"-global", "virtio-mmio.force-legacy=false"});
    add({"-device", "virtio-net-device" + card, "-device", "virtio-rng-device"});
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
