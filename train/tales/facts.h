// What tales tell: each fact is a word of a class.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "train/tales/lexicon.h"

namespace ingot {

// What a tale tells and later sentences must keep to.
enum class Fact : std::uint8_t {
  hero,
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
  friend_animal,
  manner,
  seat,
  quest,
  spot,
  sight,
  obstacle,
  bag,
  wish,
  touch,
  perch,
  seller,
  task,
  number,
  stuff,
  fastening,
  joy,
  here,    // where the tale has come to
  holder,  // who has the wanted object
  count
};
inline constexpr std::size_t fact_count = static_cast<std::size_t>(Fact::count);

struct FactRow {
  std::string_view name;  // as forms spell it
  WordClassId word_class;
  std::string_view meaning;  // as errors spell it
};
std::span<const FactRow> fact_rows();

}  // namespace ingot
