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

}  // namespace
}  // namespace ingot
