// StopText: passes text on as it comes, up to the first of some stop strings to be complete. Nothing of a stop string
// is ever given out, also where it comes in pieces: what could be its beginning waits until it is clear that it is not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

class StopText {
 public:
  // Empty strings stop nothing.
  explicit StopText(std::vector<std::string> stops);

  // What can be shown, now that this text has come. Nothing any more after a stop.
  std::string push(std::string_view text);
  bool is_stopped() const { return !stop_.empty(); }
  // The one that came; empty before.
  std::string_view stop() const { return stop_; }
  // What waited, at the end of the text.
  std::string finish();

 private:
  std::vector<std::string> stops_;
  std::string waiting_;
  std::string stop_;
};

}  // namespace ingot
