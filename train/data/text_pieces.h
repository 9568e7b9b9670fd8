// A text in pieces that are worked on one by one, so that memory does not grow with the text: its documents, and
// documents that are very long cut once more.
//
// Documents end at a separator, which is part of no piece, and at the end of the text. A long document is cut where a
// line begins with a letter and the line before does not end in white space: there every pre-tokenizer that GGUF names
// begins a new piece too (but superbpe's, whose pieces run over lines), so that no token changes. A document without
// such a place is cut after some line, or else between two characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ingot {

struct TextPiece {
  std::string_view text;  // empty for a document of nothing
  bool ends_document;
};

class TextPieces {
 public:
  static constexpr std::size_t usual_limit = std::size_t{1} << 20;

  // An empty separator separates nothing. Both texts must outlive this. Precondition: limit >= 8.
  TextPieces(std::string_view text, std::string_view separator, std::size_t limit = usual_limit)
      : text_(text), separator_(separator), limit_(limit) {}

  // Nothing at the end.
  std::optional<TextPiece> next();
  // How many bytes of the text have been given out.
  std::size_t position() const { return position_; }

 private:
  std::string_view text_, separator_;
  std::size_t limit_;
  std::size_t position_ = 0;
};

}  // namespace ingot
