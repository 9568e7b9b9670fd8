// The words of the tales, by class. A word has several spellings, one a column: a name has its pronouns, a task its
// past. Whatever is said about it later is then settled by its first mention.
//
// No word belongs to two classes, so that a later mention names its class as well: "the sleepy badger" can only be the
// friend. And classes are large, because a tale is as much its own as its words are many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

enum class WordClassId : std::uint8_t {
  name,
  trade,
  nature,
  home,
  house,
  family,
  object,
  look,
  mood,
  weather,
  time,
  clothes,
  food,
  animal,
  manner,
  seat,
  wild,
  spot,
  sight,
  obstacle,
  bag,
  treasure,
  touch,
  perch,
  seller,
  task,
  number,
  stuff,
  fastening,
  joy,
  whereabouts,
  holder,
  count
};

struct Word {
  std::vector<std::string> spellings;  // one a column
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
