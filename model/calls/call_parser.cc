#include "model/calls/call_parser.h"

#include <algorithm>
#include <optional>

#include "model/calls/call_reader.h"
#include "model/calls/marks.h"

namespace ingot::calls {

using PieceKind = AnswerPiece::Kind;

namespace {

// White space in front of a mark belongs to it. More of it is content.
constexpr std::size_t most_held_white_space = 64;

std::size_t white_space_at_end(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && size < most_held_white_space && is_white_space(text[text.size() - 1 - size])) ++size;
  return size;
}

}  // namespace

class AnswerParser::State {
 public:
  State(const CallFormat& format, bool begins_in_thought, bool reads_calls, KnownTools tools)
      : format_(format),
        tools_(std::move(tools)),
        reads_calls_(reads_calls),
        opening_(format_.spelling().section_begin + format_.spelling().call_begin),
        mode_(begins_in_thought && !format_.thought_end().empty() ? Mode::thought : Mode::content),
        skips_white_space_(mode_ == Mode::thought) {}

  std::vector<AnswerPiece> take(std::string_view text) {
    pending_ += text;
    while (step()) {
    }
    pending_.erase(0, at_);
    at_ = 0;
    return told();
  }

  std::vector<AnswerPiece> finish();

  std::size_t call_count() const { return calls_; }
  std::size_t complete_call_count() const { return complete_calls_; }

 private:
  enum class Mode : std::uint8_t {
    content,
    thought,
    opening,  // behind the mark that tells of calls, before the first
    call,
    after_call,  // its closing mark may come
    between,     // another call, or the end of the section
  };

  std::string_view rest() const { return std::string_view(pending_).substr(at_); }
  std::vector<AnswerPiece> told();
  void tell(PieceKind kind, std::string_view text);

  // False: nothing more can be told before more text comes.
  bool step();
  bool step_content();
  bool step_thought();
  bool step_opening();
  bool step_call();
  bool step_after_call();
  bool step_between();

  struct Found {
    std::size_t place = std::string_view::npos;
    std::size_t size = 0;
    enum class Sort : std::uint8_t { calls, thought, content_begin, content_end } sort = Sort::calls;
  };
  Found find_mark(std::string_view text, std::size_t& held) const;
  void find_first_mark(std::string_view text, Found& found, std::size_t& held) const;
  void begin_call(std::string mark);
  void give_up_call();
  void begin_content();

  CallFormat format_;
  KnownTools tools_;
  bool reads_calls_;
  std::string opening_;
  std::vector<AnswerPiece> pieces_;
  std::string pending_;
  std::size_t at_ = 0;
  Mode mode_;
  bool is_fresh_ = true;    // no content since the beginning, a thought or a call
  bool skips_white_space_;  // until something else comes
  std::string mark_;        // what was taken and is told as content where no call follows
  std::optional<CallReader> reader_;
  std::size_t calls_ = 0;
  std::size_t complete_calls_ = 0;
};

std::vector<AnswerPiece> AnswerParser::State::told() {
  std::vector<AnswerPiece> joined;
  for (AnswerPiece& piece : pieces_) {
    const bool is_text = piece.kind == PieceKind::content || piece.kind == PieceKind::reasoning ||
                         piece.kind == PieceKind::call_arguments;
    if (is_text && !joined.empty() && joined.back().kind == piece.kind && joined.back().call == piece.call) {
      joined.back().text += piece.text;
    } else {
      joined.push_back(std::move(piece));
    }
  }
  pieces_.clear();
  return joined;
}

void AnswerParser::State::tell(PieceKind kind, std::string_view text) {
  if (skips_white_space_) text.remove_prefix(white_space_before(text).size());
  if (text.empty()) return;
  skips_white_space_ = false;
  if (kind == PieceKind::content && white_space_before(text).size() < text.size()) is_fresh_ = false;
  pieces_.push_back({kind, std::string(text), 0});
}

bool AnswerParser::State::step() {
  switch (mode_) {
    case Mode::content: return step_content();
    case Mode::thought: return step_thought();
    case Mode::opening: return step_opening();
    case Mode::call: return step_call();
    case Mode::after_call: return step_after_call();
    case Mode::between: return step_between();
  }
  return false;
}

// Marks that only count where nothing but white space came before.
void AnswerParser::State::find_first_mark(std::string_view text, Found& found, std::size_t& held) const {
  if (!is_fresh_) return;
  const std::size_t begin = white_space_before(text).size();
  const std::string_view first = text.substr(begin);
  const auto look = [&](std::string_view mark, Found::Sort sort) {
    if (mark.empty() || found.place <= begin) return;
    if (first.starts_with(mark)) {
      found = {begin, mark.size(), sort};
    } else if (mark.starts_with(first)) {
      held = std::max(held, text.size() - begin);
    }
  };
  look(format_.thought_begin(), Found::Sort::thought);
  look(format_.content_begin(), Found::Sort::content_begin);
  const std::string_view trigger = format_.spelling().trigger();
  if (!reads_calls_ || trigger.size() > 2) return;
  if (!trigger.empty()) return look(trigger, Found::Sort::calls);
  if (first.starts_with('{') && begin < found.place) found = {begin, 0, Found::Sort::calls};
}

AnswerParser::State::Found AnswerParser::State::find_mark(std::string_view text, std::size_t& held) const {
  Found found;
  const auto look = [&](std::string_view mark, Found::Sort sort) {
    if (mark.empty()) return;
    const std::size_t place = text.find(mark);
    if (place < found.place) found = {place, mark.size(), sort};
    held = std::max(held, held_at_end(text, mark));
  };
  const std::string_view trigger = format_.spelling().trigger();
  if (reads_calls_ && trigger.size() > 2) look(trigger, Found::Sort::calls);
  look(format_.content_end(), Found::Sort::content_end);
  find_first_mark(text, found, held);
  return found;
}

bool AnswerParser::State::step_content() {
  const std::string_view text = rest();
  std::size_t held = 0;
  const Found found = find_mark(text, held);
  if (found.place == std::string_view::npos) {
    const std::string_view told = text.substr(0, text.size() - held);
    const std::size_t size = told.size() - white_space_at_end(told);
    tell(PieceKind::content, text.substr(0, size));
    at_ += size;
    return false;
  }
  const std::string_view before = text.substr(0, found.place);
  const std::size_t dropped = found.sort == Found::Sort::content_end ? 0 : white_space_at_end(before);
  tell(PieceKind::content, before.substr(0, before.size() - dropped));
  at_ += found.place + found.size;
  switch (found.sort) {
    case Found::Sort::content_begin:
    case Found::Sort::content_end: break;
    case Found::Sort::thought:
      mode_ = Mode::thought;
      skips_white_space_ = true;
      break;
    case Found::Sort::calls:
      mark_ = text.substr(found.place - dropped, dropped + found.size);
      mode_ = Mode::opening;
      break;
  }
  return true;
}

bool AnswerParser::State::step_thought() {
  const std::string_view text = rest();
  const std::string& mark = format_.thought_end();
  const std::size_t end = text.find(mark);
  const bool is_whole = end != std::string_view::npos;
  std::size_t size = is_whole ? end : text.size() - held_at_end(text, mark);
  size -= white_space_at_end(text.substr(0, size));
  tell(PieceKind::reasoning, text.substr(0, size));
  at_ += is_whole ? end + mark.size() : size;
  if (is_whole) {
    begin_content();
    skips_white_space_ = true;
  }
  return is_whole;
}

void AnswerParser::State::begin_content() {
  mode_ = Mode::content;
  is_fresh_ = true;
}

// The rest of the marks before the first call.
bool AnswerParser::State::step_opening() {
  const std::string_view behind = core_of(opening_).substr(format_.spelling().trigger().size());
  const Matched matched = match_mark(rest(), behind);
  if (matched.match == Match::partial) return false;
  if (matched.match == Match::no) {
    mode_ = Mode::content;
    is_fresh_ = skips_white_space_ = false;
    pieces_.push_back({PieceKind::content, std::move(mark_), 0});
    return true;
  }
  mark_ += rest().substr(0, matched.size);
  at_ += matched.size;
  begin_call(std::move(mark_));
  return true;
}

void AnswerParser::State::begin_call(std::string mark) {
  mark_ = std::move(mark);
  reader_.emplace(format_.spelling(), *tools_, calls_);
  mode_ = Mode::call;
}

bool AnswerParser::State::step_call() {
  const bool had_begun = reader_->has_begun();
  at_ += reader_->take(rest(), pieces_);
  if (reader_->has_begun() && !had_begun) {
    mark_.clear();
    skips_white_space_ = false;
    ++calls_;
  }
  if (reader_->status() == CallReader::Status::reading) return false;
  if (reader_->status() == CallReader::Status::failed) {
    give_up_call();
    return true;
  }
  ++complete_calls_;
  mode_ = Mode::after_call;
  return true;
}

void AnswerParser::State::give_up_call() {
  mark_ += reader_->untold();
  skips_white_space_ = false;
  mode_ = Mode::content;
  is_fresh_ = false;
  if (!mark_.empty()) pieces_.push_back({PieceKind::content, std::move(mark_), 0});
  mark_.clear();
}

bool AnswerParser::State::step_after_call() {
  const CallSpelling& spelling = format_.spelling();
  std::string_view mark = core_of(spelling.call_end);
  if (spelling.shape == CallShape::tagged) mark.remove_prefix(head_of(mark).size());
  const Matched matched = match_mark(rest(), mark);
  if (matched.match == Match::partial) return false;
  at_ += matched.size;
  mode_ = Mode::between;
  return true;
}

bool AnswerParser::State::step_between() {
  const CallSpelling& spelling = format_.spelling();
  const auto match = [&](std::string_view mark) {
    return core_of(mark).empty() ? Matched{Match::no} : match_mark(rest(), mark);
  };
  const Matched end = match(spelling.section_end);
  const Matched next = match(spelling.separator + spelling.call_begin);
  if (end.match == Match::yes) {
    at_ += end.size;
    begin_content();
    return true;
  }
  if (next.match == Match::yes) {
    std::string mark(rest().substr(0, next.size));
    at_ += next.size;
    begin_call(std::move(mark));
    return true;
  }
  if (end.match == Match::partial || next.match == Match::partial) return false;
  begin_content();
  return true;
}

std::vector<AnswerPiece> AnswerParser::State::finish() {
  const bool is_behind_call = mode_ == Mode::after_call || mode_ == Mode::between;
  switch (mode_) {
    case Mode::content: tell(PieceKind::content, rest()); break;
    case Mode::thought: tell(PieceKind::reasoning, rest()); break;
    case Mode::opening: pieces_.push_back({PieceKind::content, mark_ + std::string(rest()), 0}); break;
    case Mode::call:
      reader_->finish(rest(), pieces_);
      if (reader_->status() == CallReader::Status::done) ++complete_calls_;
      // A call that was told and broke off has a comma or a mark left, which is nobody's text.
      if (reader_->has_begun()) break;
      mark_ += reader_->untold();
      mark_ += rest();
      if (!mark_.empty()) pieces_.push_back({PieceKind::content, mark_, 0});
      break;
    default: break;
  }
  // Behind a call only the beginning of a closing mark can be left, which says nothing.
  if (is_behind_call) mode_ = Mode::content;
  pending_.clear();
  at_ = 0;
  mark_.clear();
  return told();
}

AnswerParser::AnswerParser(const CallFormat& format, bool begins_in_thought, bool reads_calls, KnownTools tools)
    : state_(std::make_unique<State>(format, begins_in_thought, reads_calls, std::move(tools))) {}
AnswerParser::AnswerParser(AnswerParser&&) noexcept = default;
AnswerParser& AnswerParser::operator=(AnswerParser&&) noexcept = default;
AnswerParser::~AnswerParser() = default;

std::vector<AnswerPiece> AnswerParser::take(std::string_view text) { return state_->take(text); }
std::vector<AnswerPiece> AnswerParser::finish() { return state_->finish(); }
std::size_t AnswerParser::call_count() const { return state_->call_count(); }
std::size_t AnswerParser::complete_call_count() const { return state_->complete_call_count(); }

}  // namespace ingot::calls
