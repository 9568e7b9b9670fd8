// What can be told, and in which order. A scene is a choice of sentence forms; a plot is a sequence of scenes. This is
// the only description of the tales: one reader writes by it, another checks by it.
#pragma once

#include <span>
#include <string_view>

namespace ingot {

// A slot is {fact}, {fact.column}, {a:fact} with its article, or {fact!} for one that must have been mentioned before.
// Slots take a capital letter where a sentence begins.
struct FormRow {
  std::string_view text;
  std::string_view makes = {};  // "here=quest holder=hero": what becomes of facts afterwards; "here=" forgets
  std::string_view needs = {};  // "holder=hero": what must hold before
};

struct SceneRow {
  std::string_view name;  // as plots and errors spell it
  std::span<const FormRow> forms;
};
std::span<const SceneRow> scene_rows();

// Scenes by name, in order; "name?40" is told in 40 of 100 tales.
struct PlotRow {
  std::string_view name;
  std::string_view scenes;
};
// Around every plot; the opening tells hero, home and wanted object.
inline constexpr std::string_view opening_scenes = "hero home want";
inline constexpr std::string_view prelude_scenes = "longing?20 day";
inline constexpr std::string_view closing_scenes = "joy?40 thanks?12 together?15 return?55 evening?12 ending";
std::span<const PlotRow> plot_rows();

}  // namespace ingot
