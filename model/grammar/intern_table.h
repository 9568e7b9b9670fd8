// Numbers for things that are equal: a hash table of numbers alone, whose things are somewhere else.
#pragma once

#include <cstdint>
#include <vector>

namespace ingot::grammar {

class InternTable {
 public:
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  // The number under which an equal thing was added, or none. `is_equal` is asked about numbers.
  template <class IsEqual>
  std::uint32_t find(std::uint64_t hash, IsEqual is_equal) const {
    if (slots_.empty()) return none;
    for (std::size_t slot = hash & (slots_.size() - 1); slots_[slot].number != none;
         slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot].hash == static_cast<std::uint32_t>(hash >> 32) && is_equal(slots_[slot].number)) {
        return slots_[slot].number;
      }
    }
    return none;
  }

  // `hash_of` gives the hashes of those that are there: they move when the table grows.
  template <class HashOf>
  void add(std::uint64_t hash, std::uint32_t number, HashOf hash_of) {
    if (2 * (count_ + 1) > slots_.size()) {
      const std::vector<Slot> before = std::move(slots_);
      slots_.assign(before.empty() ? 64 : 2 * before.size(), {});
      for (const Slot& slot : before) {
        if (slot.number != none) place(hash_of(slot.number), slot.number);
      }
    }
    place(hash, number);
    ++count_;
  }

  std::size_t size_in_bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = none;
  };

  void place(std::uint64_t hash, std::uint32_t number) {
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].number != none) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {static_cast<std::uint32_t>(hash >> 32), number};
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

// Good enough to spread numbers that count up; whoever chooses a grammar chooses no numbers of frames.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace ingot::grammar
