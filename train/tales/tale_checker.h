// Whether a text is a tale: every sentence has a form that may stand there, and keeps to what was told before it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "train/tales/grammar.h"

namespace ingot {

struct TaleFacts {
  std::string hero, trade, object, look, home;  // told by the opening
  std::string friend_animal, holder;
  std::string plot;
  int sentences = 0;
  bool got_object = false;  // the hero has it in the end
  // Every fact that was told, by its name in the grammar.
  std::vector<std::pair<std::string_view, std::string>> all;
};

struct TaleFault {
  int sentence = 0;  // from 1
  std::string sentence_text;
  std::string expected;
  std::string found;
};

// Where a slot's words stand in the text.
struct TaleMention {
  std::size_t begin;
  std::size_t length;
  const FormPiece* slot;
  bool first;
};

struct TaleReading {
  TaleFacts facts;  // as far as it was read
  std::vector<TaleMention> mentions;
  std::optional<TaleFault> fault;
};

// Space around the text is left aside.
TaleReading read_tale(std::string_view text);

// The same as a Result: "sentence 5: expected 'red' (the object's look), found 'blue' in 'So Mila ...'".
Result<TaleFacts> check_tale(std::string_view text);

// The text with one fact-bearing word exchanged for another of its class, anywhere but at its first mention.
struct CorruptTale {
  std::string text;
  std::string_view fact;
  std::string was;
  std::string became;
};
// Fails where the text is no tale.
Result<CorruptTale> corrupt_tale(std::string_view text, RandomNumbers& random);

}  // namespace ingot
