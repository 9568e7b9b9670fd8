#include "server/request_log.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

std::string line_of(const std::string& path, LogForm form = LogForm::text) {
  return log_line({.peer = "10.0.0.1", .method = "GET", .path = path, .status = 404, .seconds = 0.25}, form, "now");
}

TEST(RequestLog, ALineTellsWhoAskedWhatAndHowItEnded) {
  EXPECT_EQ(line_of("/v1/models"), "now 10.0.0.1 GET /v1/models 404 0.250 s");
}

TEST(RequestLog, NoPathLooksLikeAnotherColumnOrLine) {
  EXPECT_EQ(line_of("/x 200\n\x1b[2J\x7f"), "now 10.0.0.1 GET /x%20200%0A%1B[2J%7F 404 0.250 s");
  EXPECT_EQ(line_of("/%20"), "now 10.0.0.1 GET /%2520 404 0.250 s");
  EXPECT_EQ(line_of("/\xc2\x85\xff\xc3\xb6"), "now 10.0.0.1 GET /%C2%85%FF%C3%B6 404 0.250 s");
  EXPECT_NE(line_of("/x 200\xff", LogForm::json).find(R"("path":"/x%20200%FF")"), std::string::npos);
}

TEST(RequestLog, ANoteTellsWhatHappens) {
  EXPECT_EQ(note_line("ends", LogForm::text, "now"), "now ends");
  EXPECT_EQ(note_line("ends", LogForm::json, "now"), R"({"time":"now","note":"ends"})");
}

TEST(RequestLog, PollsThatGoWellLeaveNoLine) {
  ::testing::internal::CaptureStderr();
  {
    RequestLog log(LogForm::text);
    log.add({.peer = "10.0.0.1", .method = "GET", .path = "/metrics", .status = 200, .is_poll = true});
    log.add({.peer = "10.0.0.1", .method = "GET", .path = "/health", .status = 503, .is_poll = true});
    log.add({.peer = "10.0.0.1", .method = "GET", .path = "/v1/models", .status = 200});
  }  // which writes what is left
  const std::string lines = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines.find("/metrics"), std::string::npos) << lines;
  EXPECT_NE(lines.find("/health 503"), std::string::npos) << lines;
  EXPECT_NE(lines.find("/v1/models 200"), std::string::npos) << lines;
}

}  // namespace
}  // namespace ingot
