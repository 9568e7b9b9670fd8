#include "model/calls/call_reader.h"

#include <algorithm>

#include "model/calls/marks.h"
#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"

namespace ingot::calls {

using chat::Kind;
using PieceKind = AnswerPiece::Kind;

namespace {

LiteralSyntax syntax_of(const CallSpelling& spelling) {
  return spelling.shape == CallShape::function ? spelling.literal : LiteralSyntax{};
}

}  // namespace

CallReader::CallReader(const CallSpelling& spelling, std::span<const KnownTool> tools, std::size_t call)
    : spelling_(spelling), tools_(tools), call_(call), literal_(syntax_of(spelling)) {}

CallReader::Step CallReader::fail() {
  status_ = Status::failed;
  return std::nullopt;
}

std::size_t CallReader::take(std::string_view text, std::vector<AnswerPiece>& pieces) {
  std::size_t at = 0;
  while (status_ == Status::reading) {
    const Step taken = step(text.substr(at), pieces);
    if (!taken) break;
    at += *taken;
  }
  return at;
}

void CallReader::finish(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  const bool is_in_arguments = has_begun_ && (spelling_.shape != CallShape::object ||
                                              (object_place_ == ObjectPlace::value && key_ == spelling_.arguments_key));
  if (status_ != Status::reading || !is_in_arguments) return;
  if (spelling_.shape == CallShape::tagged) return finish_tags(rest, pieces);
  literal_.finish(json_);
  if (!json_.empty()) untold_.clear();
  tell_arguments(std::move(json_), pieces);
  json_.clear();
}

CallReader::Step CallReader::step(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  return spelling_.shape == CallShape::object ? step_object(rest, pieces) : step_part(rest, pieces);
}

CallReader::Step CallReader::step_part(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  const CallPart& part = spelling_.parts[part_];
  switch (part.kind) {
    case CallPart::Kind::arguments: return step_arguments(rest, pieces);
    case CallPart::Kind::text: {
      const Matched matched = match_mark(rest, part.text);
      if (matched.match == Match::no) return fail();
      if (matched.match == Match::partial) return std::nullopt;
      untold_ += rest.substr(0, matched.size);
      ++part_;
      // A call is told with all that leads to its arguments: what breaks off before is content.
      if (spelling_.parts[part_].kind == CallPart::Kind::arguments) tell_begin(name_, pieces);
      return matched.size;
    }
    case CallPart::Kind::id:
    case CallPart::Kind::index: {
      std::string skipped;
      return skip_to_next_part(rest, skipped);
    }
    case CallPart::Kind::name: {
      const Step taken = skip_to_next_part(rest, name_);
      if (!taken) return std::nullopt;
      name_ = core_of(name_);
      if (name_.empty() || std::ranges::any_of(name_, is_white_space)) return fail();
      if (spelling_.parts[part_].kind == CallPart::Kind::arguments) tell_begin(name_, pieces);
      return taken;
    }
  }
  return fail();
}

CallReader::Step CallReader::skip_to_next_part(std::string_view rest, std::string& skipped) {
  std::vector<std::string_view> heads;
  for (std::size_t next = part_ + 1; heads.empty(); ++next) {
    const CallPart& part = spelling_.parts[next];
    if (part.kind != CallPart::Kind::arguments) {
      if (!head_of(part.text).empty()) heads = {head_of(part.text)};
    } else if (spelling_.shape == CallShape::tagged) {
      heads = {head_of(spelling_.key_begin), head_of(spelling_.call_end)};
    } else {
      heads = {std::string_view(&spelling_.literal.open, 1)};
    }
  }
  std::erase(heads, std::string_view());
  std::size_t end = std::string_view::npos;
  for (const std::string_view head : heads) end = std::min(end, rest.find(head));
  if (spelling_.parts[part_].kind == CallPart::Kind::name && end != std::string_view::npos) {
    end = end_of_tool_name(rest, heads, end);
  }
  if (std::min(end, rest.size()) > longest_name) return fail();
  if (end == std::string_view::npos) return std::nullopt;
  skipped = rest.substr(0, end);
  untold_ += skipped;
  ++part_;
  return end;
}

// Names may hold what stands behind them: `mcp:read:0`. The longest tool's name counts, and it may still be coming.
std::size_t CallReader::end_of_tool_name(std::string_view rest, std::span<const std::string_view> heads,
                                         std::size_t first_end) const {
  const std::size_t begin = white_space_before(rest).size();
  const std::string_view text = rest.substr(begin);
  std::size_t end = first_end;
  std::size_t longest = 0;
  for (const KnownTool& tool : tools_) {
    if (begin + tool.name.size() <= first_end || tool.name.size() < longest) continue;
    bool may_come = tool.name.starts_with(text);
    if (text.starts_with(tool.name)) {
      std::string_view behind = text.substr(tool.name.size());
      behind.remove_prefix(white_space_before(behind).size());
      for (const std::string_view head : heads) {
        may_come = may_come || (behind.size() < head.size() && head.starts_with(behind));
        if (!behind.starts_with(head)) continue;
        longest = tool.name.size();
        end = rest.size() - behind.size();
      }
    }
    if (!may_come) continue;
    longest = tool.name.size();
    end = std::string_view::npos;
  }
  return end;
}

CallReader::Step CallReader::step_arguments(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  return spelling_.shape == CallShape::tagged ? step_tags(rest, pieces) : step_literal(rest, pieces);
}

CallReader::Step CallReader::step_literal(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  std::string told;
  std::size_t at = 0;
  while (at < rest.size() && literal_.status() == LiteralRewriter::Status::reading) {
    const bool is_taken = literal_.take(rest[at], json_);
    if (!is_taken) break;
    // An object, not any value.
    if (!json_.empty() && told.empty() && !has_arguments_ && json_[0] != '{') break;
    untold_ += rest[at++];
    if (json_.empty()) continue;
    has_arguments_ = true;
    untold_.clear();
    told += json_;
    json_.clear();
  }
  tell_arguments(std::move(told), pieces);
  if (literal_.status() == LiteralRewriter::Status::done) {
    tell_end(pieces);
    return at;
  }
  if (at < rest.size()) status_ = Status::failed;
  return at == 0 ? Step() : Step(at);
}

CallReader::Step CallReader::step_object(std::string_view rest, std::vector<AnswerPiece>& pieces) {
  std::size_t at = 0;
  while (at < rest.size() && status_ == Status::reading) {
    untold_ += rest[at];
    if (!take_object_byte(rest[at], pieces)) {
      untold_.pop_back();
      status_ = Status::failed;
      break;
    }
    ++at;
  }
  return at == 0 ? Step() : Step(at);
}

bool CallReader::take_object_byte(char byte, std::vector<AnswerPiece>& pieces) {
  if (object_place_ == ObjectPlace::value) return take_member_value(byte, pieces);
  if (object_place_ == ObjectPlace::key_text) {
    if (!literal_.take(byte, json_)) return false;
    if (literal_.status() != LiteralRewriter::Status::done) return true;
    const auto key = chat::value_from_json(json_);
    if (!key.ok()) return false;
    key_ = key.value().bytes();
    object_place_ = ObjectPlace::colon;
    return true;
  }
  if (is_white_space(byte)) return true;
  switch (object_place_) {
    case ObjectPlace::open: object_place_ = ObjectPlace::key; return byte == '{';
    case ObjectPlace::colon:
      literal_ = LiteralRewriter(LiteralSyntax{});
      json_.clear();
      object_place_ = ObjectPlace::value;
      return byte == ':';
    case ObjectPlace::key:
      if (byte != '"') return false;
      literal_ = LiteralRewriter(LiteralSyntax{});
      json_.clear();
      object_place_ = ObjectPlace::key_text;
      return literal_.take(byte, json_);
    case ObjectPlace::next:
      if (byte == '}') return end_object(pieces);
      object_place_ = ObjectPlace::key;
      return byte == ',';
    default: return false;
  }
}

bool CallReader::take_member_value(char byte, std::vector<AnswerPiece>& pieces) {
  const bool is_taken = literal_.take(byte, json_);
  if (literal_.status() == LiteralRewriter::Status::failed) return false;
  // Told while they come, unless they are a text with the object inside.
  if (key_ == spelling_.arguments_key && has_begun_ && json_.starts_with('{') && !has_arguments_) has_arguments_ = true;
  if (key_ == spelling_.arguments_key && has_begun_ && has_arguments_) {
    if (!json_.empty()) untold_.clear();
    tell_arguments(std::move(json_), pieces);
    json_.clear();
  }
  if (literal_.status() != LiteralRewriter::Status::done) return is_taken;
  if (!end_member(pieces)) return false;
  object_place_ = ObjectPlace::next;
  return is_taken || take_object_byte(byte, pieces);
}

bool CallReader::end_member(std::vector<AnswerPiece>& pieces) {
  if (key_ == spelling_.name_key) {
    const auto name = chat::value_from_json(json_);
    if (has_begun_ || !name.ok() || !name.value().is_text() || name.value().bytes().empty()) return false;
    tell_begin(name.value().bytes(), pieces);
    has_arguments_ = !early_arguments_.empty();
    if (has_arguments_) tell_arguments(std::move(early_arguments_), pieces);
    return true;
  }
  if (key_ != spelling_.arguments_key || json_.empty()) return true;
  if (has_arguments_ || !early_arguments_.empty()) return false;
  if (json_ == "null") json_ = "{}";
  if (json_.starts_with('"')) {
    const auto text = chat::value_from_json(json_);
    if (!text.ok()) return false;
    const auto inside = chat::value_from_json(text.value().bytes());
    if (!inside.ok() || !inside.value().is(Kind::dictionary)) return false;
    json_ = text.value().bytes();
  }
  if (!json_.starts_with('{')) return false;
  if (has_begun_) {
    has_arguments_ = true;
    untold_.clear();
    tell_arguments(std::move(json_), pieces);
  } else {
    early_arguments_ = std::move(json_);
  }
  json_.clear();
  return true;
}

bool CallReader::end_object(std::vector<AnswerPiece>& pieces) {
  if (!has_begun_) return false;
  if (!has_arguments_) tell_arguments("{}", pieces);
  tell_end(pieces);
  return true;
}

void CallReader::tell_begin(std::string name, std::vector<AnswerPiece>& pieces) {
  name_ = name;
  const auto known = std::ranges::find(tools_, name_, &KnownTool::name);
  tool_ = known == tools_.end() ? nullptr : &*known;
  has_begun_ = true;
  untold_.clear();
  pieces.push_back({PieceKind::call_begin, std::move(name), call_});
}

void CallReader::tell_arguments(std::string json, std::vector<AnswerPiece>& pieces) {
  if (json.empty()) return;
  pieces.push_back({PieceKind::call_arguments, std::move(json), call_});
}

void CallReader::tell_end(std::vector<AnswerPiece>& pieces) {
  untold_.clear();
  status_ = Status::done;
  pieces.push_back({PieceKind::call_end, "", call_});
}

}  // namespace ingot::calls
