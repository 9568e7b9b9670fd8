// What is decided by the head of a request, and what is told of those that HTTP refuses.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "server/application.h"

namespace ingot {
namespace {

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() : helpers_(1), compilers_(1), application_(options(), passes_, helpers_, compilers_) {}

  static ApplicationOptions options() {
    const std::string path = "/tmp/ingot_admission_test_" + std::to_string(::getpid());
    std::ofstream(path) << "right-key\n";
    ::chmod(path.c_str(), 0600);
    ApplicationOptions options{.keys = ApiKeys::read(path).value()};
    ::unlink(path.c_str());
    return options;
  }

  static http::Request head(std::string method, std::string path, std::vector<http::Header> more = {}) {
    http::Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.headers = {{"Host", "localhost"}, {"Authorization", "Bearer right-key"}};
    for (http::Header& header : more) request.headers.insert(request.headers.begin(), std::move(header));
    request.peer = "127.0.0.1";
    request.is_to_loopback = true;
    return request;
  }

  Passes passes_;
  Helpers helpers_, compilers_;
  Application application_;
};

TEST_F(AdmissionTest, OnlyABodyThatMayBeAnsweredIsRead) {
  EXPECT_TRUE(application_.wants_body(head("POST", "/v1/completions")));
  EXPECT_TRUE(application_.wants_body(head("POST", "/completion")));
  EXPECT_FALSE(application_.wants_body(head("POST", "/props")));
  EXPECT_FALSE(application_.wants_body(head("POST", "/v1/completions", {{"Authorization", "Bearer wrong-key"}})));
  EXPECT_FALSE(application_.wants_body(head("POST", "/v1/completions", {{"Host", "example.org"}})));
  EXPECT_FALSE(application_.wants_body(head("POST", "/v1/completions", {{"Origin", "https://example.org"}})));
  EXPECT_FALSE(application_.wants_body(head("POST", "/nowhere")));
  EXPECT_FALSE(application_.wants_body(head("PUT", "/v1/completions")));
  EXPECT_FALSE(application_.wants_body(head("POST", "/health")));
  EXPECT_FALSE(application_.wants_body(head("GET", "/health")));  // which says nothing that would be read
  http::Request asks_more = head("POST", "/v1/completions");
  asks_more.query = "stream=true";
  EXPECT_FALSE(application_.wants_body(asks_more));
}

TEST_F(AdmissionTest, WhatHttpRefusesLeavesALine) {
  ::testing::internal::CaptureStderr();
  http::Answer answer;
  {
    Application application(options(), passes_, helpers_, compilers_);
    answer = application.refuse({413, "too large"}, head("POST", "/v1/completions"));
    http::Request unknown;
    unknown.peer = "10.0.0.9";
    (void)application.refuse({400, "no HTTP"}, unknown);
  }  // which writes what is left
  const std::string lines = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("too large"), std::string::npos);
  EXPECT_NE(lines.find(" 127.0.0.1 POST /v1/completions 413 "), std::string::npos) << lines;
  EXPECT_NE(lines.find(" 10.0.0.9 - - 400 "), std::string::npos) << lines;
}

}  // namespace
}  // namespace ingot
