// Arguments between marks: <parameter=city>Paris</parameter>.
#include <algorithm>

#include "model/calls/call_reader.h"
#include "model/calls/marks.h"

namespace ingot::calls {

CallReader::Step CallReader::step_tags(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  switch (tag_place_) {
    case TagPlace::between: return begin_tag_or_end(rest, pieces);
    case TagPlace::key: return read_tag_key(rest);
    case TagPlace::value_begin: return begin_tag_value(rest);
    case TagPlace::value: return read_tag_value(rest, pieces);
  }
  return fail();
}

CallReader::Step CallReader::begin_tag_or_end(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  const Matched key = match_mark(rest, spelling_.key_begin);
  const Matched end = match_mark(rest, head_of(spelling_.call_end));
  if (key.match == Match::yes) {
    untold_ += rest.substr(0, key.size);
    tag_place_ = TagPlace::key;
    return key.size;
  }
  // A mark that ends calls may be empty, or the beginning of the key's.
  if (key.match == Match::partial) return Step();
  if (end.match == Match::yes) {
    tell_arguments(is_first_tag_ ? "{}" : "}", pieces);
    tell_end(pieces);
    return end.size;
  }
  return end.match == Match::partial ? Step() : fail();
}

void CallReader::finish_tags(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  const bool is_between = spelling_.parts[part_].kind == CallPart::Kind::arguments && tag_place_ == TagPlace::between;
  const std::string_view mark = head_of(spelling_.call_end);
  const bool is_ended = mark.empty() ? core_of(rest).empty() : match_mark(rest, mark).match == Match::yes;
  if (!is_between || !is_ended) return;
  tell_arguments(is_first_tag_ ? "{}" : "}", pieces);
  tell_end(pieces);
}

CallReader::Step CallReader::read_tag_key(std::string_view rest) {
  const std::size_t end = rest.find(head_of(spelling_.key_end));
  if (std::min(end, rest.size()) > longest_name) return fail();
  if (end == std::string_view::npos) return std::nullopt;
  const Matched matched = match_mark(rest.substr(end), spelling_.key_end);
  if (matched.match == Match::no) return fail();
  if (matched.match == Match::partial) return std::nullopt;
  key_ = core_of(rest.substr(0, end));
  parameter_ = tool_ == nullptr ? ParameterKind::unknown : tool_->parameters.of(key_);
  is_in_text_marks_ = is_text_open_ = false;
  searched_ = scanned_ = 0;
  scanner_ = LiteralRewriter(LiteralSyntax{});
  tag_place_ = TagPlace::value_begin;
  untold_ += rest.substr(0, end + matched.size);
  return end + matched.size;
}

CallReader::Step CallReader::begin_tag_value(std::string_view rest) {
  // The mark's own white space is no part of the value; all other is.
  const std::string_view lead = white_space_behind(spelling_.key_end);
  if (rest.size() < lead.size() && lead.starts_with(rest)) return std::nullopt;
  std::size_t taken = rest.starts_with(lead) ? lead.size() : 0;
  const std::string_view value = rest.substr(taken);
  const std::string_view mark = spelling_.text_begin;
  if (!mark.empty() && value.size() < mark.size() && mark.starts_with(value)) return std::nullopt;
  if (!mark.empty() && value.starts_with(mark)) {
    is_in_text_marks_ = true;
    parameter_ = ParameterKind::text;
    taken += mark.size();
  }
  untold_ += rest.substr(0, taken);
  tag_place_ = TagPlace::value;
  return taken;
}

CallReader::Step CallReader::read_tag_value(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  std::string mark = is_in_text_marks_ ? spelling_.text_end : std::string();
  mark += core_of(spelling_.value_end);
  const std::string_view trail = is_in_text_marks_ ? std::string_view() : white_space_before(spelling_.value_end);
  const std::optional<std::size_t> end = find_value_end(rest, mark);
  const bool is_whole = end.has_value();
  std::size_t size = end.value_or(0);
  if (!is_whole) {
    const std::string with_trail = std::string(trail) + mark;
    size = rest.size() - std::max(held_at_end(rest, mark), held_at_end(rest, with_trail));
    if (parameter_ != ParameterKind::text || size == 0) return std::nullopt;
  } else if (rest.substr(0, size).ends_with(trail)) {
    size -= trail.size();
  }
  std::string json;
  if (!is_text_open_) {
    json = is_first_tag_ ? "{\"" : ",\"";
    append_escaped(key_, json);
    json += "\":";
    is_first_tag_ = false;
  }
  if (parameter_ == ParameterKind::text) {
    if (!is_text_open_) json += '"';
    is_text_open_ = true;
    append_escaped(rest.substr(0, size), json);
    if (is_whole) json += '"';
  } else {
    json += value_as_json(rest.substr(0, size));
  }
  untold_.clear();
  tell_arguments(std::move(json), pieces);
  searched_ = 0;
  if (!is_whole) return size;
  tag_place_ = TagPlace::between;
  return *end + mark.size();
}

std::optional<std::size_t> CallReader::find_value_end(std::string_view rest, std::string_view mark) {
  const bool may_be_json = parameter_ == ParameterKind::other || parameter_ == ParameterKind::unknown;
  while (true) {
    const std::size_t end = rest.find(mark, searched_);
    if (end == std::string_view::npos) {
      searched_ = rest.size() - std::min(rest.size(), mark.size() - 1);
      return std::nullopt;
    }
    std::string json;
    while (may_be_json && scanned_ < end && scanner_.take(rest[scanned_], json)) ++scanned_;
    if (!scanner_.is_in_text()) return end;
    searched_ = end + 1;
  }
}

std::string CallReader::value_as_json(std::string_view text) const {
  const std::string_view core = core_of(text);
  const bool is_null = core == "null" || core == "None";
  if (parameter_ != ParameterKind::text_or_null || is_null) {
    LiteralRewriter literal({.is_python = true});
    std::string json;
    const bool is_taken = std::ranges::all_of(core, [&](char byte) { return literal.take(byte, json); });
    literal.finish(json);
    if (is_taken && literal.status() == LiteralRewriter::Status::done) return json;
  }
  std::string json = "\"";
  append_escaped(text, json);
  return json + '"';
}

}  // namespace ingot::calls
