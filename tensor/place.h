// Place: whose memory a tensor lies in, the host's or that of a device, by its index.
#pragma once

#include <cstdint>

namespace ingot {

class Place {
 public:
  static const Place host;
  static constexpr Place device(int index) { return Place(index); }

  constexpr Place() = default;
  constexpr bool is_host() const { return device_ < 0; }
  // Precondition: not the host.
  constexpr int device_index() const { return device_; }
  constexpr bool operator==(const Place&) const = default;

 private:
  constexpr explicit Place(int index) : device_(static_cast<std::int8_t>(index)) {}
  std::int8_t device_ = -1;
};
inline constexpr Place Place::host{};

template <class Text>
constexpr void describe(Place place, Text& text) {
  if (place.is_host()) {
    text.append("the host");
  } else {
    text.append("device ");
    text.append(place.device_index());
  }
}

}  // namespace ingot
