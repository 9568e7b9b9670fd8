#include "server/origins.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ingot {
namespace {

http::Request asked(std::string host, std::string origin = "") {
  http::Request request;
  request.method = "GET";
  request.headers.push_back({"Host", std::move(host)});
  if (!origin.empty()) request.headers.push_back({"Origin", std::move(origin)});
  return request;
}

std::string value_of(const std::vector<http::Header>& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &http::Header::name);
  return found == headers.end() ? "" : found->value;
}

// A page can let its own name lead to any address, of loopback or of a container's bridge.
TEST(Origins, WithoutKeysOnlyAddressesAndNamesOfThisMachineAreAnswered) {
  const Origins origins({.hosts = {"Ingot.example"}});
  for (const bool is_to_loopback : {true, false}) {
    const auto is_own = [&](const char* host) {
      http::Request request = asked(host);
      request.is_to_loopback = is_to_loopback;
      return origins.is_own_host(request);
    };
    for (const char* own : {"localhost", "localhost:8080", "LocalHost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]",
                            "[::1]:80", "ingot.localhost:8080", "10.0.0.1", "[fe80::1]:1", "ingot.Example:8080"}) {
      EXPECT_TRUE(is_own(own)) << own;
    }
    for (const char* other : {"example.org", "example.org:8080", "127.example.org", "localhost.example.org", "",
                              "evil.ingot.example", "1.2.3", "127.0.0.1.evil.net"}) {
      EXPECT_FALSE(is_own(other)) << other;
    }
  }
}

TEST(Origins, WithKeysOrThroughAUnixSocketANameCanBeAnything) {
  http::Request request = asked("example.org");
  EXPECT_TRUE(Origins({.has_keys = true}).is_own_host(request));
  request.is_to_loopback = true;
  EXPECT_FALSE(Origins({.has_keys = true}).is_own_host(request));
  request.peer = http::unix_peer;
  EXPECT_TRUE(Origins({}).is_own_host(request));
}

TEST(Origins, PagesOfOthersAreAllowedByName) {
  const Origins none({});
  EXPECT_TRUE(none.is_allowed(asked("localhost:8080")));
  EXPECT_TRUE(none.is_allowed(asked("localhost:8080", "http://localhost:8080")));
  EXPECT_FALSE(none.is_allowed(asked("localhost:8080", "http://localhost:9090")));
  EXPECT_FALSE(none.is_allowed(asked("localhost:8080", "null")));
  const Origins one({.origins = {"https://Example.org"}});
  EXPECT_TRUE(one.is_allowed(asked("localhost:8080", "https://example.org")));
  EXPECT_FALSE(one.is_allowed(asked("localhost:8080", "https://example.org.evil.net")));
  EXPECT_TRUE(Origins({.origins = {"*"}}).is_allowed(asked("localhost", "https://any.where")));
}

TEST(Origins, LocalhostStandsForAllPagesOfThisMachine) {
  const Origins local({.origins = {"localhost"}});
  for (const char* own : {"http://localhost", "https://localhost:3000", "http://127.0.0.1:5173", "http://[::1]:1"}) {
    EXPECT_TRUE(local.is_allowed(asked("localhost:8080", own))) << own;
  }
  for (const char* other : {"http://localhost.evil.net", "http://evil.net", "null", "http://127.0.0.1.evil.net:80",
                            "ftp://localhost", "localhost"}) {
    EXPECT_FALSE(local.is_allowed(asked("localhost:8080", other))) << other;
  }
}

TEST(Origins, WhatAnotherSiteLeadsToIsKnown) {
  http::Request request = asked("localhost");
  EXPECT_FALSE(Origins({}).is_from_other_site(request));
  request.headers.push_back({"Sec-Fetch-Site", "cross-site"});
  EXPECT_TRUE(Origins({}).is_from_other_site(request));
  EXPECT_FALSE(Origins({.origins = {"*"}}).is_from_other_site(request));
  request.headers.push_back({"Origin", "https://example.org"});  // which is looked at instead
  EXPECT_FALSE(Origins({.origins = {"https://example.org"}}).is_from_other_site(request));
}

TEST(Origins, OnlyPagesThatAreAllowedAreToldSo) {
  const Origins one({.origins = {"https://example.org"}});
  EXPECT_TRUE(one.headers(asked("localhost")).empty());
  EXPECT_TRUE(one.headers(asked("localhost", "https://other.org")).empty());
  const auto headers = one.headers(asked("localhost", "https://example.org"));
  EXPECT_EQ(value_of(headers, "Access-Control-Allow-Origin"), "https://example.org");
  EXPECT_EQ(value_of(headers, "Access-Control-Expose-Headers"), "Retry-After");
}

TEST(Origins, ABrowserThatAsksFirstMaySendTheHeadersThatItNames) {
  const Origins one({.origins = {"https://example.org"}});
  http::Request request = asked("localhost", "https://example.org");
  request.method = "OPTIONS";
  const auto allowed = [&] { return value_of(one.headers(request), "Access-Control-Allow-Headers"); };
  EXPECT_EQ(allowed(), "Authorization, Content-Type, X-Api-Key");
  request.headers.push_back({"Access-Control-Request-Headers", "x-api-key,x-stainless-os"});
  EXPECT_EQ(allowed(), "x-api-key,x-stainless-os");
  request.headers.back().value = "a: b";
  EXPECT_EQ(allowed(), "Authorization, Content-Type, X-Api-Key");
}

TEST(Origins, SpellingsThatNoBrowserSendsAreRefused) {
  for (const char* good : {"*", "localhost", "null", "https://example.org", "http://[::1]:8080", "app://obsidian.md",
                           "https://a.org:80", "http://a.org:443", "http://[::1]", "https://a.org:65535"}) {
    EXPECT_TRUE(check_origin(good).ok()) << good;
  }
  for (const char* bad : {"", "https://x/", "https://x/path", "example.org", "https://", "https://a,https://b",
                          "https://a.org:443", "HTTPS://a.org:443", "http://[::1]:80",
                          "https://a.org:", "https://a.org:08080", "https://a.org:8080x", "https://a.org:123456"}) {
    EXPECT_FALSE(check_origin(bad).ok()) << bad;
  }
  EXPECT_EQ(check_origin("https://a.org:443").error().text(),
            "expected 'https://a.org', as browsers spell it, found 'https://a.org:443'");
  EXPECT_TRUE(check_host_name("ingot_1.example-a.org").ok());
  for (const char* bad : {"", "a:80", "http://a", "*", "a b"}) EXPECT_FALSE(check_host_name(bad).ok()) << bad;
}

}  // namespace
}  // namespace ingot
