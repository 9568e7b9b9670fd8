#include "bench/serve_vs_llama_server/answer_reader.h"

#include <gtest/gtest.h>

namespace ingot::load {
namespace {

constexpr std::string_view chunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
    "5\r\nhello\r\nA;name=value\r\n, world\r\n!\r\n0\r\nTrailer: value\r\n\r\n";

TEST(AnswerReader, ReadsChunksInPiecesOfAnyLength) {
  for (std::size_t length = 1; length <= chunked.size(); ++length) {
    AnswerReader reader;
    std::string body;
    for (std::size_t begin = 0; begin < chunked.size(); begin += length) {
      EXPECT_FALSE(reader.is_complete());
      ASSERT_TRUE(reader.take(chunked.substr(begin, length), body).ok()) << length;
    }
    EXPECT_TRUE(reader.is_complete());
    EXPECT_EQ(reader.status(), 200);
    EXPECT_EQ(body, "hello, world\r\n!");
  }
}

TEST(AnswerReader, EndsWhereItsLengthSays) {
  AnswerReader reader;
  std::string body;
  ASSERT_TRUE(reader.take("HTTP/1.1 429 Too Many Requests\r\ncontent-length:  2 \r\n\r\nn", body).ok());
  EXPECT_FALSE(reader.is_complete());
  ASSERT_TRUE(reader.take("o", body).ok());
  EXPECT_TRUE(reader.is_complete());
  EXPECT_EQ(reader.status(), 429);
  EXPECT_EQ(body, "no");
  EXPECT_FALSE(reader.take("x", body).ok());
}

TEST(AnswerReader, HasNoBodyWhereItsLengthIsZero) {
  AnswerReader reader;
  std::string body;
  ASSERT_TRUE(reader.take("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", body).ok());
  EXPECT_TRUE(reader.is_complete());
}

TEST(AnswerReader, WithoutALengthEndsWithItsConnection) {
  AnswerReader reader;
  std::string body;
  ASSERT_TRUE(reader.take("HTTP/1.0 200 OK\r\n\r\nall", body).ok());
  EXPECT_FALSE(reader.is_complete());
  ASSERT_TRUE(reader.take_end().ok());
  EXPECT_TRUE(reader.is_complete());
  EXPECT_EQ(body, "all");
}

TEST(AnswerReader, PassesOverContinue) {
  AnswerReader reader;
  std::string body;
  ASSERT_TRUE(reader.take("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", body).ok());
  EXPECT_TRUE(reader.is_complete());
  EXPECT_EQ(reader.status(), 200);
  EXPECT_EQ(body, "x");
}

TEST(AnswerReader, RefusesWhatIsCutOff) {
  for (std::size_t length = 0; length < chunked.size(); ++length) {
    AnswerReader reader;
    std::string body;
    ASSERT_TRUE(reader.take(chunked.substr(0, length), body).ok());
    EXPECT_FALSE(reader.take_end().ok()) << length;
  }
}

TEST(AnswerReader, RefusesWhatIsNoAnswer) {
  for (const std::string_view text :
       {"SSH-2.0-server\r\n", "HTTP/1.1 abc\r\n", "HTTP/1.1 200 OK\n", "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"}) {
    AnswerReader reader;
    std::string body;
    EXPECT_FALSE(reader.take(text, body).ok()) << text;
  }
}

}  // namespace
}  // namespace ingot::load
