#include "model/calls/format_reader.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "model/calls/call_parser.h"
#include "model/calls/marks.h"
#include "model/calls/unit_compare.h"
#include "model/chat/dictionary.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Value;

namespace {

// Pairs that templates mention without writing thoughts themselves.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> known_thought_marks = {{
    {"<think>", "</think>"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},
    {"[THINK]", "[/THINK]"},
    {"<thinking>", "</thinking>"},
    {"<|channel>thought", "<channel|>"},
}};

bool is_about_thought(std::string_view unit) {
  std::string lower(unit);
  std::ranges::transform(lower, lower.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
  });
  return unit.size() > 1 && (lower.find("think") != std::string::npos || lower.find("thought") != std::string::npos);
}

}  // namespace

CallFormat CallFormat::read(const chat::ChatTemplate& form, const TemplateTokens& tokens) {
  return FormatReader(form, tokens).read();
}

CallFormat FormatReader::read() {
  std::string reason = read_turn();
  if (reason.empty()) {
    read_thoughts();
    read_content_marks();
    reason = read_calls();
    if (reason.empty()) read_thought_beside_call();
    for (const auto& [begin, end] : known_thought_marks) {
      const bool is_mentioned = source_.find(begin) != std::string::npos && source_.find(end) != std::string::npos;
      if (!format_.thought_end_.empty() || !is_mentioned) continue;
      format_.thought_begin_ = begin;
      format_.thought_end_ = end;
      read_content_marks();
      reason = read_calls();
    }
  }
  if (reason.empty()) {
    check_texts();
    return std::move(format_);
  }
  CallFormat generic = CallFormat::generic(std::move(reason));
  format_.spelling_ = std::move(generic.spelling_);
  format_.generic_reason_ = std::move(generic.generic_reason_);
  format_.takes_arguments_as_text_ = format_.takes_calls_without_content_ = false;
  return std::move(format_);
}

std::string FormatReader::read_turn() {
  const auto prompt = probe_.prompt(std::nullopt);
  const auto answer = probe_.answer({.content = TemplateProbe::content});
  if (!prompt || !answer || answer->find(TemplateProbe::content) == std::string::npos) {
    return "the template does not write an answer";
  }
  plain_ = *answer;
  const std::string_view before = std::string_view(plain_).substr(0, plain_.find(TemplateProbe::content));
  turn_ = plain_.substr(0, common_begin(*prompt, plain_));
  // The prompt may say something else between the question and the turn's own mark.
  const std::size_t shared = common_end(*prompt, before);
  const auto last = units_of(before.substr(before.size() - shared));
  const bool has_mark = std::ranges::any_of(last, [](auto unit) { return unit.size() > 1 && !is_about_thought(unit); });
  if (has_mark) turn_ = before;
  // A mark of a thought may be in every answer and in the prompt too.
  const auto units = units_of(turn_);
  std::size_t size = 0;
  for (const std::string_view unit : units) {
    if (is_about_thought(unit)) break;
    size += unit.size();
  }
  turn_.resize(std::min(size, plain_.find(TemplateProbe::content)));
  const auto on = probe_.prompt(true);
  const auto off = probe_.prompt(false);
  format_.can_switch_thinking_ = on && off && *on != *off;
  format_.shows_tools_ = probe_.shows_tools();
  format_.shows_system_ = probe_.shows_system();
  format_.wants_turns_ = probe_.wants_turns();
  return "";
}

void FormatReader::read_thoughts() {
  for (const char* field : {"reasoning_content", "reasoning", "thinking"}) {
    const auto answer = probe_.answer({.content = TemplateProbe::content, .thought_field = field});
    if (!answer || !answer->starts_with(turn_)) continue;
    const std::size_t begin = answer->find(TemplateProbe::thought);
    const std::size_t content = answer->find(TemplateProbe::content);
    if (begin == std::string::npos || content == std::string::npos || content < begin) continue;
    const std::size_t end = begin + TemplateProbe::thought.size();
    std::string_view behind = std::string_view(*answer).substr(end, content - end);
    // The content's own mark, which an answer without a thought has too.
    const std::string_view before = std::string_view(plain_).substr(0, plain_.find(TemplateProbe::content));
    const std::string_view own = before.substr(std::min(before.size(), turn_.size()));
    if (!core_of(own).empty() && behind.size() > own.size() && behind.ends_with(own) && behind != own) {
      behind.remove_suffix(own.size());
    }
    format_.thought_field_ = field;
    format_.thought_begin_ = core_of(std::string_view(*answer).substr(turn_.size(), begin - turn_.size()));
    format_.thought_end_ = core_of(behind);
    return;
  }
}

// Some show thoughts only where a call follows.
void FormatReader::read_thought_beside_call() {
  if (!format_.thought_field_.empty()) return;
  const std::vector<ProbedCall> calls = {
      {TemplateProbe::first_name, TemplateProbe::first_id, TemplateProbe::arguments()}};
  for (const char* field : {"reasoning_content", "reasoning", "thinking"}) {
    ProbedMessage message = {.thought_field = field, .calls = calls};
    message.has_arguments_as_text = format_.takes_arguments_as_text_;
    if (!format_.takes_calls_without_content_) message.content = "";
    const auto answer = probe_.answer(message);
    if (!answer || !answer->starts_with(turn_)) continue;
    const std::size_t begin = answer->find(TemplateProbe::thought);
    if (begin == std::string::npos) continue;
    const std::size_t end = begin + TemplateProbe::thought.size();
    const std::size_t trigger = answer->find(format_.spelling_.trigger(), end);
    if (trigger == std::string::npos || trigger == end) continue;
    format_.thought_field_ = field;
    format_.thought_begin_ = core_of(std::string_view(*answer).substr(turn_.size(), begin - turn_.size()));
    format_.thought_end_ = core_of(std::string_view(*answer).substr(end, trigger - end));
    return;
  }
}

void FormatReader::read_content_marks() {
  const std::size_t content = plain_.find(TemplateProbe::content);
  std::string_view before = std::string_view(plain_).substr(turn_.size(), content - turn_.size());
  if (const std::string& mark = format_.thought_end_; !mark.empty()) {
    const std::size_t thought = before.rfind(mark);
    if (thought != std::string_view::npos) before.remove_prefix(thought + mark.size());
  }
  if (core_of(before).starts_with(format_.thought_begin_)) {
    before = core_of(before).substr(format_.thought_begin_.size());
  }
  format_.content_begin_ = core_of(before);
  format_.content_end_.clear();
  if (format_.content_begin_.empty()) return;
  const std::string_view behind = core_of(std::string_view(plain_).substr(content + TemplateProbe::content.size()));
  if (first_unit(behind).size() > 1) format_.content_end_ = first_unit(behind);
}

std::string FormatReader::own_part(const std::string& answer) const {
  std::string_view text = std::string_view(answer).substr(common_begin(turn_, answer));
  const std::size_t name = text.find(TemplateProbe::first_name);
  if (!format_.thought_end_.empty() && name != std::string_view::npos) {
    const std::size_t thought = text.substr(0, name).rfind(format_.thought_end_);
    if (thought != std::string_view::npos) text.remove_prefix(thought + format_.thought_end_.size());
  }
  // The end of the turn stands in every answer.
  const std::string_view plain_end =
      std::string_view(plain_).substr(plain_.find(TemplateProbe::content) + TemplateProbe::content.size());
  text.remove_prefix(white_space_before(text).size());
  text.remove_suffix(common_end(text, plain_end));
  const std::string_view mark = first_unit(core_of(plain_end));
  const std::size_t last = std::max(text.rfind(TemplateProbe::second_value), text.rfind(TemplateProbe::second_name));
  if (mark.size() > 1 && last != std::string_view::npos) text = text.substr(0, text.find(mark, last));
  return std::string(text);
}

std::optional<std::string> FormatReader::answer_with(const std::vector<ProbedCall>& calls) const {
  ProbedMessage message = {.calls = calls, .has_arguments_as_text = format_.takes_arguments_as_text_};
  if (!format_.takes_calls_without_content_) message.content = "";
  const auto answer = probe_.answer(message);
  if (!answer) return std::nullopt;
  return own_part(*answer);
}

std::string FormatReader::read_calls() {
  const ProbedCall first = {TemplateProbe::first_name, TemplateProbe::first_id, TemplateProbe::arguments()};
  const ProbedCall second = {TemplateProbe::second_name, TemplateProbe::second_id, TemplateProbe::arguments()};
  std::string reason = "the template does not write calls";
  for (const auto& [without_content, as_text] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
    format_.takes_calls_without_content_ = without_content;
    format_.takes_arguments_as_text_ = as_text;
    format_.spelling_ = {};
    const auto one = answer_with({first});
    if (!one || one->find(TemplateProbe::first_name) == std::string::npos ||
        one->find(TemplateProbe::second_value) == std::string::npos) {
      continue;
    }
    const std::size_t key = one->find(TemplateProbe::first_key);
    if (one->substr(0, key).find(TemplateProbe::first_name) != one->substr(0, key).rfind(TemplateProbe::first_name)) {
      reason = "the template writes the name of a call twice";
      continue;
    }
    const auto two = answer_with({first, second});
    reason = read_marks(*one, two ? *two : "");
    if (reason.empty()) reason = check(*one, two ? *two : "");
    if (reason.empty()) break;
  }
  return reason;
}

std::string FormatReader::read_marks(const std::string& one, const std::string& two) {
  CallSpelling& spelling = format_.spelling_;
  const auto alone = locate(one, 0, TemplateProbe::first_name, TemplateProbe::first_id);
  if (!alone) return "the template writes calls in a way that is not known";
  spelling.writes_several = two.find(TemplateProbe::second_name) != std::string::npos;
  if (!spelling.writes_several) {
    spelling.call_begin = one.substr(0, alone->begin);
    spelling.call_end = one.substr(alone->end);
    return "";
  }
  const auto first = locate(two, 0, TemplateProbe::first_name, TemplateProbe::first_id);
  const std::vector<CallPart> parts = spelling.parts;
  const auto second =
      first ? locate(two, first->end, TemplateProbe::second_name, TemplateProbe::second_id) : std::nullopt;
  if (!first || !second) return "the template writes two calls in a way that is not known";
  find_indices(parts, spelling.parts);
  const std::string_view text = two;
  const std::string_view before = text.substr(0, first->begin);
  std::string_view between = text.substr(first->end, second->begin - first->end);
  const std::string_view after = text.substr(second->end);
  const std::size_t begin_size = common_end(before, between);
  spelling.call_begin = before.substr(before.size() - begin_size);
  spelling.section_begin = before.substr(0, before.size() - begin_size);
  between.remove_suffix(begin_size);
  const std::size_t end_size = common_begin(between, after);
  spelling.call_end = between.substr(0, end_size);
  spelling.separator = between.substr(end_size);
  spelling.section_end = after.substr(end_size);
  return "";
}

namespace {

struct ReadCall {
  std::string name, arguments;
  bool is_complete = false;
};

std::vector<ReadCall> calls_in(const CallFormat& format, std::string_view text, const std::vector<Tool>& tools) {
  AnswerParser parser(format, false, true, tools);
  std::vector<AnswerPiece> pieces;
  // Byte by byte, as an answer may come: nothing may depend on what follows being there.
  for (const char& byte : text) std::ranges::move(parser.take({&byte, 1}), std::back_inserter(pieces));
  std::ranges::move(parser.finish(), std::back_inserter(pieces));
  std::vector<ReadCall> calls;
  for (const AnswerPiece& piece : pieces) {
    if (piece.kind == AnswerPiece::Kind::call_begin) calls.push_back({.name = piece.text, .arguments = {}});
    if (piece.kind == AnswerPiece::Kind::call_arguments) calls[piece.call].arguments += piece.text;
    if (piece.kind == AnswerPiece::Kind::call_end) calls[piece.call].is_complete = true;
  }
  return calls;
}

bool is_read(const ReadCall& call, std::string_view name, const Value& arguments) {
  return call.name == name && call.is_complete && is_json_of(call.arguments, arguments);
}

}  // namespace

// What was found must read what it was found in.
std::string FormatReader::check(const std::string& one, const std::string& two) const {
  const std::vector<Tool> tools = TemplateProbe::tools();
  const Value arguments = TemplateProbe::arguments();
  const auto alone = calls_in(format_, one, tools);
  bool is_right = alone.size() == 1 && is_read(alone[0], TemplateProbe::first_name, arguments);
  if (format_.spelling_.writes_several) {
    const auto both = calls_in(format_, two, tools);
    is_right = is_right && both.size() == 2 && is_read(both[0], TemplateProbe::first_name, arguments) &&
               is_read(both[1], TemplateProbe::second_name, arguments);
  }
  return is_right ? "" : "the template's own calls are not read back";
}

void FormatReader::check_texts() {
  Dictionary arguments;
  arguments.insert(std::string(TemplateProbe::first_key), Value::text("a \"b\"\n'c' \\ <d> &"));
  arguments.insert(std::string(TemplateProbe::second_key), Value::integer(271828));
  const Value value = Value::dictionary(std::move(arguments));
  const auto text = answer_with({{TemplateProbe::first_name, TemplateProbe::first_id, value}});
  const auto calls = text ? calls_in(format_, *text, TemplateProbe::tools()) : std::vector<ReadCall>();
  format_.is_exact_ = calls.size() == 1 && is_read(calls[0], TemplateProbe::first_name, value);
}

}  // namespace ingot::calls
