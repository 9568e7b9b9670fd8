// The words of the tales, by class. A word has several spellings, one a column: a name has its pronouns, a place has
// what stands before it and what can be seen there. Whatever is said about it later is then settled by its first
// mention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

enum class WordClassId : std::uint8_t {
  name,
  kind,
  trait,
  place,
  house,
  family,
  object,
  property,
  treasure,
  mood,
  weather,
  time,
  clothes,
  food,
  obstacle,
  spot,
  bag,
  perch,
  seller,
  task,
  number,
  material,
  joy,
  count
};

// Two words fit each other where they share a group of the kind that a link of the grammar asks for.
namespace word_group {
inline constexpr std::uint32_t female = 1, male = 2;
inline constexpr std::uint32_t gender = female | male;

inline constexpr std::uint32_t coloured = 1, shining = 2, soft = 4, patterned = 8, wooden = 16;
inline constexpr std::uint32_t property = coloured | shining | soft | patterned | wooden;

inline constexpr std::uint32_t paper = 1 << 8, string = 1 << 9, wood = 1 << 10, wool = 1 << 11, cloth = 1 << 12;
inline constexpr std::uint32_t clay = 1 << 13, straw = 1 << 14, wire = 1 << 15, leather = 1 << 16;
inline constexpr std::uint32_t material = paper | string | wood | wool | cloth | clay | straw | wire | leather;

inline constexpr std::uint32_t mild = 1, frozen = 2;
inline constexpr std::uint32_t season = mild | frozen;
}  // namespace word_group

struct Word {
  std::vector<std::string> spellings;  // one a column
  std::uint32_t groups;
};

struct WordColumn {
  std::string_view name;
  bool introduces;  // tells which word it is, so that a first mention may use it
};

struct WordClass {
  std::string_view name;
  std::vector<WordColumn> columns;
  std::vector<Word> words;
};

// By WordClassId.
std::vector<WordClass> make_lexicon();

}  // namespace ingot
