// A text that knows which of its bytes came from messages. Only the template's own bytes may spell special tokens: what
// a user writes is text, even where it reads "<|im_end|>".
//
// Marks follow the bytes through whatever a template does with a text. Where an operation moves whole pieces (joining,
// cutting, stripping, replacing, filling in a format) they are exact; where it makes new bytes of old ones, a text with
// any mark becomes marked as a whole: rather the template's token as text than the user's text as a token.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::chat {

class Marks {
 public:
  struct Stretch {
    std::size_t begin, end;
    bool operator==(const Stretch&) const = default;
  };

  static Marks whole(std::size_t size);

  bool is_empty() const { return stretches_.empty(); }
  // In order, apart from one another.
  std::span<const Stretch> stretches() const& { return stretches_; }
  std::span<const Stretch> stretches() && = delete;  // they would be gone
  // Precondition: begins at or behind the last end. An empty stretch adds nothing.
  void add(Stretch stretch);
  // What lies within, counted from its begin.
  Marks within(Stretch part) const;

 private:
  std::vector<Stretch> stretches_;
};

struct MarkedText {
  std::string bytes;
  Marks marks = {};  // what came from messages

  // Bytes made of something that was marked, or not.
  static MarkedText made(std::string bytes, bool of_marked);

  bool is_marked() const { return !marks.is_empty(); }
  void append(std::string_view own) { bytes += own; }  // the template's
  void append(const MarkedText& text) { append_part(text, text.bytes); }
  // `part` points into the text's bytes.
  void append_part(const MarkedText& text, std::string_view part);
  MarkedText part(std::string_view inside) const;
};

}  // namespace ingot::chat
