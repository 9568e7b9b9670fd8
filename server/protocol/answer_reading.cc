#include "server/protocol/answer_reading.h"

#include "base/random.h"

namespace ingot::protocol {

using calls::AnswerPiece;

AnswerReader::AnswerReader(const AnswerReading& reading) {
  if (reading.format == nullptr) return;
  calls::KnownTools tools = reading.tools ? reading.tools : calls::known_tools(*reading.format, {});
  parser_.emplace(*reading.format, reading.begins_in_thought, reading.reads_calls, std::move(tools));
}

std::vector<AnswerPiece> AnswerReader::take(std::string_view text) {
  if (text.empty()) return {};
  if (parser_) return parser_->take(text);
  return {{.kind = AnswerPiece::Kind::content, .text = std::string(text)}};
}

std::vector<AnswerPiece> AnswerReader::finish() {
  if (parser_) return parser_->finish();
  return {};
}

bool AnswerReader::has_whole_calls() const {
  return parser_ && parser_->call_count() > 0 && parser_->complete_call_count() == parser_->call_count();
}

std::string call_id(std::string_view answer_id, std::int64_t choice, std::size_t call) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::uint64_t seed = RandomNumbers(static_cast<std::uint64_t>(choice)).next() ^ call;
  for (const char letter : answer_id) seed = RandomNumbers(seed ^ static_cast<unsigned char>(letter)).next();
  RandomNumbers numbers(seed);
  std::string id;
  while (id.size() < 9) id += letters[numbers.below(letters.size())];
  return id;
}

}  // namespace ingot::protocol
