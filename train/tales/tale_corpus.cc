#include "train/tales/tale_corpus.h"

#include <algorithm>

namespace ingot {

void append_tale(std::string& corpus, std::string_view tale) {
  corpus.append(tale).append("\n").append(tale_end_marker).append("\n");
}

std::optional<std::string_view> TaleSplitter::next() {
  constexpr std::string_view spaces = " \t\r\n";
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find(tale_end_marker), rest_.size());
    std::string_view tale = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + tale_end_marker.size(), rest_.size()));
    const std::size_t begin = tale.find_first_not_of(spaces);
    if (begin != std::string_view::npos) return tale.substr(begin, tale.find_last_not_of(spaces) + 1 - begin);
  }
  return std::nullopt;
}

}  // namespace ingot
