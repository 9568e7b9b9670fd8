#include "os/network/socket/network_files.h"

#include "os/file/file_tree.h"
#include "os/network/address_text.h"
#include "os/network/socket/network_columns.h"

namespace ingot::os::network {

namespace {

constexpr std::uint32_t bits_before_v4 = 96;

void write_devices(TextWriter& text, const TextSubject& subject) {
  text.add(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
      "carrier compressed\n");
  stack_of(subject).drive([&](Stack& stack) {
    stack.internet().routes().for_each([&](const Interface& interface) {
      const LinkCounters& counters = interface.counters;
      add_right(text, 6, interface.link.properties().name);
      text.add(": ");
      add_right(text, 7, counters.received_bytes);
      text.add(' ');
      add_right(text, 7, counters.received);
      text.add("    0    0    0     0          0         0 ");
      add_right(text, 8, counters.sent_bytes);
      text.add(' ');
      add_right(text, 7, counters.sent);
      text.add("    0    0    0     0       0          0\n");
    });
  });
}

// Of a prefix only the bits that count, and those as a mask.
IpAddress first_bits(const IpAddress& address, std::uint32_t bits) {
  IpAddress::V6 bytes = address.bytes();
  for (std::uint32_t bit = bits; bit < 128; ++bit) bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80 >> bit % 8));
  return IpAddress(bytes);
}

void write_routes(TextWriter& text, const TextSubject& subject) {
  constexpr std::size_t width = 127;
  constexpr std::uint32_t up = 1, by_gateway = 2, to_one = 4;  // RTF_UP, RTF_GATEWAY, RTF_HOST
  add_left(text, width,
           [&] { text.add("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"); });
  text.add('\n');
  stack_of(subject).drive([&](Stack& stack) {
    stack.internet().routes().for_each([&](const Interface& interface) {
      for (const PrefixRoute& route : interface.routes) {
        if (!route.prefix.is_v4() || route.bits < bits_before_v4) continue;
        const std::uint32_t gateway_flag = route.gateway.is_unspecified() ? 0 : by_gateway;
        add_left(text, width, [&] {
          text.add(interface.link.properties().name, "\t");
          add_address(text, first_bits(route.prefix, route.bits), IpVersion::v4);
          text.add("\t");
          add_address(text, route.gateway, IpVersion::v4);
          text.add("\t");
          add_capitals(text, up | gateway_flag | (route.bits == 128 ? to_one : 0), 4);
          text.add("\t0\t0\t0\t");
          add_address(text, first_bits(IpAddress::v4(255, 255, 255, 255), route.bits), IpVersion::v4);
          text.add("\t0\t0\t0");
        });
        text.add('\n');
      }
    });
  });
}

std::uint32_t told_scope_of(const IpAddress& address) {
  constexpr std::uint32_t global = 0, of_host = 0x10, of_link = 0x20, of_site = 0x40;  // IPV6_ADDR_LOOPBACK, ...
  if (address.is_loopback()) return of_host;
  if (address.is_link_local()) return of_link;
  return address.bytes()[0] == 0xfe && address.bytes()[1] >= 0xc0 ? of_site : global;
}

void write_v6_addresses(TextWriter& text, const TextSubject& subject) {
  constexpr std::uint32_t deprecated = 0x20, tentative = 0x40, permanent = 0x80;  // IFA_F_DEPRECATED, ...
  std::uint32_t index = 0;
  stack_of(subject).drive([&](Stack& stack) {
    stack.internet().routes().for_each([&](const Interface& interface) {
      ++index;
      for (const OwnAddress& own : interface.addresses) {
        if (own.address.is_v4()) continue;
        for (const std::uint8_t byte : own.address.bytes()) text.add(HexadecimalDigits{byte, 2});
        std::uint32_t flags = own.valid_until == forever ? permanent : 0;
        if (own.state == OwnAddress::State::tentative) flags |= tentative;
        if (own.state == OwnAddress::State::deprecated) flags |= deprecated;
        for (const std::uint32_t number : {index, std::uint32_t{own.prefix_bits}, told_scope_of(own.address), flags}) {
          text.add(' ', HexadecimalDigits{number, 2});
        }
        text.add(' ');
        add_right(text, 8, interface.link.properties().name);
        text.add('\n');
      }
    });
  });
}

constexpr TextFileRow interface_rows[] = {
    {"dev", write_devices},
    {"if_inet6", write_v6_addresses},
    {"route", write_routes},
};

}  // namespace

std::span<const TextFileRow> interface_tables() { return interface_rows; }

void write_resolver(TextWriter& text, const TextSubject& subject) {
  stack_of(subject).drive([&](Stack& stack) {
    stack.internet().routes().for_each([&](const Interface& interface) {
      for (const NameServer& server : interface.name_servers) {
        text.add("nameserver ", AddressText(server.address).view());
        // Such an address is one only together with its link.
        const bool is_local = !server.address.is_v4() && server.address.is_link_local();
        text.add(is_local ? "%" : "", is_local ? interface.link.properties().name : "", "\n");
      }
    });
  });
}

Answer<void> NetworkFiles::add_to(FileTree& tree, MemoryDirectory& proc) {
  const TextSubject subject{&stack_, 0};
  const Reference<MemoryDirectory> net = TRY(add_directory(proc, "net"));
  for (const auto rows : {socket_tables(), interface_tables(), counter_tables()}) {
    TRY(add_text_files(*net, rows, subject));
  }
  if (tree.find(tree.root(), "/etc/resolv.conf", LastLink::kept).ok()) return {};
  const Answer<Reference<Node>> etc = tree.find(tree.root(), "/etc", LastLink::followed);
  Directory* const found = etc.ok() ? etc.value()->as_directory() : nullptr;
  MemoryDirectory* const directory = found != nullptr ? found->as_memory_directory() : nullptr;
  if (directory == nullptr) return {};  // an image whose /etc is no directory wants none
  const Reference<Node> resolver =
      TRY(make_text_file(Reference<Volume>(directory->volume()), write_resolver, subject, 0444));
  return directory->add("resolv.conf", NameStorage::borrowed, *resolver);
}

}  // namespace ingot::os::network
