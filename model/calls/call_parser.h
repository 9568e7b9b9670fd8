// An answer, taken apart while it comes: content, thoughts and calls. Bytes may come in any pieces; text that might
// become a mark waits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls/known_tool.h"

namespace ingot::calls {

struct AnswerPiece {
  enum class Kind : std::uint8_t {
    content,
    reasoning,
    call_begin,      // text: the name
    call_arguments,  // text: more of a JSON object, whatever the model's own spelling is
    call_end,        // the object is complete
  };
  Kind kind;
  std::string text;
  std::size_t call = 0;  // the calls of an answer are counted from 0

  bool operator==(const AnswerPiece&) const = default;
};

// What is no call after all is told as content, marks included: nothing is lost but white space around marks. A call
// that was begun and breaks off has no call_end; what goes on behind it is content, and where the answer ends in it,
// the mark or value that is not complete is told to nobody.
class AnswerParser {
 public:
  // `begins_in_thought`: the prompt has opened one (CallFormat::opens_thought). With the tools at hand, arguments that
  // are texts are told from others that look the same. They are those of known_tools, for the same format.
  AnswerParser(const CallFormat& format, bool begins_in_thought, bool reads_calls, KnownTools tools);
  // For one answer alone.
  AnswerParser(const CallFormat& format, bool begins_in_thought, bool reads_calls, std::span<const Tool> tools = {})
      : AnswerParser(format, begins_in_thought, reads_calls, known_tools(format, tools)) {}
  AnswerParser(AnswerParser&&) noexcept;
  AnswerParser& operator=(AnswerParser&&) noexcept;
  ~AnswerParser();

  std::vector<AnswerPiece> take(std::string_view text);
  // Nothing follows.
  std::vector<AnswerPiece> finish();

  // Calls that were begun, and those that were ended.
  std::size_t call_count() const;
  std::size_t complete_call_count() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::calls
