#include "server/query.h"

#include <gtest/gtest.h>

#include <array>

namespace ingot {
namespace {

constexpr std::array<std::string_view, 2> formats = {"html", "json"};
constexpr std::array known = {QueryField{"model"}, QueryField{"format", formats}};

// The name that is refused; empty where none is.
std::string refused_name(std::string_view query, std::span<const QueryField> fields = known) {
  const protocol::Outcome<void> checked = check_query(query, fields);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.error().status, 400);
  return checked.error().param;
}

TEST(Query, ValuesAreDecoded) {
  EXPECT_EQ(query_value("model=a%2fb+c&format=json", "model"), "a/b c");
  EXPECT_EQ(query_value("%6dodel=a", "model"), "a");
  EXPECT_EQ(query_value("model=%zz", "model"), "%zz");
  EXPECT_EQ(query_value("model", "model"), "");
  EXPECT_EQ(query_value("other=1", "model"), std::nullopt);
}

TEST(Query, NamesAndValuesThatNobodyKnowsAreRefused) {
  for (const char* good : {"", "&", "model=any", "format=json", "model=a&format=html&", "%66ormat=json"}) {
    EXPECT_EQ(refused_name(good), "") << good;
  }
  EXPECT_EQ(refused_name("modle=a"), "modle");
  EXPECT_EQ(refused_name("model=a&x"), "x");
  EXPECT_EQ(refused_name("format=xml"), "format");
  EXPECT_EQ(refused_name("format"), "format");
  EXPECT_EQ(refused_name("model=a&model=b"), "model");
  EXPECT_EQ(refused_name("model=a", {}), "model");
}

TEST(Query, RefusalsSayWhatIsKnownAndNoKey) {
  const std::string unknown = check_query("api_key=secret", known).error().message;
  EXPECT_EQ(unknown, "expected model or format behind the path's '?', found 'api_key'");
  EXPECT_EQ(check_query("format=xml", known).error().message, "format: expected html or json, found 'xml'");
  EXPECT_EQ(check_query("t=1", {}).error().message, "expected nothing behind the path's '?', found 't'");
}

}  // namespace
}  // namespace ingot
