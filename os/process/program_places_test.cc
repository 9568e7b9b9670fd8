#include "os/process/program_places.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

TEST(ProgramPlaces, AreDrawnFrom28BitsInStepsOfAPage) {
  const ProgramPlace& place = program_places::program;
  EXPECT_EQ(place.draw(0), place.begin);
  EXPECT_EQ(place.draw(1), place.begin + page_bytes);
  EXPECT_EQ(place.draw(~std::uint64_t{0}), place.begin + ((std::uint64_t{1} << 28) - 1) * page_bytes);
  EXPECT_EQ(place.draw(std::uint64_t{1} << 28), place.begin);
}

TEST(ProgramPlaces, DoNotMeetAndLieInTheProgramsHalf) {
  constexpr std::uint64_t largest_part = std::uint64_t{1} << 39;
  using namespace program_places;
  for (const auto& [below, above] :
       {std::pair(program, mappings), std::pair(mappings, interpreter), std::pair(interpreter, first_stack)}) {
    EXPECT_LE(below.end(), above.begin);
  }
  EXPECT_LE(first_stack.end() + largest_part, user_memory_end);
  // What is mapped from the highest place on still finds as much as a machine has before it meets anything.
  EXPECT_GE(interpreter.begin - mappings.end(), std::uint64_t{1} << 40);
}

}  // namespace
}  // namespace ingot::os
