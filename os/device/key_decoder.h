// KeyDecoder: from a keyboard's bytes to keys. The codes are those of set 1, into which a PC's controller translates.
#pragma once

#include <cstdint>
#include <optional>

namespace ingot::os {

// A key by its code; 0x100 is added to those behind the prefix 0xe0. Only those that mean no character have names.
enum class Key : std::uint16_t {
  escape = 0x01,
  left_control = 0x1d,
  left_shift = 0x2a,
  right_shift = 0x36,
  left_alt = 0x38,
  caps_lock = 0x3a,
  f1 = 0x3b,  // to f10 in order
  f11 = 0x57,
  f12 = 0x58,
  right_control = 0x11d,
  right_alt = 0x138,
  home = 0x147,
  up = 0x148,
  page_up = 0x149,
  left = 0x14b,
  right = 0x14d,
  end = 0x14f,
  down = 0x150,
  page_down = 0x151,
  insert = 0x152,
  remove = 0x153,
};

struct KeyEvent {
  Key key{};
  bool pressed = false;  // or released; a key that is held repeats
  char character = 0;    // of the US layout; 0: none. With control held, letters are the characters 1 to 26
  bool shift = false, control = false, alt = false;

  bool operator==(const KeyEvent&) const = default;
};

class KeyDecoder {
 public:
  // Nothing while a key's code is not complete, and for bytes that are no key.
  std::optional<KeyEvent> decode(std::uint8_t byte);

 private:
  void follow_modifier(Key key, bool pressed);
  char character_of(std::uint16_t code) const;

  bool extended_ = false;
  std::uint8_t skipped_ = 0;  // bytes still to come of the one key with a longer code
  bool left_shift_ = false, right_shift_ = false, left_control_ = false, right_control_ = false;
  bool left_alt_ = false, right_alt_ = false, caps_lock_ = false;
};

}  // namespace ingot::os
