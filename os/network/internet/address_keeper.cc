#include "os/network/internet/address_keeper.h"

#include <algorithm>

#include "os/network/internet/solicitations.h"

namespace ingot::os::network {

using State = OwnAddress::State;

namespace {

// With its new time where it is there already, gone where that is over. Whether the list is another now.
template <class List, class Entry, class IsIt>
bool keep(List& list, const Entry& entry, const IsIt& is_it, Nanoseconds now) {
  Entry* const known = list.find_if(is_it);
  const bool lives = entry.until > now;
  if (known != nullptr && lives) known->until = entry.until;
  if (known != nullptr) return !lives && list.remove_if(is_it);
  return lives && list.push_back(entry);
}

}  // namespace

void AddressKeeper::begin_probing(OwnAddress& own, Nanoseconds now) {
  own.state = State::tentative;
  own.probes_left = own.address.is_v4() ? InternetSettings::v4_probes : InternetSettings::v6_probes;
  own.announcements_left = own.address.is_v4() ? 2 : 0;
  own.next_step = now;
}

bool AddressKeeper::add(Interface& interface, const OwnAddress& own, Nanoseconds now) {
  OwnAddress* kept = interface.find(own.address);
  bool is_changed = false;  // for who uses it: one that is only probed is nobody's yet
  if (kept == nullptr) {
    if (!interface.addresses.push_back(own)) return false;
    kept = interface.addresses.end() - 1;
    kept->is_optimistic = own.origin == Origin::fixed;
    if (interface.is_loop()) {
      kept->state = State::preferred;
    } else {
      begin_probing(*kept, now);
    }
    is_changed = kept->is_usable();
  } else {
    kept->preferred_until = own.preferred_until;
    kept->valid_until = own.valid_until;
    is_changed = kept->state == State::deprecated && own.preferred_until > now;
    if (is_changed) kept->state = State::preferred;
  }
  if (is_changed) around_.routes.changed(interface);
  wait(interface);
  return true;
}

void AddressKeeper::add(Interface& interface, const PrefixRoute& route, Nanoseconds now) {
  const auto is_it = [&](const PrefixRoute& known) {
    return known.prefix == route.prefix && known.bits == route.bits && known.gateway == route.gateway &&
           known.origin == route.origin;
  };
  const std::size_t told = interface.routes.count_if([&](const PrefixRoute& other) {
    return other.origin == Origin::router && other.gateway.is_unspecified() == route.gateway.is_unspecified();
  });
  const bool is_one_too_many = route.origin == Origin::router && told >= InternetSettings::default_routers;
  if (is_one_too_many && interface.routes.find_if(is_it) == nullptr) return;
  if (keep(interface.routes, route, is_it, now)) around_.routes.changed(interface);
  wait(interface);
}

void AddressKeeper::add(Interface& interface, const NameServer& server, Nanoseconds now) {
  const auto is_it = [&](const NameServer& known) { return known.address == server.address; };
  interface.is_changed |= keep(interface.name_servers, server, is_it, now);
  wait(interface);
}

void AddressKeeper::forget(Interface& interface, Origin origin, IpVersion version) {
  interface.forget(origin, version);
  around_.routes.changed(interface);
}

void AddressKeeper::link_came_up(Interface& interface, Nanoseconds now) {
  for (OwnAddress& own : interface.addresses) {
    own.is_optimistic = own.is_usable();  // streams go on where nothing has changed
    begin_probing(own, now);
  }
  around_.routes.changed(interface);
  wait(interface);
}

void AddressKeeper::conflict(Interface& interface, const IpAddress& address, Nanoseconds now) {
  OwnAddress* const own = interface.find(address);
  if (own == nullptr || interface.is_loop()) return;
  ++around_.counters.neighbours.conflicts;
  if (own->origin == Origin::router) interface.makes_none_until = now + InternetSettings::defend_interval;
  if (own->state == State::tentative) return lose(interface, address);
  if (!address.is_v4()) return;  // RFC 4862 probes once; later claims are answered by our advertisements
  const bool is_first = own->defended == Nanoseconds() || now - own->defended >= InternetSettings::defend_interval;
  if (is_first) {
    own->defended = now;
    announce_address(interface, address);
  } else if (own->origin != Origin::fixed) {
    lose(interface, address);
  }
}

void AddressKeeper::lose(Interface& interface, const IpAddress& address) {
  const OwnAddress lost = *interface.find(address);
  interface.addresses.remove_if([&](const OwnAddress& own) { return own.address == address; });
  if (lost.is_usable()) around_.routes.changed(interface);
  around_.events.address_taken(interface, lost);
}

void AddressKeeper::step(Interface& interface, OwnAddress& own, Nanoseconds now) {
  if (own.probes_left != 0) {
    --own.probes_left;
    probe_address(interface, own.address);
    const bool is_v4 = own.address.is_v4();
    own.next_step = now + (is_v4 ? InternetSettings::v4_probe_interval : InternetSettings::v6_probe_interval);
    return;
  }
  const bool is_ready = own.state == State::tentative;
  if (is_ready) own.state = own.preferred_until > now ? State::preferred : State::deprecated;
  own.next_step = forever;
  if (own.announcements_left != 0) {
    --own.announcements_left;
    announce_address(interface, own.address);
    if (own.announcements_left != 0) own.next_step = now + InternetSettings::announce_interval;
  }
  if (!is_ready) return;
  around_.routes.changed(interface);
  around_.events.address_ready(interface, own);
}

void AddressKeeper::expire(Interface& interface, Nanoseconds now) {
  bool is_changed = interface.addresses.remove_if([&](const OwnAddress& own) { return own.valid_until <= now; });
  is_changed |= interface.routes.remove_if([&](const PrefixRoute& route) { return route.until <= now; });
  is_changed |= interface.name_servers.remove_if([&](const NameServer& server) { return server.until <= now; });
  for (OwnAddress& own : interface.addresses) {
    if (own.state != State::preferred || own.preferred_until > now) continue;
    own.state = State::deprecated;
    is_changed = true;
  }
  if (is_changed) around_.routes.changed(interface);
}

void AddressKeeper::expired(Nanoseconds now) {
  around_.routes.for_each([&](Interface& interface) {
    expire(interface, now);
    for (std::size_t i = 0; i < interface.addresses.size(); ++i) {
      OwnAddress& own = interface.addresses.begin()[i];
      if (own.next_step <= now && interface.link.is_up()) step(interface, own, now);
    }
    wait(interface);
  });
}

void AddressKeeper::wait(const Interface& interface) {
  Nanoseconds first = forever;
  for (const OwnAddress& own : interface.addresses) {
    first = std::min({first, own.valid_until, own.state == State::preferred ? own.preferred_until : forever});
    if (interface.link.is_up()) first = std::min(first, own.next_step);
  }
  for (const PrefixRoute& route : interface.routes) first = std::min(first, route.until);
  for (const NameServer& server : interface.name_servers) first = std::min(first, server.until);
  if (first < time()) around_.timers.set(*this, first);
}

}  // namespace ingot::os::network
