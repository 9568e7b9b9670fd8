// How the text of an answer is taken apart: thoughts and calls as the model's template writes them, and words.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/calls/call_parser.h"

namespace ingot::protocol {

struct AnswerReading {
  std::shared_ptr<const calls::CallFormat> format = {};  // null: all of it is words
  bool begins_in_thought = false;                        // the prompt has opened one
  bool reads_calls = false;
  calls::KnownTools tools = {};  // of known_tools; null where no calls are read
};

// The text of one choice in pieces, as it comes.
class AnswerReader {
 public:
  explicit AnswerReader(const AnswerReading& reading);

  std::vector<calls::AnswerPiece> take(std::string_view text);
  // Nothing follows.
  std::vector<calls::AnswerPiece> finish();

  // Tools are called, and no call broke off.
  bool has_whole_calls() const;

 private:
  std::optional<calls::AnswerParser> parser_;
};

// Nine letters and digits, others for every call: Mistral's templates take no others. `choice` is whose call it is.
std::string call_id(std::string_view answer_id, std::int64_t choice, std::size_t call);

}  // namespace ingot::protocol
