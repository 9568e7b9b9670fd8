#include "os/network/internet/neighbours.h"

#include <bit>

#include "os/network/internet/solicitations.h"

namespace ingot::os::network {

Neighbours::Neighbours(Surroundings& around) : around_(around) {
  around.machine.fill_random(std::as_writable_bytes(std::span(&secret_, 1)));
}

Neighbours::~Neighbours() {
  around_.timers.clear(*this);
  while (Neighbour* const neighbour = by_age_.first()) remove(*neighbour);
}

// On the way of every packet: a multiplication by a secret is enough where there are 256 at most.
Neighbours::Bucket& Neighbours::bucket_of(const IpAddress& address) {
  const auto low = std::bit_cast<std::array<std::uint64_t, 2>>(address.bytes())[1];
  return buckets_[(low ^ secret_) * 0x9e3779b97f4a7c15u >> 58];
}

Neighbours::Neighbour* Neighbours::find(const Interface& interface, const IpAddress& address) {
  for (Neighbour& neighbour : bucket_of(address)) {
    if (neighbour.address == address && &neighbour.interface == &interface) return &neighbour;
  }
  return nullptr;
}

// Whom nobody has answered for goes first: that is whom strangers make us ask for.
bool Neighbours::make_room() {
  if (count_ < InternetSettings::neighbours) return true;
  for (const State state : {State::incomplete, State::stale}) {
    for (Neighbour& neighbour : by_age_) {
      if (neighbour.state != state) continue;
      remove(neighbour);
      return true;
    }
  }
  return false;
}

Neighbours::Neighbour* Neighbours::create(Interface& interface, const IpAddress& address) {
  if (!make_room()) return nullptr;
  Neighbour* const neighbour = around_.machine.blocks().make<Neighbour>(interface, address);
  if (neighbour == nullptr) return nullptr;
  bucket_of(address).push_back(*neighbour);
  by_age_.push_back(*neighbour);
  ++count_;
  return neighbour;
}

bool Neighbours::send(Interface& interface, const IpAddress& address, FrameKind kind, Outgoing& packet) {
  Neighbour* neighbour = find(interface, address);
  if (neighbour == nullptr) {
    neighbour = create(interface, address);
    if (neighbour == nullptr) {
      ++counters_.dropped;
      return true;
    }
    hold(*neighbour, kind, packet);
    ask(*neighbour, around_.machine.now());
    return true;
  }
  if (neighbour->state == State::incomplete) {
    hold(*neighbour, kind, packet);
    return true;
  }
  if (neighbour->state == State::stale) {
    neighbour->state = State::probing;
    neighbour->asks_left = InternetSettings::asks;
    ask(*neighbour, around_.machine.now());
  }
  return interface.send(neighbour->hardware, kind, packet);
}

void Neighbours::hold(Neighbour& neighbour, FrameKind kind, const Outgoing& packet) {
  if (neighbour.held_count == InternetSettings::held_packets) {
    ++counters_.dropped;
    drop_held(neighbour, *neighbour.held.first());
  }
  Held* const held = around_.machine.blocks().make<Held>(around_.machine.blocks());
  bool is_whole = held != nullptr;
  if (is_whole) {
    neighbour.held.push_back(*held);
    ++neighbour.held_count;
    held->packet = packet;
    held->kind = kind;
    held->packet.chain = &held->payload;
    held->packet.payload_begin = 0;
    if (packet.payload_bytes != 0) {
      packet.chain->visit(packet.payload_begin, packet.payload_bytes, [&](Block& block, std::span<std::byte> part) {
        is_whole = is_whole && held->payload.add(Reference<Block>(block), part).ok();
      });
    }
    if (!is_whole) drop_held(neighbour, *held);
  }
  ++(is_whole ? counters_.held : counters_.dropped);
}

void Neighbours::drop_held(Neighbour& neighbour, Held& held) {
  neighbour.held.remove(held);
  --neighbour.held_count;
  around_.machine.blocks().destroy(held);
}

void Neighbours::send_held(Neighbour& neighbour) {
  while (Held* const held = neighbour.held.first()) {
    if (!neighbour.interface.send(neighbour.hardware, held->kind, held->packet)) ++counters_.dropped;
    drop_held(neighbour, *held);
  }
}

void Neighbours::wait_until(Neighbour& neighbour, Nanoseconds time) {
  neighbour.next_step = time;
  if (time < this->time()) around_.timers.set(*this, time);
}

void Neighbours::ask(Neighbour& neighbour, Nanoseconds now) {
  --neighbour.asks_left;
  ++counters_.asked;
  ask_neighbour(neighbour.interface, neighbour.address,
                neighbour.state == State::incomplete ? nullptr : &neighbour.hardware);
  wait_until(neighbour, now + InternetSettings::ask_interval);
}

void Neighbours::heard(const Interface& interface, const IpAddress& address, const HardwareAddress& hardware,
                       Claim claim) {
  Neighbour* const neighbour = find(interface, address);
  // A hardware address that many share is nobody's.
  if (neighbour == nullptr || (hardware[0] & 1) != 0) return;
  ++counters_.heard;
  const bool is_new = neighbour->state == State::incomplete;
  const bool differs = !is_new && neighbour->hardware != hardware;
  if (differs && !claim.overrides) {
    if (neighbour->state == State::reachable) become_stale(*neighbour);
    return;
  }
  neighbour->hardware = hardware;
  if (claim.is_answer) {
    neighbour->state = State::reachable;
    wait_until(*neighbour, around_.machine.now() + InternetSettings::reachable_time);
  } else if (is_new || differs) {
    become_stale(*neighbour);
  }
  if (is_new) send_held(*neighbour);
}

void Neighbours::give_up(Neighbour& neighbour) {
  ++counters_.unreachable;
  // Taken out first: whoever is told may send there again.
  IntrusiveList<Held, HeldTag> lost;
  while (Held* const held = neighbour.held.pop_front()) lost.push_back(*held);
  neighbour.held_count = 0;
  remove(neighbour);
  while (Held* const held = lost.pop_front()) {
    around_.events.unreachable(held->packet);
    around_.machine.blocks().destroy(*held);
  }
}

void Neighbours::remove(Neighbour& neighbour) {
  while (Held* const held = neighbour.held.first()) {
    ++counters_.dropped;
    drop_held(neighbour, *held);
  }
  bucket_of(neighbour.address).remove(neighbour);
  by_age_.remove(neighbour);
  --count_;
  around_.machine.blocks().destroy(neighbour);
}

void Neighbours::forget(const Interface& interface) {
  for (Neighbour* neighbour = by_age_.first(); neighbour != nullptr;) {
    Neighbour* const next = by_age_.after(*neighbour);
    if (&neighbour->interface == &interface) remove(*neighbour);
    neighbour = next;
  }
}

void Neighbours::expired(Nanoseconds now) {
  // Giving up tells others, who may change the list: it is done one at a time, and the walk begins anew.
  const auto find_lost = [&]() -> Neighbour* {
    for (Neighbour& neighbour : by_age_) {
      const bool is_asking = neighbour.state == State::incomplete || neighbour.state == State::probing;
      if (is_asking && neighbour.next_step <= now && neighbour.asks_left == 0) return &neighbour;
    }
    return nullptr;
  };
  while (Neighbour* const lost = find_lost()) give_up(*lost);
  for (Neighbour& neighbour : by_age_) {
    if (neighbour.next_step > now) {
      if (neighbour.next_step != forever) wait_until(neighbour, neighbour.next_step);
    } else if (neighbour.state == State::reachable) {
      become_stale(neighbour);
    } else {
      ask(neighbour, now);
    }
  }
}

}  // namespace ingot::os::network
