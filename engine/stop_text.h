// StopText: passes text on as it comes, up to the first of some stop strings to be complete. Nothing of a stop string
// is ever given out, also where it comes in pieces: what could be its beginning waits until it is clear that it is not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Stop strings with what it takes to look for them in one walk over a text (Knuth, Morris and Pratt): made once, for
// all that look for the same.
class StopStrings {
 public:
  // Empty strings stop nothing.
  explicit StopStrings(const std::vector<std::string>& texts);

  std::size_t count() const { return stops_.size(); }
  std::string_view text(std::size_t index) const { return stops_[index].text; }
  // How many bytes of one a text ends with, where it ended with `matched` of them before its last byte. Precondition:
  // those were not all.
  std::size_t matched_with(std::size_t index, std::size_t matched, char last) const;

 private:
  struct Stop {
    std::string text;
    std::vector<std::uint32_t> borders;  // of its first bytes, by how many: the most of them that they end with again
  };
  std::vector<Stop> stops_;
};

class StopText {
 public:
  explicit StopText(std::shared_ptr<const StopStrings> stops);

  // What can be shown, now that this text has come. Nothing any more after a stop.
  std::string push(std::string_view text);
  bool is_stopped() const { return !stop_.empty(); }
  // The one that came; empty before.
  std::string_view stop() const { return stop_; }
  // What waited, at the end of the text.
  std::string finish();

 private:
  std::shared_ptr<const StopStrings> stops_;
  std::vector<std::size_t> matched_;  // how many bytes of each the text ends with
  std::string_view waiting_;          // the beginning of a stop string, as that has it
  std::string_view stop_;
};

}  // namespace ingot
