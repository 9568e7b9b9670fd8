// What tales tell: each fact is a word of a class, and some words fit each other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "train/tales/lexicon.h"

namespace ingot {

// What a tale tells and later sentences must keep to.
enum class Fact : std::uint8_t {
  hero,
  kind,
  trait,
  home,
  house,
  family,
  object,
  property,
  mood,
  weather,
  time,
  clothes,
  food,
  friend_name,
  friend_kind,
  friend_mood,
  quest,
  spot,
  obstacle,
  bag,
  wish,
  wish_property,
  perch,
  seller,
  task,
  number,
  material,
  second_material,
  joy,
  here,    // the place the tale has come to
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

// Between two facts that are both known. groups 0: they are different words; otherwise: they share one of these groups.
struct FactLink {
  Fact first;
  Fact second;
  std::uint32_t groups;
};
std::span<const FactLink> fact_links();

}  // namespace ingot
