// Finds a token's id by its text: open addressing over texts that somebody else keeps.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace ingot {

class TokenMap {
 public:
  static constexpr std::int32_t absent = -1;

  // The texts must outlive the map. The id that the text has now: an earlier one stays.
  std::int32_t insert(std::string_view text, std::int32_t id) {
    if (count_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[position_of(text)];
    if (slot.id == absent) {
      slot = {text, id};
      ++count_;
    }
    return slot.id;
  }

  std::int32_t find(std::string_view text) const { return slots_[position_of(text)].id; }

 private:
  struct Slot {
    std::string_view text;
    std::int32_t id = absent;
  };

  std::size_t position_of(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t position = std::hash<std::string_view>{}(text)&mask;
    while (slots_[position].id != absent && slots_[position].text != text) position = (position + 1) & mask;
    return position;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id != absent) slots_[position_of(slot.text)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(16);
  std::size_t count_ = 0;
};

}  // namespace ingot
