// A file of tales: each is one line, and a line with the end marker follows it. A trainer turns the marker into its end
// token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ingot {

inline constexpr std::string_view tale_end_marker = "<|end|>";

void append_tale(std::string& corpus, std::string_view tale);

// The texts before, between and behind the markers, without the space around them; empty ones are left out. The corpus
// must outlive it.
class TaleSplitter {
 public:
  explicit TaleSplitter(std::string_view corpus) : rest_(corpus) {}
  std::optional<std::string_view> next();
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace ingot
