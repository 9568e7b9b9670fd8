#include "os/device/key_decoder.h"

#include <string_view>

namespace ingot::os {

namespace {

// From code 0 on, in the order of a keyboard's rows; '\0' where a key means no character.
constexpr std::string_view plain_keys{"\0\0331234567890-=\b\tqwertyuiop[]\n\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ", 0x3a};
constexpr std::string_view shifted_keys{"\0\033!@#$%^&*()_+\b\tQWERTYUIOP{}\n\0ASDFGHJKL:\"~\0|ZXCVBNM<>?\0*\0 ", 0x3a};
// The block of digits at the right, as if Num Lock were always on.
constexpr std::uint16_t first_keypad = 0x47;
constexpr std::string_view keypad_keys = "789-456+1230.";
constexpr std::uint16_t extended_flag = 0x100, keypad_enter = 0x11c, keypad_slash = 0x135;

constexpr bool is_letter(char character) { return character >= 'a' && character <= 'z'; }

}  // namespace

std::optional<KeyEvent> KeyDecoder::decode(std::uint8_t byte) {
  constexpr std::uint8_t extended_prefix = 0xe0, pause_prefix = 0xe1, released_flag = 0x80;
  if (skipped_ > 0) return --skipped_, std::nullopt;
  if (byte == pause_prefix) return skipped_ = 2, std::nullopt;  // Pause: e1 1d 45, and no release of its own
  if (byte == extended_prefix) return extended_ = true, std::nullopt;
  const bool extended = extended_;
  extended_ = false;
  const auto code = static_cast<std::uint16_t>((byte & 0x7f) + (extended ? extended_flag : 0));
  if ((code & 0x7f) == 0 || (code & 0x7f) > 0x58) return std::nullopt;  // acknowledgements and errors
  // Keys that old programs did not know pretend a shift key beside themselves.
  if (extended && ((code & 0xff) == 0x2a || (code & 0xff) == 0x36)) return std::nullopt;
  const bool pressed = (byte & released_flag) == 0;
  const auto key = static_cast<Key>(code);
  follow_modifier(key, pressed);
  const bool shift = left_shift_ || right_shift_, control = left_control_ || right_control_;
  return KeyEvent{key, pressed, character_of(code), shift, control, left_alt_ || right_alt_};
}

void KeyDecoder::follow_modifier(Key key, bool pressed) {
  switch (key) {
    case Key::left_shift: left_shift_ = pressed; break;
    case Key::right_shift: right_shift_ = pressed; break;
    case Key::left_control: left_control_ = pressed; break;
    case Key::right_control: right_control_ = pressed; break;
    case Key::left_alt: left_alt_ = pressed; break;
    case Key::right_alt: right_alt_ = pressed; break;
    case Key::caps_lock: caps_lock_ = caps_lock_ != pressed; break;
    default: break;
  }
}

char KeyDecoder::character_of(std::uint16_t code) const {
  if (code == keypad_enter) return '\n';
  if (code == keypad_slash) return '/';
  if (code >= first_keypad && code < first_keypad + keypad_keys.size()) return keypad_keys[code - first_keypad];
  if (code >= plain_keys.size()) return 0;
  const char plain = plain_keys[code];
  if (is_letter(plain) && (left_control_ || right_control_)) return static_cast<char>(plain - 'a' + 1);
  const bool shift = left_shift_ || right_shift_;
  const bool upper = is_letter(plain) ? shift != caps_lock_ : shift;
  return upper ? shifted_keys[code] : plain;
}

}  // namespace ingot::os
