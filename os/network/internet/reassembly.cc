#include "os/network/internet/reassembly.h"

#include <algorithm>
#include <cstring>

namespace ingot::os::network {

Reassembly::~Reassembly() {
  around_.timers.clear(*this);
  while (Incomplete* const packet = packets_.first()) remove(*packet);
}

Reassembly::Incomplete* Reassembly::find(const Arrival& arrival, std::uint32_t identification) {
  for (Incomplete& packet : packets_) {
    const Arrival& known = packet.arrival;
    if (packet.identification == identification && known.from == arrival.from && known.to == arrival.to &&
        known.protocol == arrival.protocol) {
      return &packet;
    }
  }
  return nullptr;
}

Reassembly::Incomplete* Reassembly::create(const Arrival& arrival, std::uint32_t identification, Nanoseconds now) {
  if (count_ == InternetSettings::incomplete_packets) {
    ++counters_.no_room;
    remove(*packets_.first());
  }
  Incomplete* const packet = around_.machine.blocks().make<Incomplete>();
  if (packet == nullptr) return nullptr;
  packet->arrival = arrival;
  packet->identification = identification;
  packet->until = now + InternetSettings::reassembly_time;
  packets_.push_back(*packet);
  ++count_;
  set_timer();
  return packet;
}

bool Reassembly::add(Arrival& arrival, const FragmentInfo& info, std::span<const std::byte> header, ByteChain& bytes,
                     Nanoseconds now) {
  ++counters_.fragments;
  const std::uint64_t end = info.offset + bytes.bytes();
  // Behind all but the last piece another begins, at a multiple of 8; and no packet is longer than its length can say.
  if (bytes.is_empty() || end > 0xffff || (info.more && bytes.bytes() % 8 != 0)) {
    ++counters_.bad;
    return false;
  }
  // IPv6's pieces may name different protocols: the first one's counts (RFC 8200 4.5).
  if (!arrival.from.is_v4()) arrival.protocol = Protocol::fragment;
  Incomplete* packet = find(arrival, info.identification);
  if (packet == nullptr) packet = create(arrival, info.identification, now);
  if (packet == nullptr || packet->is_spoiled) {
    bytes.clear();
    return false;
  }
  if (!insert(*packet, info.offset, info.more, bytes)) return false;
  if (info.offset == 0) {
    packet->next = info.next;
    packet->header_bytes = static_cast<std::uint8_t>(std::min(header.size(), packet->header.size()));
    std::memcpy(packet->header.data(), header.data(), packet->header_bytes);
  }
  if (packet->present != packet->total) return false;
  for (Piece& piece : packet->pieces) {
    held_bytes_ -= piece.cost();
    bytes.append(std::move(piece.bytes));
    held_bytes_ += piece.cost();
  }
  arrival.protocol = packet->next;
  ++counters_.whole;
  remove(*packet);
  return true;
}

bool Reassembly::insert(Incomplete& packet, std::uint32_t begin, bool more, ByteChain& bytes) {
  const auto end = static_cast<std::uint32_t>(begin + bytes.bytes());
  // Two ends, or bytes behind the end.
  const bool has_end = packet.total != unknown;
  const Piece* const furthest = packet.pieces.last();
  if ((!more && has_end && packet.total != end) || (has_end && end > packet.total) ||
      (!more && furthest != nullptr && furthest->end() > end)) {
    spoil(packet);
    return false;
  }
  Piece* before = packet.pieces.last();
  while (before != nullptr && before->begin > begin) before = packet.pieces.before(*before);
  Piece* const after = before == nullptr ? packet.pieces.first() : packet.pieces.after(*before);
  // The same piece twice is the network's doing.
  if (before != nullptr && before->begin == begin && before->end() == end) {
    bytes.clear();
    return false;
  }
  if ((before != nullptr && before->end() > begin) || (after != nullptr && after->begin < end)) {
    spoil(packet);
    return false;
  }
  const std::uint64_t cost = sizeof(Piece) + bytes.held_bytes();
  while (held_bytes_ + cost > InternetSettings::fragment_bytes) {
    ++counters_.no_room;
    Incomplete& oldest = *packets_.first();
    const bool is_itself = &oldest == &packet;
    remove(oldest);
    if (is_itself) return false;
  }
  Piece* const piece = around_.machine.blocks().make<Piece>(begin, std::move(bytes));
  if (piece == nullptr) return false;
  if (before == nullptr) {
    packet.pieces.push_front(*piece);
  } else {
    packet.pieces.insert_after(*before, *piece);
  }
  held_bytes_ += cost;
  packet.present += end - begin;
  if (!more) packet.total = end;
  return true;
}

void Reassembly::spoil(Incomplete& packet) {
  ++counters_.overlapping;
  packet.is_spoiled = true;
  packet.header_bytes = 0;
  drop_pieces(packet);
}

void Reassembly::drop_pieces(Incomplete& packet) {
  while (Piece* const piece = packet.pieces.pop_front()) {
    held_bytes_ -= piece->cost();
    around_.machine.blocks().destroy(*piece);
  }
}

void Reassembly::remove(Incomplete& packet) {
  drop_pieces(packet);
  packets_.remove(packet);
  --count_;
  around_.machine.blocks().destroy(packet);
}

void Reassembly::set_timer() {
  if (Incomplete* const oldest = packets_.first()) around_.timers.set(*this, oldest->until);
}

void Reassembly::expired(Nanoseconds now) {
  while (Incomplete* const oldest = packets_.first()) {
    if (oldest->until > now) break;
    if (!oldest->is_spoiled) ++counters_.expired;
    if (oldest->header_bytes != 0) {
      std::array<std::byte, 8> rest;
      const ByteChain& first = oldest->pieces.first()->bytes;
      const auto count = std::min<std::size_t>(first.bytes(), rest.size());
      first.copy_out(0, std::span(rest).first(count));
      around_.events.reassembly_expired(oldest->arrival, std::span(oldest->header).first(oldest->header_bytes),
                                        std::span(rest).first(count));
    }
    remove(*oldest);
  }
  set_timer();
}

}  // namespace ingot::os::network
