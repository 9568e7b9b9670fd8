#include "engine/stop_text.h"

#include <algorithm>
#include <utility>

namespace ingot {

StopText::StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopText::push(std::string_view text) {
  if (is_stopped()) return {};
  waiting_ += text;
  // The one that is complete first, of those the longest: so it does not matter how the text is cut into pieces.
  std::size_t first_end = std::string::npos, first_begin = std::string::npos;
  for (const std::string& stop : stops_) {
    const std::size_t begin = waiting_.find(stop);
    if (begin == std::string::npos || begin + stop.size() > first_end) continue;
    first_begin = begin + stop.size() < first_end ? begin : std::min(first_begin, begin);
    first_end = begin + stop.size();
  }
  if (first_end != std::string::npos) {
    stop_ = waiting_.substr(first_begin, first_end - first_begin);
    waiting_.resize(first_begin);
    return std::exchange(waiting_, {});
  }
  // The longest end of the text that a stop string begins with.
  std::size_t kept = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t length = std::min(stop.size() - 1, waiting_.size()); length > kept; --length) {
      if (waiting_.ends_with(std::string_view(stop).substr(0, length))) kept = length;
    }
  }
  std::string shown = waiting_.substr(0, waiting_.size() - kept);
  waiting_.erase(0, shown.size());
  return shown;
}

std::string StopText::finish() { return std::exchange(waiting_, {}); }

}  // namespace ingot
