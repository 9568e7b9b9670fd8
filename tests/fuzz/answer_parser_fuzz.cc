// Whatever a model writes, and wherever it is cut: the pieces are the same, calls are counted, and the arguments of a
// complete call are a JSON object. The first byte chooses the format, the second how the text begins, the third the
// cut.
#include <string>

#include "model/calls/test_templates.h"
#include "model/chat/value_json.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::calls;

namespace {

const std::vector<CallFormat>& formats() {
  static const std::vector<CallFormat> list = [] {
    std::vector<CallFormat> read = {CallFormat::generic("for the fuzzer")};
    for (const TestTemplate& row : test_templates) read.push_back(read_test_template(row));
    return read;
  }();
  return list;
}

const std::vector<Tool>& tools() {
  static const std::vector<Tool> list = {
      {.name = "f", .parameters = chat::value_from_json(R"({"properties": {"t": {"type": "string"}}})").value()}};
  return list;
}

void check(const std::vector<AnswerPiece>& pieces) {
  std::vector<std::string> arguments;
  for (const AnswerPiece& piece : pieces) {
    if (piece.kind == AnswerPiece::Kind::call_begin) {
      if (piece.call != arguments.size() || piece.text.empty()) __builtin_trap();
      arguments.emplace_back();
    }
    if (piece.kind == AnswerPiece::Kind::call_arguments) arguments.at(piece.call) += piece.text;
    if (piece.kind != AnswerPiece::Kind::call_end) continue;
    const auto value = chat::value_from_json(arguments.at(piece.call));
    // What is no UTF-8, or half of a surrogate pair, stays what it is.
    if (value.ok() && !value.value().is(chat::Kind::dictionary)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  const CallFormat& format = formats()[source.take<std::uint8_t>() % formats().size()];
  const bool begins_in_thought = source.take_between(0, 1) == 1;
  const std::uint8_t cut = source.take<std::uint8_t>();
  const std::string_view text(reinterpret_cast<const char*>(source.rest()), source.rest_size());
  const auto whole = take_apart(AnswerParser(format, begins_in_thought, true, tools()), {text});
  check(whole);
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < text.size(); at += 1 + cut % 7) parts.push_back(text.substr(at, 1 + cut % 7));
  if (shown(take_apart(AnswerParser(format, begins_in_thought, true, tools()), parts)) != shown(whole)) {
    __builtin_trap();
  }
  return 0;
}
