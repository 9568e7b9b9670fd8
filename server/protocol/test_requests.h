// For tests: bodies from JSON text, and what was made of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "model/tokenizer/test_vocabularies.h"
#include "model/tokenizer/tokenizer.h"
#include "server/protocol/body.h"
#include "server/protocol/served_model.h"
#include "server/protocol/value_text.h"

namespace ingot::protocol {

constexpr ServedModel test_model = {.vocabulary = 300, .embedding_width = 4};

// Precondition: it is JSON.
inline chat::Value json_value(std::string_view json) {
  Outcome<chat::Value> read = read_json(json);
  EXPECT_TRUE(read.ok()) << json.substr(0, 1000) << ": " << read.error().message;
  return read.ok() ? std::move(read).value() : chat::Value();
}

inline chat::Dictionary json_object(std::string_view json) {
  const chat::Value value = json_value(json);
  EXPECT_TRUE(value.is(chat::Kind::dictionary)) << json.substr(0, 1000);
  return value.is(chat::Kind::dictionary) ? value.as_dictionary() : chat::Dictionary();
}

// The value at a path through objects and lists, as JSON: "choices.0.message". "absent" where there is none.
inline std::string at(const chat::Value& root, std::string_view path) {
  const chat::Value* value = &root;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string name(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (value->is(chat::Kind::dictionary)) {
      value = value->as_dictionary().find(name);
    } else {
      const std::size_t index = value->is(chat::Kind::sequence) ? std::stoul(name) : 0;
      value = value->is(chat::Kind::sequence) && index < value->items().size() ? &value->items()[index] : nullptr;
    }
    if (value == nullptr) return "absent";
  }
  return json_of(*value);
}

// All 256 bytes, some words, and one special token: <|end|>, the last.
inline Tokenizer test_tokenizer() {
  TokenizerDescription description = byte_level_example();
  add_special(description, "<|end|>");
  return std::move(Tokenizer::create(std::move(description))).value();
}

}  // namespace ingot::protocol
