#include "server/origins.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ingot {
namespace {

http::Request asked(std::string host, std::string origin = "") {
  http::Request request;
  request.is_to_loopback = true;
  request.headers.push_back({"Host", std::move(host)});
  if (!origin.empty()) request.headers.push_back({"Origin", std::move(origin)});
  return request;
}

TEST(Origins, OnLoopbackOnlyThisMachinesNamesAreAnswered) {
  const Origins origins("127.0.0.1", {});
  for (const char* own : {"localhost", "localhost:8080", "LocalHost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]",
                          "[::1]:80", "ingot.localhost:8080"}) {
    EXPECT_TRUE(origins.is_own_host(asked(own))) << own;
  }
  for (const char* other :
       {"example.org", "example.org:8080", "127.example.org", "localhost.example.org", "", "[::2]", "10.0.0.1"}) {
    EXPECT_FALSE(origins.is_own_host(asked(other))) << other;
  }
  http::Request from_outside = asked("example.org");
  from_outside.is_to_loopback = false;
  EXPECT_TRUE(origins.is_own_host(from_outside));
}

TEST(Origins, PagesOfOthersAreAllowedByName) {
  const Origins none("127.0.0.1", {});
  EXPECT_TRUE(none.is_allowed(asked("localhost:8080")));
  EXPECT_TRUE(none.is_allowed(asked("localhost:8080", "http://localhost:8080")));
  EXPECT_FALSE(none.is_allowed(asked("localhost:8080", "http://localhost:9090")));
  EXPECT_FALSE(none.is_allowed(asked("localhost:8080", "null")));
  const Origins one("127.0.0.1", {"https://example.org"});
  EXPECT_TRUE(one.is_allowed(asked("localhost:8080", "https://example.org")));
  EXPECT_FALSE(one.is_allowed(asked("localhost:8080", "https://example.org.evil.net")));
  EXPECT_TRUE(Origins("127.0.0.1", {"*"}).is_allowed(asked("localhost", "https://any.where")));
}

TEST(Origins, PagesOfThisMachineAreAllowedTogether) {
  const Origins local("127.0.0.1", {"localhost"});
  for (const char* own : {"http://localhost", "http://localhost:3000", "https://127.0.0.1:3000", "http://[::1]",
                          "http://[::1]:3000", "http://app.localhost:1"}) {
    EXPECT_TRUE(local.is_allowed(asked("localhost:8080", own))) << own;
  }
  for (const char* other : {"http://example.org", "http://notlocalhost", "http://localhost.example.org",
                            "http://127.example.org", "file://localhost", "null"}) {
    EXPECT_FALSE(local.is_allowed(asked("localhost:8080", other))) << other;
  }
}

TEST(Origins, OnlyPagesThatAreAllowedAreToldSo) {
  const Origins one("127.0.0.1", {"https://example.org"});
  EXPECT_TRUE(one.headers(asked("localhost")).empty());
  EXPECT_TRUE(one.headers(asked("localhost", "https://other.org")).empty());
  const auto headers = one.headers(asked("localhost", "https://example.org"));
  const auto is_origin = [](const http::Header& header) {
    return header.name == "Access-Control-Allow-Origin" && header.value == "https://example.org";
  };
  EXPECT_EQ(std::ranges::count_if(headers, is_origin), 1);
}

}  // namespace
}  // namespace ingot
