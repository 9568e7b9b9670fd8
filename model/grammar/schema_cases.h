// Cases of JSON Schema, for tests: what a schema takes and what it refuses.
#pragma once

#include <gtest/gtest.h>

#include "model/grammar/json_schema.h"
#include "model/grammar/test_grammars.h"

namespace ingot::grammar {

// Texts that a schema takes, and texts that it does not.
struct SchemaCase {
  std::string schema;
  std::vector<std::string_view> taken, refused;
};

inline void check(const SchemaCase& one) {
  auto grammar = compile_json_schema(one.schema, {}, unhurried);
  ASSERT_TRUE(grammar.ok()) << one.schema << ": " << grammar.error().text();
  for (const std::string_view text : one.taken) EXPECT_TRUE(takes(grammar.value(), text)) << one.schema << " " << text;
  for (const std::string_view text : one.refused) {
    EXPECT_FALSE(takes(grammar.value(), text)) << one.schema << " " << text;
  }
}

}  // namespace ingot::grammar
