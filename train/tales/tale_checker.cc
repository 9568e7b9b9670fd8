#include "train/tales/tale_checker.h"

#include <algorithm>
#include <tuple>

namespace ingot {
namespace {

constexpr std::size_t quoted_length = 60;
constexpr std::size_t most_shown = 200;

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}
bool is_space(char character) {
  return character == ' ' || character == '\n' || character == '\t' || character == '\r';
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& character : shown) {
    if (character < ' ' || character > '~') character = '?';
  }
  return shown;
}

// So many words with what clings to them, or the end.
std::string words_at(std::string_view text, std::size_t position, std::size_t count) {
  if (position >= text.size()) return "the end";
  if (is_space(text[position])) return "a space";
  std::size_t end = position;
  for (; end < text.size() && end - position < quoted_length; ++end) {
    if (is_space(text[end]) && --count == 0) break;
  }
  return "'" + printable(text.substr(position, end - position)) + "'";
}

// Where the sentence that begins here ends: after its end mark (and quotation mark), before a capital or a quotation
// mark.
std::size_t sentence_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] != '.' && text[at] != '!' && text[at] != '?') continue;
    std::size_t end = at + 1;
    if (end < text.size() && text[end] == '"') ++end;
    if (end == text.size()) return end;
    const char after = end + 1 < text.size() ? text[end + 1] : ' ';
    if (text[end] == ' ' && (after == '"' || (after >= 'A' && after <= 'Z'))) return end;
  }
  return text.size();
}

TaleFault fault_at(std::string_view text, std::size_t position, std::string expected, std::size_t words = 1) {
  TaleFault fault;
  std::size_t begin = 0;
  fault.sentence = 1;
  for (std::size_t end; (end = sentence_end(text, begin)) <= position && end + 1 < text.size(); ++fault.sentence) {
    begin = end + 1;
  }
  const std::size_t length = std::min(sentence_end(text, begin) - begin, most_shown);
  fault.sentence_text = printable(text.substr(begin, length));
  fault.expected = std::move(expected);
  fault.found = words_at(text, position, words);
  return fault;
}

// How one form reads at a position of the text.
struct FormMatch {
  bool whole = false;
  std::size_t scene = 0;
  std::size_t end = 0;                     // of what matched
  std::optional<std::size_t> fault_begin;  // where not at the end of what matched
  bool wrong_word = false;                 // what did not match is another word of a slot's class
  std::string expected;
  std::size_t expected_words = 1;

  bool explains_better(const FormMatch& other) const {
    return std::tie(whole, end, wrong_word) > std::tie(other.whole, other.end, other.wrong_word);
  }

  TaleState state;
  std::vector<TaleMention> mentions;
};

class TaleReader {
 public:
  explicit TaleReader(std::string_view text) : grammar_(tale_grammar()), text_(text) {}

  TaleReading read();

 private:
  struct Position {
    std::size_t plot;
    std::size_t step;
  };

  std::vector<Position> reachable() const;
  std::size_t scene_at(const Position& position) const {
    return grammar_.plots()[position.plot].steps[position.step].scene;
  }
  std::vector<std::size_t> scenes_of(const std::vector<Position>& positions) const;
  bool may_end() const;
  bool phrase_stands(std::string_view phrase, std::size_t at) const;
  bool match_literal(const std::string& literal, FormMatch& match) const;
  bool match_slot(const FormPiece& piece, FormMatch& match) const;
  FormMatch match_form(const Form& form, std::size_t begin) const;
  FormMatch best_match(const std::vector<std::size_t>& scenes, std::size_t begin) const;
  std::string spelling_of(Fact fact) const;
  void take_facts(TaleFacts& facts) const;

  const Grammar& grammar_;
  std::string_view text_;
  TaleState state_;
  std::vector<Position> alive_;  // in each plot that the sentences so far may belong to
};

// Every step that may come next: the next one, and those behind steps that may be left out.
std::vector<TaleReader::Position> TaleReader::reachable() const {
  std::vector<Position> positions;
  for (Position position : alive_) {
    const std::vector<PlotStep>& steps = grammar_.plots()[position.plot].steps;
    for (; position.step < steps.size(); ++position.step) {
      positions.push_back(position);
      if (!steps[position.step].optional()) break;
    }
  }
  return positions;
}

bool TaleReader::may_end() const {
  for (const Position& position : alive_) {
    const std::vector<PlotStep>& steps = grammar_.plots()[position.plot].steps;
    const auto required = [](const PlotStep& step) { return !step.optional(); };
    if (std::none_of(steps.begin() + static_cast<std::ptrdiff_t>(position.step), steps.end(), required)) return true;
  }
  return false;
}

bool TaleReader::phrase_stands(std::string_view phrase, std::size_t at) const {
  if (text_.substr(at, phrase.size()) != phrase) return false;
  const std::size_t end = at + phrase.size();
  return end == text_.size() || !is_letter(text_[end]);
}

bool TaleReader::match_literal(const std::string& literal, FormMatch& match) const {
  std::size_t same = 0;
  std::size_t word = 0;  // where the word that differs begins
  while (same < literal.size() && match.end + same < text_.size() && literal[same] == text_[match.end + same]) {
    if (literal[same] == ' ' || literal[same] == '"') word = same + 1;
    ++same;
  }
  if (same == literal.size()) {
    match.end += same;
    return true;
  }
  match.end += word;
  match.expected = words_at(literal, word, 1);
  return false;
}

bool TaleReader::match_slot(const FormPiece& piece, FormMatch& match) const {
  const std::vector<std::string>& phrases = grammar_.phrases_of(piece);
  const FactRow& row = Grammar::row_of(piece.fact);
  WordIndex word = match.state[piece.fact];
  const bool first = word == unknown_word;
  if (!first && !phrase_stands(phrases[static_cast<std::size_t>(word)], match.end)) {
    const std::string& phrase = phrases[static_cast<std::size_t>(word)];
    match.expected = "'" + phrase + "' (" + std::string(row.meaning) + ")";
    match.expected_words = static_cast<std::size_t>(std::count(phrase.begin(), phrase.end(), ' ')) + 1;
    match.wrong_word = std::any_of(phrases.begin(), phrases.end(),
                                   [&](const std::string& other) { return phrase_stands(other, match.end); });
    return false;
  }
  if (first && piece.introduces) {
    for (std::size_t index = 0; index < phrases.size(); ++index) {
      const auto candidate = static_cast<WordIndex>(index);
      const bool longer =
          word == unknown_word || phrases[index].size() > phrases[static_cast<std::size_t>(word)].size();
      if (longer && phrase_stands(phrases[index], match.end)) {
        word = candidate;
      }
    }
  }
  if (word == unknown_word) {
    match.expected = piece.introduces ? "a word for " + std::string(row.meaning)
                                      : "nothing about " + std::string(row.meaning) + ", which was never told";
    return false;
  }
  const std::size_t length = phrases[static_cast<std::size_t>(word)].size();
  match.state[piece.fact] = word;
  match.mentions.push_back({match.end, length, &piece, first});
  match.end += length;
  return true;
}

FormMatch TaleReader::match_form(const Form& form, std::size_t begin) const {
  FormMatch match;
  match.end = begin;
  match.state = state_;
  for (const FormPiece& piece : form.pieces) {
    if (!match_literal(piece.literal, match)) return match;
    if (piece.has_slot && !match_slot(piece, match)) return match;
  }
  if (!Grammar::holds(state_, form.needs)) {
    // Nothing else explains the sentence better: its words are right, and only what it says is not.
    const Fact fact = form.needs.front().fact;
    match.wrong_word = true;
    match.fault_begin = begin;
    match.expected = "a sentence that agrees with " + std::string(Grammar::row_of(fact).meaning);
    if (state_.knows(fact)) match.expected += " ('" + spelling_of(fact) + "')";
    return match;
  }
  Grammar::apply(match.state, form.makes);
  match.whole = true;
  return match;
}

std::string TaleReader::spelling_of(Fact fact) const {
  if (!state_.knows(fact)) return "";
  return grammar_.words_of(fact).words[static_cast<std::size_t>(state_[fact])].spellings[0];
}

void TaleReader::take_facts(TaleFacts& facts) const {
  facts.hero = spelling_of(Fact::hero);
  facts.trade = spelling_of(Fact::trade);
  facts.object = spelling_of(Fact::object);
  facts.look = spelling_of(Fact::look);
  facts.home = spelling_of(Fact::home);
  facts.friend_animal = spelling_of(Fact::friend_animal);
  facts.holder = spelling_of(Fact::holder);
  facts.got_object = facts.holder == "hero";
  if (alive_.size() == 1) facts.plot = grammar_.plots()[alive_[0].plot].name;
  for (std::size_t begin = 0; begin < text_.size(); begin = sentence_end(text_, begin) + 1) ++facts.sentences;
  for (std::size_t index = 0; index < fact_count; ++index) {
    const Fact fact = static_cast<Fact>(index);
    if (state_.knows(fact)) facts.all.emplace_back(Grammar::row_of(fact).name, spelling_of(fact));
  }
}

// The scenes of these steps, each once.
std::vector<std::size_t> TaleReader::scenes_of(const std::vector<Position>& positions) const {
  std::vector<std::size_t> scenes;
  for (const Position& position : positions) {
    const std::size_t scene = scene_at(position);
    if (std::find(scenes.begin(), scenes.end(), scene) == scenes.end()) scenes.push_back(scene);
  }
  return scenes;
}

FormMatch TaleReader::best_match(const std::vector<std::size_t>& scenes, std::size_t begin) const {
  FormMatch best;
  best.end = begin;
  for (const std::size_t scene : scenes) {
    for (const Form& form : grammar_.scenes()[scene].forms) {
      FormMatch match = match_form(form, begin);
      if (!match.explains_better(best)) continue;
      best = std::move(match);
      best.scene = scene;
    }
  }
  if (best.end > begin || best.wrong_word) return best;
  best.expected = scenes.empty() ? "the end of the tale" : "a sentence of the scene";
  for (const std::size_t scene : scenes) {
    best.expected += (scene == scenes.front() ? " '" : " or '") + std::string(grammar_.scenes()[scene].name) + "'";
  }
  return best;
}

TaleReading TaleReader::read() {
  TaleReading reading;
  for (std::size_t plot = 0; plot < grammar_.plots().size(); ++plot) alive_.push_back({plot, 0});
  std::size_t begin = 0;
  while (begin < text_.size() || !may_end()) {
    const std::vector<Position> positions = reachable();
    const FormMatch match = best_match(scenes_of(positions), begin);
    if (!match.whole) {
      reading.fault = fault_at(text_, match.fault_begin.value_or(match.end), match.expected, match.expected_words);
      break;
    }
    state_ = match.state;
    reading.mentions.insert(reading.mentions.end(), match.mentions.begin(), match.mentions.end());
    alive_.clear();
    for (const Position& position : positions) {
      if (scene_at(position) == match.scene) alive_.push_back({position.plot, position.step + 1});
    }
    begin = match.end;
    if (begin == text_.size()) continue;
    if (text_[begin] != ' ') {
      reading.fault = fault_at(text_, begin, "a space");
      break;
    }
    ++begin;
  }
  take_facts(reading.facts);
  return reading;
}

}  // namespace

TaleReading read_tale(std::string_view text) {
  // Mentions are counted from the beginning of the text as it was given.
  std::size_t skipped = 0;
  while (skipped < text.size() && is_space(text[skipped])) ++skipped;
  while (text.size() > skipped && is_space(text.back())) text.remove_suffix(1);
  TaleReading reading = TaleReader(text.substr(skipped)).read();
  for (TaleMention& mention : reading.mentions) mention.begin += skipped;
  return reading;
}

Result<TaleFacts> check_tale(std::string_view text) {
  TaleReading reading = read_tale(text);
  if (!reading.fault) return std::move(reading.facts);
  const TaleFault& fault = *reading.fault;
  return Error::of(ErrorCode::corrupt, "sentence ", fault.sentence, ": expected ", fault.expected, ", found ",
                   fault.found, " in \"", fault.sentence_text, "\"");
}

}  // namespace ingot
