// Endless tales: the same ones from the same seed, everywhere.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "train/tales/grammar.h"

namespace ingot {

// About a tenth of all (hero, object, home) triples are held out of training, so that a prompt with one of them asks
// for something never seen. Which ones depends on the names alone.
enum class HeldOut : std::uint8_t { exclude, only, ignore };
bool is_held_out(std::string_view hero, std::string_view object, std::string_view home);

class TaleWriter {
 public:
  TaleWriter(std::uint64_t seed, HeldOut held_out) : random_(seed), held_out_(held_out) {}

  // One paragraph, without a line end.
  std::string next();
  // The first sentences of a tale, which name hero, home and wanted object: a prompt.
  std::string next_opening();

 private:
  TaleState draw_start();

  RandomNumbers random_;
  HeldOut held_out_;
};

// A prompt for a chosen hero ("Mila"), object ("kite") and home ("the old mill"); the rest is drawn.
Result<std::string> tale_opening(std::string_view hero, std::string_view object, std::string_view home,
                                 RandomNumbers& random);

}  // namespace ingot
