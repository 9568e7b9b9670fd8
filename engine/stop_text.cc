#include "engine/stop_text.h"

#include <algorithm>
#include <utility>

namespace ingot {

StopStrings::StopStrings(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    stops_.push_back({text, std::vector<std::uint32_t>(text.size())});
    // Looking for a string in itself, from its second byte on, finds its borders; each needs those before it alone.
    std::vector<std::uint32_t>& borders = stops_.back().borders;
    for (std::size_t size = 2; size < text.size(); ++size) {
      borders[size] = static_cast<std::uint32_t>(matched_with(stops_.size() - 1, borders[size - 1], text[size - 1]));
    }
  }
}

std::size_t StopStrings::matched_with(std::size_t index, std::size_t matched, char last) const {
  const Stop& stop = stops_[index];
  while (matched > 0 && stop.text[matched] != last) matched = stop.borders[matched];
  return stop.text[matched] == last ? matched + 1 : 0;
}

StopText::StopText(std::shared_ptr<const StopStrings> stops) : stops_(std::move(stops)), matched_(stops_->count()) {}

std::string StopText::push(std::string_view text) {
  if (is_stopped()) return {};
  const std::string_view waited = std::exchange(waiting_, {});
  std::size_t taken = 0;
  while (taken < text.size() && !is_stopped()) {
    const char last = text[taken++];
    for (std::size_t index = 0; index < matched_.size(); ++index) {
      matched_[index] = stops_->matched_with(index, matched_[index], last);
      // The one that is complete first, of those the longest: so it does not matter how the text is cut into pieces.
      const bool is_complete = matched_[index] == stops_->text(index).size();
      if (is_complete && matched_[index] > stop_.size()) stop_ = stops_->text(index);
    }
  }
  if (const auto longest = std::ranges::max_element(matched_); longest != matched_.end() && !is_stopped()) {
    waiting_ = stops_->text(static_cast<std::size_t>(longest - matched_.begin())).substr(0, *longest);
  }
  const std::size_t shown = waited.size() + taken - (is_stopped() ? stop_.size() : waiting_.size());
  std::string both(waited.substr(0, shown));
  both += text.substr(0, shown - both.size());
  return both;
}

std::string StopText::finish() { return std::string(std::exchange(waiting_, {})); }

}  // namespace ingot
