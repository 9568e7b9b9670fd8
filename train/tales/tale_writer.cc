#include "train/tales/tale_writer.h"

#include <algorithm>

namespace ingot {
namespace {

// Nothing that may be left out is told beyond so many characters, and a tale of more words is told anew: a small
// model's context holds a few hundred tokens.
constexpr std::size_t roomy_length = 540;
constexpr std::size_t most_words = 150;

// Appends the form's sentence; leaves everything as it was where the form cannot be told now.
bool tell_form(const Grammar& grammar, const Form& form, TaleState& state, std::string& text, RandomNumbers& random) {
  if (!Grammar::holds(state, form.needs)) return false;
  TaleState told = state;
  const std::size_t length = text.size();
  if (!text.empty()) text += ' ';
  for (const FormPiece& piece : form.pieces) {
    text += piece.literal;
    if (!piece.has_slot) continue;
    if (!told.knows(piece.fact)) {
      if (!piece.introduces) {
        text.resize(length);
        return false;
      }
      told[piece.fact] = static_cast<WordIndex>(random.below(grammar.words_of(piece.fact).words.size()));
    }
    text += grammar.phrases_of(piece)[static_cast<std::size_t>(told[piece.fact])];
  }
  Grammar::apply(told, form.makes);
  state = told;
  return true;
}

bool tell_scene(const Grammar& grammar, const Scene& scene, TaleState& state, std::string& text,
                RandomNumbers& random) {
  std::vector<const Form*> untried;
  for (const Form& form : scene.forms) untried.push_back(&form);
  while (!untried.empty()) {
    const std::size_t chosen = random.below(untried.size());
    if (tell_form(grammar, *untried[chosen], state, text, random)) return true;
    untried[chosen] = untried.back();
    untried.pop_back();
  }
  return false;
}

// False where the tale becomes too long.
bool tell_plot(const Grammar& grammar, const Plot& plot, std::size_t steps, TaleState state, std::string& text,
               RandomNumbers& random) {
  text.clear();
  for (const PlotStep& step : std::span(plot.steps).first(steps)) {
    if (step.optional() && random.below(100) >= static_cast<std::uint64_t>(step.chance)) continue;
    if (step.optional() && text.size() > roomy_length) continue;
    if (!tell_scene(grammar, grammar.scenes()[step.scene], state, text, random) && !step.optional()) return false;
  }
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) < most_words;
}

}  // namespace

bool is_held_out(std::string_view hero, std::string_view object, std::string_view home) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::string_view name : {hero, object, home}) {
    for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
    hash = (hash ^ '|') * 0x100000001b3u;
  }
  return RandomNumbers(hash).next() % 10 == 0;
}

TaleState TaleWriter::draw_start() {
  const Grammar& grammar = tale_grammar();
  // Drawn before anything is told, so that every triple is as frequent as every other.
  while (true) {
    TaleState state;
    const auto draw = [&](Fact fact) {
      state[fact] = static_cast<WordIndex>(random_.below(grammar.words_of(fact).words.size()));
      return std::string_view(grammar.words_of(fact).words[static_cast<std::size_t>(state[fact])].spellings[0]);
    };
    const std::string_view hero = draw(Fact::hero);
    const std::string_view object = draw(Fact::object);
    const std::string_view home = draw(Fact::home);
    if (held_out_ == HeldOut::ignore || is_held_out(hero, object, home) == (held_out_ == HeldOut::only)) return state;
  }
}

std::string TaleWriter::next() {
  const Grammar& grammar = tale_grammar();
  const TaleState start = draw_start();
  std::string text;
  while (true) {
    const Plot& plot = grammar.plots()[random_.below(grammar.plots().size())];
    if (tell_plot(grammar, plot, plot.steps.size(), start, text, random_)) return text;
  }
}

std::string TaleWriter::next_opening() {
  const Grammar& grammar = tale_grammar();
  std::string text;
  tell_plot(grammar, grammar.plots()[0], grammar.opening_length(), draw_start(), text, random_);
  return text;
}

Result<std::string> tale_opening(std::string_view hero, std::string_view object, std::string_view home,
                                 RandomNumbers& random) {
  const Grammar& grammar = tale_grammar();
  TaleState start;
  start[Fact::hero] = TRY(grammar.word_named(Fact::hero, hero));
  start[Fact::object] = TRY(grammar.word_named(Fact::object, object));
  start[Fact::home] = TRY(grammar.word_named(Fact::home, home));
  std::string text;
  tell_plot(grammar, grammar.plots()[0], grammar.opening_length(), start, text, random);
  return text;
}

}  // namespace ingot
