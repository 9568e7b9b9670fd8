#include "os/network/socket/interface_control.h"

#include <algorithm>

#include "os/file/control_caller.h"
#include "os/network/socket/internet_address.h"

namespace ingot::os::network {

namespace {

namespace request {
constexpr std::uint32_t name = 0x8910, list = 0x8912, flags = 0x8913, address = 0x8915;      // SIOCGIFNAME, ...
constexpr std::uint32_t broadcast = 0x8919, mask = 0x891b, mtu = 0x8921, hardware = 0x8927;  // SIOCGIFBRDADDR, ...
constexpr std::uint32_t index = 0x8933, queue_bytes = 0x8942, driver = 0x8946;  // SIOCGIFINDEX, ..., SIOCETHTOOL
}  // namespace request

constexpr std::size_t name_bytes = 16;

// struct ifreq: a name, and what is asked for.
struct InterfaceRequest {
  std::array<char, name_bytes> name;
  std::array<std::byte, 24> answer;

  std::string_view text() const {
    return {name.data(), static_cast<std::size_t>(std::find(name.begin(), name.end(), '\0') - name.begin())};
  }
  void set_name(std::string_view text) {
    name.fill('\0');
    std::copy_n(text.begin(), std::min(text.size(), name_bytes - 1), name.begin());
  }
  template <class Value>
  void set(const Value& value) {
    answer.fill(std::byte{0});
    __builtin_memcpy(answer.data(), &value, sizeof value);
  }
  void set_address(const IpAddress& address) {
    SocketAddress spelled;
    write_endpoint({address, 0}, socket_family::internet, spelled);
    answer.fill(std::byte{0});
    __builtin_memcpy(answer.data(), spelled.bytes.data(), spelled.size);
  }
};
static_assert(sizeof(InterfaceRequest) == 40);

// struct ifconf.
struct InterfaceList {
  std::int32_t bytes, padding;
  std::uint64_t place;
};

constexpr std::uint8_t mapped_bits = 96;

const OwnAddress* first_v4(const Interface& interface) {
  for (const OwnAddress& own : interface.addresses) {
    if (own.address.is_v4() && own.is_usable()) return &own;
  }
  return nullptr;
}

// The address with its bits behind the prefix set, or those before it set and nothing behind.
IpAddress with_bits(const OwnAddress& own, bool before, bool behind) {
  IpAddress::V4 bytes = own.address.as_v4();
  for (unsigned bit = 0; bit < 32; ++bit) {
    const bool in_prefix = bit + mapped_bits < own.prefix_bits;
    const auto place = static_cast<std::uint8_t>(0x80 >> bit % 8);
    if (in_prefix && before) bytes[bit / 8] |= place;
    if (!in_prefix && behind) bytes[bit / 8] |= place;
    if (!in_prefix && !behind) bytes[bit / 8] &= static_cast<std::uint8_t>(~place);
  }
  return IpAddress(bytes);
}

std::uint16_t flags_of(const Interface& interface) {
  constexpr std::uint16_t up = 1, broadcast = 2, loopback = 8, running = 0x40, multicast = 0x1000;  // IFF_UP, ...
  std::uint16_t flags = interface.is_loop() ? loopback : broadcast | multicast;
  if (interface.link.is_up()) flags |= up | running;
  return flags;
}

// struct sockaddr of ARPHRD_ETHER, or ARPHRD_LOOPBACK.
void set_hardware(const Interface& interface, InterfaceRequest& to) {
  const std::uint16_t kind = interface.is_loop() ? 772 : 1;
  to.set(kind);
  const HardwareAddress& address = interface.hardware();
  if (!interface.is_loop()) __builtin_memcpy(to.answer.data() + sizeof kind, address.data(), address.size());
}

Answer<void> answer(const Interface& interface, std::int32_t number, std::uint32_t asked, InterfaceRequest& to) {
  const OwnAddress* const own = first_v4(interface);
  switch (asked) {
    case request::name: to.set_name(interface.link.properties().name); return {};
    case request::flags: to.set(flags_of(interface)); return {};
    case request::mtu: to.set(std::int32_t{interface.mtu(IpVersion::v4)}); return {};
    case request::index: to.set(number); return {};
    case request::queue_bytes: to.set(std::int32_t{0}); return {};
    case request::hardware: set_hardware(interface, to); return {};
    case request::driver: return Errno::eopnotsupp;
    default: break;
  }
  if (own == nullptr) return Errno::eaddrnotavail;
  if (asked == request::address) to.set_address(own->address);
  if (asked == request::mask)
    to.set_address(with_bits({.address = IpAddress::v4(0, 0, 0, 0), .prefix_bits = own->prefix_bits}, true, false));
  if (asked == request::broadcast) to.set_address(with_bits(*own, false, true));
  return {};
}

Answer<void> tell_list(SharedStack& shared, std::uint64_t argument, TransferMemory& memory) {
  InterfaceList list = TRY(memory.read<InterfaceList>(argument));
  if (list.bytes < 0) return Errno::einval;
  std::array<InterfaceRequest, InternetSettings::links + 1> rows;
  std::size_t count = 0;
  shared.with([&](Stack& stack, Nanoseconds) {
    stack.internet().routes().for_each([&](const Interface& interface) {
      const OwnAddress* const own = first_v4(interface);
      if (own == nullptr || count == rows.size()) return;
      rows[count].set_name(interface.link.properties().name);
      rows[count++].set_address(own->address);
    });
  });
  // Without a place only the length is told.
  if (list.place != 0) {
    count = std::min(count, static_cast<std::size_t>(list.bytes) / sizeof(InterfaceRequest));
    for (std::size_t i = 0; i < count; ++i) TRY(memory.write(list.place + i * sizeof rows[i], rows[i]));
  }
  list.bytes = static_cast<std::int32_t>(count * sizeof(InterfaceRequest));
  return memory.write(argument, list);
}

bool is_known(std::uint32_t asked) {
  using namespace request;
  constexpr std::uint32_t all[] = {name, flags, address, broadcast, mask, mtu, hardware, index, queue_bytes, driver};
  return std::find(std::begin(all), std::end(all), asked) != std::end(all);
}

}  // namespace

Answer<std::int64_t> control_interfaces(SharedStack& shared, std::uint32_t asked, std::uint64_t argument,
                                        ControlCaller& caller) {
  TransferMemory& memory = caller.memory();
  if (asked == request::list) {
    TRY(tell_list(shared, argument, memory));
    return std::int64_t{0};
  }
  if (!is_known(asked)) return Errno::enotty;
  InterfaceRequest row = TRY(memory.read<InterfaceRequest>(argument));
  TRY(shared.with([&](Stack& stack, Nanoseconds) -> Answer<void> {
    std::int32_t wanted = 0, number = 0;
    __builtin_memcpy(&wanted, row.answer.data(), sizeof wanted);
    const Interface* found = nullptr;
    stack.internet().routes().for_each([&](const Interface& interface) {
      if (found != nullptr) return;
      ++number;
      const bool matches = asked == request::name ? number == wanted : interface.link.properties().name == row.text();
      if (matches) found = &interface;
    });
    return found != nullptr ? answer(*found, number, asked, row) : Errno::enodev;
  }));
  TRY(memory.write(argument, row));
  return std::int64_t{0};
}

}  // namespace ingot::os::network
