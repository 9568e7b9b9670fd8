// A value in a model's own spelling, rewritten as JSON byte by byte: JSON itself, Python's literals, and texts between
// marks of a template's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::calls {

// How a model writes values; without anything set: JSON.
struct LiteralSyntax {
  bool is_python = false;      // 'text', True, None, (1, 2), a comma behind the last one
  bool has_bare_keys = false;  // {key: 1}
  std::string quote = {};      // stands on both sides of a text, in which nothing is escaped; empty: none does
  // Around and inside of the outermost object: name(key=1).
  char open = '{', assign = ':', close = '}';

  bool operator==(const LiteralSyntax&) const = default;
};

class LiteralRewriter {
 public:
  enum class Status : std::uint8_t { reading, done, failed };

  explicit LiteralRewriter(LiteralSyntax syntax) : syntax_(std::move(syntax)) {}

  // Goes on by one byte and appends what is certain by now. False: the byte is not part of the value, which is done or
  // failed before it.
  bool take(char byte, std::string& json);
  // Nothing follows: numbers and words end here. Everything else that is open has failed.
  void finish(std::string& json);
  Status status() const { return status_; }
  // Between the quotes of a text.
  bool is_in_text() const {
    return status_ == Status::reading && (place_ == Place::text || place_ == Place::escape || place_ == Place::code);
  }

 private:
  enum class Place : std::uint8_t {
    value,
    key,
    bare_key,
    assign,
    next,  // behind a value
    text,
    escape,
    code,  // digits of \u and \x
    marked_text,
    opening_mark,
    number,
    word,
  };

  struct Level {
    char close;
    bool is_object;
  };

  bool fail();
  void end_value();
  bool begin_value(char byte, std::string& json);
  bool open_level(char close, bool is_object, std::string& json);
  bool close_level(char byte, std::string& json);
  bool begin_key(char byte, std::string& json);
  bool take_bare_key(char byte, std::string& json);
  bool take_assign(char byte, std::string& json);
  bool take_next(char byte, std::string& json);
  bool take_text(char byte, std::string& json);
  bool take_escape(char byte, std::string& json);
  bool take_code(char byte, std::string& json);
  bool take_marked_text(char byte, std::string& json);
  bool take_opening_mark(char byte, std::string& json);
  void end_word(std::string& json);
  void tell_comma(std::string& json);

  LiteralSyntax syntax_;
  Status status_ = Status::reading;
  Place place_ = Place::value;
  std::vector<Level> levels_;  // each came with a byte of its own: the answer's length is their bound
  bool is_first_ = true;       // of its level
  bool awaits_item_ = false;   // behind a comma
  bool is_key_ = false;        // the text that is being read
  char delimiter_ = '"';       // of that text
  std::string word_;           // a number, a word, digits of a code, or the part of a mark that has come
  std::size_t code_size_ = 0;  // digits that the code has
};

// Appends one byte of a text as it stands between the quotes of a JSON string.
void append_escaped(char byte, std::string& json);
void append_escaped(std::string_view text, std::string& json);

// Whether it is a number as JSON writes it.
bool is_json_number(std::string_view text);

}  // namespace ingot::calls
