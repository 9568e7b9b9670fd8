#include "server/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

#include "server/test_embedder.h"

namespace ingot {
namespace {

TEST(Fingerprint, IsThatOfEqualServersAndOfNoOthers) {
  const auto model = Model::open_default().value();
  const std::string usual = fingerprint_of(*model, {}, "template", "1.0");
  EXPECT_EQ(usual.size(), std::string("ingot-1a2b3c4d").size());
  EXPECT_EQ(fingerprint_of(*Model::open_default().value(), {.threads = 3}, "template", "1.0"), usual);
  const std::set<std::string> all = {
      usual,
      fingerprint_of(*model, {}, "template", "1.1"),
      fingerprint_of(*model, {}, "another", "1.0"),
      fingerprint_of(*model, {.cache = DType::f32}, "template", "1.0"),
      fingerprint_of(*model, {.deterministic = true}, "template", "1.0"),
      fingerprint_of(*open_embedder(), {}, "template", "1.0"),
  };
  EXPECT_EQ(all.size(), 6u);
}

}  // namespace
}  // namespace ingot
