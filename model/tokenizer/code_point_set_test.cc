#include "model/tokenizer/code_point_set.h"

#include <gtest/gtest.h>

#include "model/tokenizer/byte_alphabet.h"

namespace ingot {
namespace {

TEST(CodePointSet, UnionComplementAndIntersection) {
  const CodePointSet letters = *CodePointSet::of_property("L");
  const CodePointSet han = *CodePointSet::of_property("Han");
  EXPECT_TRUE(letters.contains('x') && letters.contains(0x6211) && !letters.contains('1'));
  const CodePointSet both = letters.intersected(han.complement());
  EXPECT_TRUE(both.contains('x') && !both.contains(0x6211));
  EXPECT_TRUE(han.united(CodePointSet({{'x', 'z'}})).contains('y'));
  EXPECT_FALSE(CodePointSet::all().complement().contains(0));
  EXPECT_FALSE(CodePointSet::of_property("Klingon").has_value());
}

TEST(ByteAlphabet, EveryByteHasItsOwnLetter) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(bytes_of_spelled(spelled_bytes(all)), all);
  EXPECT_EQ(spelled_bytes(" \n"), "\xc4\xa0\xc4\x8a");
  EXPECT_FALSE(bytes_of_spelled("\xe2\x96\x81").has_value());
}

}  // namespace
}  // namespace ingot
