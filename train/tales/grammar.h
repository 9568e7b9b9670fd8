// The scenes and words, compiled for reading: forms as literals and slots, plots as steps.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/tales/facts.h"
#include "train/tales/scenes.h"

namespace ingot {

// A word of a fact's class, by its index; unknown until the tale mentions it.
using WordIndex = std::int8_t;
inline constexpr WordIndex unknown_word = -1;

class TaleState {
 public:
  TaleState() { words_.fill(unknown_word); }
  WordIndex operator[](Fact fact) const { return words_[static_cast<std::size_t>(fact)]; }
  WordIndex& operator[](Fact fact) { return words_[static_cast<std::size_t>(fact)]; }
  bool knows(Fact fact) const { return (*this)[fact] != unknown_word; }

 private:
  std::array<WordIndex, fact_count> words_;
};

struct FormPiece {
  std::string literal;  // before the slot, or all there is
  bool has_slot = false;
  Fact fact = Fact::count;
  bool introduces = false;  // may be the fact's first mention
  std::size_t phrases = 0;  // which phrase list
};

// A fact that no slot tells: where the tale has come to, who has the object.
struct FactChange {
  Fact fact;
  WordIndex word;  // or unknown_word
};

struct Form {
  std::string_view text;  // as the table spells it
  std::vector<FormPiece> pieces;
  std::vector<FactChange> makes;
  std::vector<FactChange> needs;
};

struct Scene {
  std::string_view name;
  std::vector<Form> forms;
};

struct PlotStep {
  std::size_t scene;
  int chance;  // of 100
  bool optional() const { return chance < 100; }
};

struct Plot {
  std::string_view name;
  std::vector<PlotStep> steps;
};

class Grammar {
 public:
  // Fails where the tables contradict themselves, and says where.
  static Result<Grammar> compile();

  const std::vector<Scene>& scenes() const { return scenes_; }
  const std::vector<Plot>& plots() const { return plots_; }
  std::size_t opening_length() const { return opening_length_; }
  const WordClass& words_of(Fact fact) const;
  static const FactRow& row_of(Fact fact) { return fact_rows()[static_cast<std::size_t>(fact)]; }
  // How a slot spells each word of its class, article and capital letter included.
  const std::vector<std::string>& phrases_of(const FormPiece& piece) const { return phrases_[piece.phrases].spellings; }

  // By its first spelling.
  Result<WordIndex> word_named(Fact fact, std::string_view name) const;

  static bool holds(const TaleState& state, const std::vector<FactChange>& needs);
  static void apply(TaleState& state, const std::vector<FactChange>& makes);

 private:
  struct PhraseList {
    WordClassId word_class;
    std::size_t column;
    bool article;
    bool capital;
    std::vector<std::string> spellings;
  };

  Grammar() = default;
  Result<std::vector<FactChange>> compile_changes(std::string_view text) const;
  Result<Form> compile_form(const FormRow& row);
  Result<FormPiece> compile_slot(std::string_view slot, bool capital);
  std::size_t phrase_list(WordClassId word_class, std::size_t column, bool article, bool capital);
  Result<void> add_steps(Plot& plot, std::string_view scenes) const;

  std::vector<WordClass> lexicon_;
  std::vector<Scene> scenes_;
  std::vector<Plot> plots_;
  std::vector<PhraseList> phrases_;
  std::size_t opening_length_ = 0;
};

// The one grammar, compiled on first use and never changed.
const Grammar& tale_grammar();

}  // namespace ingot
