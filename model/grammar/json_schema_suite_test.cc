// JSON-Schema-Test-Suite, from outside of the tree: no invalid instance is taken, whatever the order of its properties;
// valid ones are, in one order; schemas that are refused are refused by a keyword.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/files/test_files.h"
#include "model/grammar/json_schema.h"
#include "model/grammar/schema/schema_document.h"
#include "model/grammar/test_grammars.h"

namespace ingot::grammar {
namespace {

using chat::Value;

constexpr std::size_t most_orders = 720;

// The JSON of a value in every order of its properties, up to a bound.
std::vector<std::string> orders_of(const Value& value) {
  std::vector<std::string> texts;
  if (value.is_list()) {
    texts = {"["};
    for (const Value& item : value.items()) {
      std::vector<std::string> longer;
      for (const std::string& text : texts) {
        for (const std::string& end : orders_of(item)) {
          if (longer.size() == most_orders) continue;
          longer.push_back(text);
          longer.back().append(text.size() > 1 ? ", " : "").append(end);
        }
      }
      texts = std::move(longer);
    }
    for (std::string& text : texts) text += "]";
    return texts;
  }
  if (!value.is(chat::Kind::dictionary)) return {canonical_json(value)};
  std::vector<std::size_t> order(value.as_dictionary().size());
  for (std::size_t index = 0; index < order.size(); ++index) order[index] = index;
  do {
    std::vector<std::string> begun{"{"};
    for (const std::size_t index : order) {
      const auto& entry = value.as_dictionary().entries()[index];
      std::vector<std::string> longer;
      for (const std::string& text : begun) {
        for (const std::string& end : orders_of(entry.value)) {
          const std::string key = (text.size() > 1 ? ", " : "") + canonical_json(entry.key) + ": ";
          if (longer.size() == most_orders) continue;
          longer.push_back(text);
          longer.back().append(key).append(end);
        }
      }
      begun = std::move(longer);
    }
    for (const std::string& text : begun) texts.push_back(text + "}");
  } while (texts.size() < most_orders && std::ranges::next_permutation(order).found);
  return texts;
}

// As it is written in the file: the order of properties is the schema's.
std::string json_in_order(const Value& value) {
  std::string text;
  if (value.is_list()) {
    for (const Value& item : value.items()) text += (text.empty() ? "" : ",") + json_in_order(item);
    return "[" + text + "]";
  }
  if (!value.is(chat::Kind::dictionary)) return canonical_json(value);
  for (const auto& entry : value.as_dictionary().entries()) {
    text += (text.empty() ? "" : ",") + canonical_json(entry.key) + ":" + json_in_order(entry.value);
  }
  return "{" + text + "}";
}

struct SuiteCounts {
  int groups = 0, supported = 0, supported_in_order = 0, refused = 0;
  int valid = 0, valid_taken = 0, valid_in_order = 0, invalid = 0, invalid_taken = 0;
  std::map<std::string, int> refusals;
};

void check_group(const Value& group, const std::string& file, SuiteCounts& counts) {
  ++counts.groups;
  const auto& entries = group.as_dictionary();
  const std::string schema = json_in_order(*entries.find("schema"));
  const auto grammar = compile_json_schema(schema, {}, unhurried);
  const bool is_impossible =
      !grammar.ok() && grammar.error().text().find("some text satisfies") != std::string_view::npos;
  if (!grammar.ok() && !is_impossible) {
    ++counts.refused;
    const std::string text(grammar.error().text());
    // "schema, 'keyword' at ...".
    const std::size_t begin = text.find('\'');
    const std::size_t end = text.find('\'', begin + 1);
    EXPECT_TRUE(text.find("schema, '") != std::string::npos ||
                text.find("whole numbers of 64 bits") != std::string::npos)
        << file << ": " << text;
    ++counts.refusals[end == std::string::npos ? text : text.substr(begin + 1, end - begin - 1)];
    return;
  }
  bool is_supported = true, is_in_order = true;
  for (const Value& test : entries.find("tests")->items()) {
    const auto& fields = test.as_dictionary();
    const bool is_valid = fields.find("valid")->as_boolean();
    std::string taken;
    for (const std::string& text : orders_of(*fields.find("data"))) {
      if (grammar.ok() && takes(grammar.value(), text)) taken = text;
    }
    ++(is_valid ? counts.valid : counts.invalid);
    if (is_valid && !taken.empty()) {
      ++counts.valid_taken;
      const bool is_taken_as_written = takes(grammar.value(), json_in_order(*fields.find("data")));
      if (is_taken_as_written) ++counts.valid_in_order;
      is_in_order = is_in_order && is_taken_as_written;
    }
    if (!is_valid && !taken.empty()) ++counts.invalid_taken;
    EXPECT_TRUE(is_valid || taken.empty()) << file << ": " << schema << " takes " << taken;
    if (is_valid && taken.empty()) {
      is_supported = false;
      std::printf("  narrower: %s: %s refuses %s\n", file.c_str(), schema.substr(0, 120).c_str(),
                  canonical_json(*fields.find("data")).substr(0, 80).c_str());
    }
  }
  if (is_supported) ++counts.supported;
  if (is_supported && is_in_order) ++counts.supported_in_order;
}

void check_folder(const std::filesystem::path& folder, SuiteCounts& counts) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    const auto groups = chat::value_from_json(json);
    if (!groups.ok()) {
      std::printf("  not read: %s: %s\n", path.filename().c_str(), std::string(groups.error().text()).c_str());
      continue;
    }
    for (const Value& group : groups.value().items()) check_group(group, path.filename().string(), counts);
  }
}

void print(const char* name, const SuiteCounts& counts) {
  std::printf("%s: %d groups, %d supported (%d of them but for the order of properties), %d refused by keyword\n", name,
              counts.groups, counts.supported, counts.supported - counts.supported_in_order, counts.refused);
  std::printf("  valid %d of %d taken (%d of them in another order alone), invalid %d of %d\n", counts.valid_taken,
              counts.valid, counts.valid_taken - counts.valid_in_order, counts.invalid_taken, counts.invalid);
  for (const auto& [keyword, count] : counts.refusals) std::printf("  refused %d: %s\n", count, keyword.c_str());
}

TEST(JsonSchemaSuite, NoInvalidInstanceIsTaken) {
  const auto folder = outside_data("json-schema");
  if (!folder.has_value()) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no json-schema";
  SuiteCounts required, optional;
  check_folder(*folder + "/draft2020-12", required);
  check_folder(*folder + "/draft2020-12/optional", optional);
  check_folder(*folder + "/draft2020-12/optional/format", optional);
  print("required", required);
  print("optional", optional);
  EXPECT_GE(required.supported_in_order * 100, required.groups * 45);
  EXPECT_EQ(required.invalid_taken + optional.invalid_taken, 0);
}

}  // namespace
}  // namespace ingot::grammar
