#include "os/network/socket/network_subsystem.h"

#include "base/image/grant_note.h"
#include "base/image/network_settings.h"
#include "os/boot/kernel.h"
#include "os/file/socket/socket_address.h"
#include "os/network/socket/kernel_network.h"
#include "os/network/time.h"
#include "os/process/launch.h"

namespace ingot::os {

namespace {

using network::Configuration;
using network::IpAddress;
using network::KernelNetwork;

constexpr std::string_view right = "network";
constexpr Nanoseconds longest_wait = network::seconds(5);
alignas(GrantNote) [[gnu::used, gnu::section(".note.ingot")]] constinit const GrantNote announced(right);

IpAddress address_of(const InternetAddress& written) {
  if (written.is_version_6()) return IpAddress(written.bytes);
  return IpAddress::v4(written.bytes[0], written.bytes[1], written.bytes[2], written.bytes[3]);
}

Result<void> add(const AddressSettings& settings, Configuration& to) {
  if (settings.source != AddressSettings::Source::fixed) return {};
  bool fits = to.addresses.push_back({address_of(settings.address), settings.prefix});
  fits = fits && (settings.gateway.count == 0 || to.gateways.push_back(address_of(settings.gateway)));
  for (const InternetAddress& server : settings.servers()) fits = fits && to.name_servers.push_back(address_of(server));
  if (fits) return {};
  return Error::of(ErrorCode::out_of_range, "expected room for the network's addresses, found too many of them");
}

Result<Configuration> configuration_of(const Manifest& manifest) {
  const NetworkSettings settings = TRY(network_settings_of(manifest));
  Configuration configuration;
  configuration.asks_dhcp = settings.version_4.source == AddressSettings::Source::automatic;
  configuration.asks_routers = settings.version_6.source == AddressSettings::Source::automatic;
  TRY(add(settings.version_4, configuration));
  TRY(add(settings.version_6, configuration));
  return configuration;
}

Result<void> offer(Kernel& kernel, KernelNetwork* maker) {
  if (kernel.socket_families.add(
          {socket_family::internet, right, maker, maker == nullptr ? nullptr : &maker->files()}) &&
      kernel.socket_families.add({socket_family::internet_six, right, maker})) {
    return {};
  }
  return Error::of(ErrorCode::out_of_range, "expected room for two families of sockets, found none");
}

// A program that is not granted it needs no network, only to be told that it has no right to one. A machine without a
// card has none: then the grant, which nothing offers, ends the boot.
Result<void> start(Kernel& kernel) {
  if (!kernel.boot_info.image()) return {};
  const Manifest manifest = TRY(manifest_of(kernel));
  if (!manifest.grants(right)) return offer(kernel, nullptr);
  if (kernel.links == nullptr) return {};
  const Configuration configuration = TRY(configuration_of(manifest));
  Owned<KernelNetwork> owned = TRY(make_owned<KernelNetwork>(kernel.memory->heap(), kernel));
  KernelNetwork& stack = *owned.release();  // links, sockets and its thread point at it from now on
  auto thread = TRY(make_owned<std::optional<KernelThread>>(kernel.memory->heap()));
  thread->emplace(TRY(spawn(kernel, "network", [](KernelNetwork& it) { it.run_timers(); }, stack)));
  static_cast<void>(thread.release());
  stack.begin();
  for (DrivenLink* link = kernel.links; link != nullptr; link = link->next) {
    const Answer<void> added = stack.add(*link, configuration);
    if (!added.ok()) kernel.log.warning("network: ", link->properties().name, ": ", name_of(added.error()));
  }
  TRY(offer(kernel, &stack));
  // A client asks at once: it must find the way that it will have, as on a Linux that was told `ip=dhcp`.
  if (!stack.await_addresses(kernel.now() + longest_wait)) {
    kernel.log.warning("network: expected all addresses within 5 seconds: the program begins without");
  }
  return {};
}

}  // namespace

constinit const Subsystem network_subsystem{"network", start};

}  // namespace ingot::os
