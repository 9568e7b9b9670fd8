// OpenAI's own schema: whatever field it has, a reader knows what to do with it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "server/protocol/chat_request.h"
#include "server/protocol/completion_request.h"
#include "server/protocol/embedding_request.h"
#include "server/protocol/responses_request.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

// The names of a schema's properties, those of the schemas that it refers to included.
void collect_fields(const chat::Dictionary& schemas, const chat::Value& schema, std::vector<std::string>& names) {
  if (!schema.is(chat::Kind::dictionary)) return;
  const chat::Dictionary& object = schema.as_dictionary();
  if (const chat::Value* properties = object.find("properties")) {
    for (const chat::Dictionary::Entry& entry : properties->as_dictionary().entries()) {
      if (std::ranges::find(names, entry.key.bytes()) == names.end()) names.push_back(entry.key.bytes());
    }
  }
  if (const chat::Value* parts = object.find("allOf")) {
    for (const chat::Value& part : parts->items()) collect_fields(schemas, part, names);
  }
  if (const chat::Value* reference = object.find("$ref")) {
    const std::string& path = reference->bytes();
    const chat::Value* found = schemas.find(path.substr(path.rfind('/') + 1));
    ASSERT_NE(found, nullptr) << path;
    collect_fields(schemas, *found, names);
  }
}

void print_uses(std::string_view title, const std::vector<std::string>& names, const std::vector<KnownField>& known) {
  constexpr std::pair<FieldUse, const char*> uses[] = {
      {FieldUse::honoured, "honoured"}, {FieldUse::harmless, "harmless"}, {FieldUse::refused, "refused"}};
  for (const auto& [use, use_name] : uses) {
    std::string list;
    for (const std::string& name : names) {
      const auto field = std::ranges::find(known, std::string_view(name), &KnownField::name);
      if (field != known.end() && field->use == use) list += " " + name;
    }
    std::printf("%s, %s:%s\n", std::string(title).c_str(), use_name, list.c_str());
  }
}

TEST(OpenApi, HasNoFieldThatAReaderDoesNotKnow) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  const std::filesystem::path path = std::filesystem::path(root == nullptr ? "" : root) / "openapi/openapi.json";
  if (root == nullptr || !std::filesystem::exists(path)) {
    GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no openapi/openapi.json";
  }
  std::ifstream file(path, std::ios::binary);
  std::string json{std::istreambuf_iterator<char>(file), {}};
  // The bounds of a seed, which no 64 bits hold.
  constexpr std::string_view bound = "9223372036854776000";
  for (std::size_t place; (place = json.find(bound)) != std::string::npos;) json.replace(place, bound.size(), "0");
  const chat::Dictionary document = json_object(json);
  const chat::Dictionary& schemas = document.find("components")->as_dictionary().find("schemas")->as_dictionary();
  const struct {
    std::string_view schema;
    std::vector<KnownField> known;
    std::size_t least;
  } requests[] = {{"CreateChatCompletionRequest", fields_of_chat_requests(), 30},
                  {"CreateResponse", fields_of_responses_requests(), 30},
                  {"CreateCompletionRequest", fields_of_completion_requests(), 15},
                  {"CreateEmbeddingRequest", fields_of_embedding_requests(), 5}};
  for (const auto& request : requests) {
    const chat::Value* schema = schemas.find(request.schema);
    ASSERT_NE(schema, nullptr) << request.schema;
    std::vector<std::string> names;
    collect_fields(schemas, *schema, names);
    EXPECT_GE(names.size(), request.least) << request.schema;
    for (const std::string& name : names) {
      EXPECT_NE(std::ranges::find(request.known, std::string_view(name), &KnownField::name), request.known.end())
          << request.schema << " has " << name << ", which its reader does not know";
    }
    print_uses(request.schema, names, request.known);
  }
}

}  // namespace
}  // namespace ingot::protocol
