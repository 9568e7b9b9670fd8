// Reassembly: packets that come in pieces, within bounds of number, memory and time. Where pieces overlap, somebody
// tries to show different packets to different readers: all of such a packet is dropped (RFC 5722, here for both
// versions).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/intrusive_list.h"
#include "os/network/internet/surroundings.h"

namespace ingot::os::network {

struct FragmentInfo {
  std::uint32_t identification = 0, offset = 0;  // offset in bytes
  bool more = false;
  Protocol next = Protocol::nothing;  // what the whole carries, as this piece says
};

class Reassembly final : NetworkTimer {
 public:
  explicit Reassembly(Surroundings& around) : around_(around) {}
  ~Reassembly();

  // The piece is taken. True: with it the packet is whole; it stands in `bytes`, and the arrival's protocol says what
  // it carries. `header` is IP's.
  bool add(Arrival& arrival, const FragmentInfo& info, std::span<const std::byte> header, ByteChain& bytes,
           Nanoseconds now);
  std::uint64_t held_bytes() const { return held_bytes_; }
  std::size_t count() const { return count_; }

 private:
  static constexpr std::uint32_t unknown = ~0u;
  struct Piece : ListLink<struct PieceTag> {
    Piece(std::uint32_t place, ByteChain&& chain) : begin(place), bytes(std::move(chain)) {}
    std::uint32_t begin;
    ByteChain bytes;
    std::uint32_t end() const { return begin + static_cast<std::uint32_t>(bytes.bytes()); }
    std::uint64_t cost() const { return sizeof(Piece) + bytes.held_bytes(); }
  };
  struct Incomplete : ListLink<struct IncompleteTag> {
    Arrival arrival;
    std::uint32_t identification = 0;
    std::uint32_t total = unknown, present = 0;
    bool is_spoiled = false;  // it overlapped: the rest of it is dropped until its time is over
    Protocol next = Protocol::nothing;
    Nanoseconds until;
    std::array<std::byte, 60> header;
    std::uint8_t header_bytes = 0;  // 0: the first piece has not come
    IntrusiveList<Piece, PieceTag> pieces;
  };

  void expired(Nanoseconds now) override;
  Incomplete* find(const Arrival& arrival, std::uint32_t identification);
  Incomplete* create(const Arrival& arrival, std::uint32_t identification, Nanoseconds now);
  // False: it is spoiled now.
  bool insert(Incomplete& packet, std::uint32_t begin, bool more, ByteChain& bytes);
  void spoil(Incomplete& packet);
  void drop_pieces(Incomplete& packet);
  void remove(Incomplete& packet);
  void set_timer();

  Surroundings& around_;
  ReassemblyCounters& counters_ = around_.counters.reassembly;
  IntrusiveList<Incomplete, IncompleteTag> packets_;  // the oldest first
  std::size_t count_ = 0;
  std::uint64_t held_bytes_ = 0;
};

}  // namespace ingot::os::network
