#include "train/tales/grammar.h"

#include <algorithm>
#include <limits>

namespace ingot {
namespace {

Result<Fact> fact_named(std::string_view name) {
  for (std::size_t index = 0; index < fact_count; ++index) {
    if (fact_rows()[index].name == name) return static_cast<Fact>(index);
  }
  return Error::of(ErrorCode::not_found, "expected a fact, found '", name, "'");
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Whether a word after this text begins a sentence: at the start, after an end mark, after an opening quotation mark.
// After a closing one only a full stop ends the sentence: "Look!" she said.
bool begins_sentence(std::string_view before) {
  if (before.empty() || before == "\"") return true;
  for (const std::string_view end : {". ", "! ", "? ", ".\" ", " \""}) {
    if (before.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

const WordClass& Grammar::words_of(Fact fact) const {
  return lexicon_[static_cast<std::size_t>(row_of(fact).word_class)];
}

Result<std::vector<FactChange>> Grammar::compile_changes(std::string_view text) const {
  std::vector<FactChange> changes;
  for (const std::string_view change : words_in(text)) {
    const std::size_t equals = change.find('=');
    if (equals == std::string_view::npos) {
      return Error::of(ErrorCode::invalid_argument, "expected FACT=WORD, found '", change, "'");
    }
    const Fact fact = TRY(fact_named(change.substr(0, equals)));
    const std::string_view name = change.substr(equals + 1);
    changes.push_back({fact, unknown_word});
    if (!name.empty()) changes.back().word = TRY(word_named(fact, name));
  }
  return changes;
}

Result<WordIndex> Grammar::word_named(Fact fact, std::string_view name) const {
  const std::vector<Word>& words = words_of(fact).words;
  for (std::size_t index = 0; index < words.size(); ++index) {
    if (words[index].spellings[0] == name) return static_cast<WordIndex>(index);
  }
  return Error::of(ErrorCode::not_found, row_of(fact).name, ": expected one of ", words.size(), " words (such as ",
                   words[0].spellings[0], ", ", words[1].spellings[0], "), found '", name.substr(0, 60), "'");
}

std::size_t Grammar::phrase_list(WordClassId word_class, std::size_t column, bool article, bool capital) {
  for (std::size_t index = 0; index < phrases_.size(); ++index) {
    const PhraseList& list = phrases_[index];
    if (list.word_class == word_class && list.column == column && list.article == article && list.capital == capital) {
      return index;
    }
  }
  PhraseList list{word_class, column, article, capital, {}};
  for (const Word& word : lexicon_[static_cast<std::size_t>(word_class)].words) {
    std::string spelling = word.spellings[column];
    if (article) {
      const bool vowel = std::string_view("aeiou").find(spelling[0]) != std::string_view::npos;
      spelling.insert(0, vowel ? "an " : "a ");
    }
    if (capital && spelling[0] >= 'a' && spelling[0] <= 'z') spelling[0] = static_cast<char>(spelling[0] - 'a' + 'A');
    list.spellings.push_back(std::move(spelling));
  }
  phrases_.push_back(std::move(list));
  return phrases_.size() - 1;
}

Result<FormPiece> Grammar::compile_slot(std::string_view slot, bool capital) {
  const bool article = slot.starts_with("a:");
  if (article) slot.remove_prefix(2);
  const bool recalls = slot.ends_with('!');
  if (recalls) slot.remove_suffix(1);
  const std::size_t dot = slot.find('.');
  const std::string_view column_name = dot == std::string_view::npos ? "word" : slot.substr(dot + 1);
  FormPiece piece;
  piece.has_slot = true;
  piece.fact = TRY(fact_named(slot.substr(0, dot)));
  const std::vector<WordColumn>& columns = words_of(piece.fact).columns;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (columns[column].name != column_name) continue;
    piece.introduces = columns[column].introduces && !recalls;
    piece.phrases = phrase_list(row_of(piece.fact).word_class, column, article, capital);
    return piece;
  }
  return Error::of(ErrorCode::not_found, "expected a column of ", words_of(piece.fact).name, ", found '", column_name,
                   "'");
}

Result<Form> Grammar::compile_form(const FormRow& row) {
  Form form;
  form.text = row.text;
  form.makes = TRY(compile_changes(row.makes));
  form.needs = TRY(compile_changes(row.needs));
  std::size_t position = 0;
  for (std::size_t open; (open = row.text.find('{', position)) != std::string_view::npos;) {
    const std::size_t close = row.text.find('}', open);
    if (close == std::string_view::npos) {
      return Error::of(ErrorCode::invalid_argument, "expected a } in '", row.text, "', found its end");
    }
    FormPiece piece =
        TRY(compile_slot(row.text.substr(open + 1, close - open - 1), begins_sentence(row.text.substr(0, open))));
    piece.literal = row.text.substr(position, open - position);
    form.pieces.push_back(std::move(piece));
    position = close + 1;
  }
  if (position < row.text.size()) form.pieces.emplace_back().literal = row.text.substr(position);
  return form;
}

Result<void> Grammar::add_steps(Plot& plot, std::string_view scenes) const {
  for (const std::string_view step : words_in(scenes)) {
    const std::size_t mark = step.find('?');
    int chance = 100;
    if (mark != std::string_view::npos) {
      chance = 0;
      for (const char digit : step.substr(mark + 1)) chance = chance * 10 + (digit - '0');
    }
    std::size_t scene = 0;
    while (scene < scenes_.size() && scenes_[scene].name != step.substr(0, mark)) ++scene;
    if (scene == scenes_.size()) return Error::of(ErrorCode::not_found, "expected a scene, found '", step, "'");
    plot.steps.push_back({scene, chance});
  }
  return {};
}

Result<Grammar> Grammar::compile() {
  Grammar grammar;
  grammar.lexicon_ = make_lexicon();
  for (const WordClass& words : grammar.lexicon_) {
    if (words.words.size() > static_cast<std::size_t>(std::numeric_limits<WordIndex>::max())) {
      return Error::of(ErrorCode::overflow, "expected at most 127 words of class ", words.name);
    }
    for (const Word& word : words.words) {
      if (word.spellings.size() == words.columns.size()) continue;
      return Error::of(ErrorCode::invalid_argument, "expected ", words.columns.size(), " columns for '",
                       word.spellings[0], "', found ", word.spellings.size());
    }
  }
  for (const SceneRow& row : scene_rows()) {
    Scene scene{row.name, {}};
    for (const FormRow& form : row.forms) scene.forms.push_back(TRY(grammar.compile_form(form)));
    grammar.scenes_.push_back(std::move(scene));
  }
  for (const PlotRow& row : plot_rows()) {
    Plot plot{row.name, {}};
    TRY(grammar.add_steps(plot, opening_scenes));
    grammar.opening_length_ = plot.steps.size();
    for (const std::string_view scenes : {prelude_scenes, row.scenes, closing_scenes}) {
      TRY(grammar.add_steps(plot, scenes));
    }
    grammar.plots_.push_back(std::move(plot));
  }
  return grammar;
}

bool Grammar::holds(const TaleState& state, const std::vector<FactChange>& needs) {
  return std::ranges::all_of(needs, [&](const FactChange& need) { return state[need.fact] == need.word; });
}

void Grammar::apply(TaleState& state, const std::vector<FactChange>& makes) {
  for (const FactChange& change : makes) state[change.fact] = change.word;
}

const Grammar& tale_grammar() {
  // The tables are constants, so a failure is one of the build's and not of a run: the grammar's test shows its text.
  static const Grammar grammar = [] { return std::move(Grammar::compile()).value(); }();
  return grammar;
}

}  // namespace ingot
