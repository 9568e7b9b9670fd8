#include "os/network/internet/routes.h"

#include <algorithm>
#include <bit>

namespace ingot::os::network {

namespace {

unsigned scope_of(const IpAddress& address) {
  if (address.is_multicast() && !address.is_v4()) return address.bytes()[1] & 0xf;
  return address.is_link_local() || address.is_loopback() ? 2 : 14;
}

unsigned common_bits(const IpAddress& left, const IpAddress& right) {
  for (unsigned i = 0; i < 16; ++i) {
    const auto differs = static_cast<std::uint8_t>(left.bytes()[i] ^ right.bytes()[i]);
    if (differs != 0) return i * 8 + static_cast<unsigned>(std::countl_zero(differs));
  }
  return 128;
}

// RFC 6724 5, the rules 2 (scope), 3 (not deprecated) and 8 (longest prefix); rule 1 is the loop's.
bool is_better_source(const OwnAddress& left, const OwnAddress& right, const IpAddress& to) {
  const unsigned left_scope = scope_of(left.address), right_scope = scope_of(right.address);
  if (left_scope != right_scope) {
    return left_scope < right_scope ? left_scope >= scope_of(to) : right_scope < scope_of(to);
  }
  const bool left_is_old = left.state == OwnAddress::State::deprecated;
  const bool right_is_old = right.state == OwnAddress::State::deprecated;
  if (left_is_old != right_is_old) return right_is_old;
  return common_bits(left.address, to) > common_bits(right.address, to);
}

}  // namespace

Interface* Routes::add(Link& link) {
  for (std::optional<Interface>& interface : interfaces_) {
    if (!interface) return &interface.emplace(link);
  }
  return nullptr;
}

Interface* Routes::find(const Link* link) {
  for (std::optional<Interface>& interface : interfaces_) {
    if (interface && &interface->link == link) return &*interface;
  }
  return nullptr;
}

const Interface* Routes::owner_of(const IpAddress& address) const {
  for (const std::optional<Interface>& interface : interfaces_) {
    if (!interface) continue;
    const OwnAddress* const own = interface->find(address);
    if (own != nullptr && own->is_usable()) return &*interface;
  }
  return nullptr;
}

bool Routes::is_settled(const IpAddress& address) const {
  const Interface* const owner = owner_of(address);
  return address.is_loopback() || (owner != nullptr && owner->find(address)->state != OwnAddress::State::tentative);
}

bool Routes::is_shared(const Interface& interface, const IpAddress& address) const {
  if (address.is_limited_broadcast() || address == IpAddress::v4(224, 0, 0, 1) || address == all_nodes) return true;
  return interface.addresses.find_if([&](const OwnAddress& own) {
    return own.is_broadcast(address) || (!own.address.is_v4() && solicited_node(own.address) == address);
  }) != nullptr;
}

bool Routes::is_ours(const IpAddress& address) const {
  if (is_own(address)) return true;
  return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const std::optional<Interface>& interface) {
    return interface && is_shared(*interface, address);
  });
}

const OwnAddress* Routes::source_for(const Interface& interface, const IpAddress& to) {
  const OwnAddress* best = nullptr;
  for (const OwnAddress& own : interface.addresses) {
    if (!own.is_usable() || own.address.version() != to.version()) continue;
    if (best == nullptr || is_better_source(own, *best, to)) best = &own;
  }
  return best;
}

const Interface* Routes::interface_for_many(const IpAddress& to, const IpAddress& from) const {
  if (!from.is_unspecified()) return from.is_loopback() ? nullptr : owner_of(from);
  for (std::size_t i = 1; i < interfaces_.size(); ++i) {
    if (interfaces_[i] && source_for(*interfaces_[i], to) != nullptr) return &*interfaces_[i];
  }
  return nullptr;
}

Routes::Way Routes::best_way(const IpAddress& to, const IpAddress& from) const {
  const Interface* const wanted = from.is_unspecified() ? nullptr : owner_of(from);
  Way best;
  for (std::size_t i = 1; i < interfaces_.size(); ++i) {
    if (!interfaces_[i]) continue;
    const Interface& interface = *interfaces_[i];
    for (const PrefixRoute& route : interface.routes) {
      if (!to.starts_with(route.prefix, route.bits) || route.prefix.is_v4() != to.is_v4()) continue;
      const bool is_better = best.route == nullptr || route.bits > best.route->bits ||
                             (route.bits == best.route->bits && &interface == wanted && best.interface != wanted);
      if (is_better) best = {&interface, &route};
    }
  }
  return best;
}

Answer<Route> Routes::route_by(const Interface& interface, const IpAddress& to, const IpAddress& from,
                               const IpAddress& next_hop) const {
  const OwnAddress* const own = from.is_unspecified() ? source_for(interface, to) : nullptr;
  if (from.is_unspecified() && own == nullptr) return Errno::enetunreach;
  std::uint16_t mtu = interface.mtu(to.version());
  const Path* const path = paths_.find_if([&](const Path& known) { return known.to == to; });
  if (path != nullptr) mtu = std::min(mtu, path->mtu);
  const auto is_everybody = [&](const OwnAddress& one) { return one.is_broadcast(to); };
  const bool to_many = to.is_multicast() || to.is_limited_broadcast() ||
                       (to.is_v4() && interface.addresses.find_if(is_everybody) != nullptr);
  return Route{&interface.link, own == nullptr ? from : own->address, next_hop, mtu, version_, to_many};
}

Answer<Route> Routes::find(const IpAddress& to, const IpAddress& from) const {
  if (to.is_unspecified()) return Errno::enetunreach;
  const bool is_bound = !from.is_unspecified();
  if (is_bound && (!is_own(from) || from.is_v4() != to.is_v4())) return Errno::eaddrnotavail;
  if (is_own(to)) return route_by(*interfaces_[0], to, is_bound ? from : to, to);
  if (from.is_loopback()) return Errno::enetunreach;
  if (to.is_multicast() || to.is_limited_broadcast()) {
    const Interface* const interface = interface_for_many(to, from);
    if (interface == nullptr) return Errno::enetunreach;
    return route_by(*interface, to, from, to);
  }
  const Way way = best_way(to, from);
  if (way.route == nullptr) return Errno::enetunreach;
  return route_by(*way.interface, to, from, way.route->gateway.is_unspecified() ? to : way.route->gateway);
}

bool Routes::path_shrank(const IpAddress& to, std::uint16_t mtu, Nanoseconds now) {
  const Answer<Route> route = find(to, IpAddress());
  const std::uint16_t least = to.is_v4() ? InternetSettings::least_v4_path : InternetSettings::least_v6_path;
  mtu = std::max(mtu, least);
  if (!route.ok() || route.value().mtu <= mtu) return false;
  const auto is_it = [&](const Path& path) { return path.to == to; };
  Path* path = paths_.find_if(is_it);
  if (path == nullptr) {
    // The oldest goes: they all live equally long.
    if (paths_.is_full()) {
      const IpAddress oldest = std::min_element(paths_.begin(), paths_.end(), [](const Path& left, const Path& right) {
                                 return left.until < right.until;
                               })->to;
      paths_.remove_if([&](const Path& known) { return known.to == oldest; });
    }
    paths_.push_back({to, mtu, now});
    path = paths_.end() - 1;
  }
  path->mtu = mtu;
  path->until = now + InternetSettings::path_age;
  ++version_;
  if (!is_set()) timers_.set(*this, path->until);
  return true;
}

void Routes::expired(Nanoseconds now) {
  if (paths_.remove_if([&](const Path& path) { return path.until <= now; })) ++version_;
  for (const Path& path : paths_) {
    if (path.until < time()) timers_.set(*this, path.until);
  }
}

}  // namespace ingot::os::network
