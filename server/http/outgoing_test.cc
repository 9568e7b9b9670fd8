#include "server/http/outgoing.h"

#include <gtest/gtest.h>

#include <array>

#include "server/http/answer_text.h"

namespace ingot::http {
namespace {

std::string front_of(Outgoing& outgoing) {
  std::array<iovec, 4> parts;
  std::string text;
  for (std::size_t index = 0, filled = outgoing.parts(parts); index < filled; ++index) {
    text.append(static_cast<const char*>(parts[index].iov_base), parts[index].iov_len);
  }
  return text;
}

TEST(Outgoing, GivesBytesInOrderHoweverTheyCameAndWent) {
  Outgoing outgoing;
  std::string expected;
  for (int round = 0; round < 50; ++round) {
    const std::string piece(static_cast<std::size_t>(1 + round * 997 % 20'000), static_cast<char>('a' + round % 26));
    expected += piece;
    round % 2 == 0 ? outgoing.append(piece) : outgoing.take(piece);
    EXPECT_EQ(outgoing.size(), expected.size());
    const std::string front = front_of(outgoing);
    ASSERT_EQ(front, expected.substr(0, front.size()));
    const std::size_t sent = front.size() * static_cast<std::size_t>(round % 5) / 5;
    outgoing.remove(sent);
    expected.erase(0, sent);
  }
  while (!outgoing.is_empty()) {
    const std::string front = front_of(outgoing);
    ASSERT_EQ(front, expected.substr(0, front.size()));
    outgoing.remove(front.size());
    expected.erase(0, front.size());
  }
  EXPECT_TRUE(expected.empty());
}

TEST(Outgoing, GathersSmallPiecesIntoOnePart) {
  Outgoing outgoing;
  for (int piece = 0; piece < 100; ++piece) outgoing.take("data: x\n\n");
  std::array<iovec, 4> parts;
  EXPECT_EQ(outgoing.parts(parts), 1u);
}

TEST(AnswerText, SpellsAHead) {
  DateText date;
  const std::string_view day = date.at(784111777);
  EXPECT_EQ(day, "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(head_text({200, {{"A", "b"}}, ""}, {BodyForm::by_length, 5, true, false}, day),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nA: b\r\nContent-Length: 5\r\n\r\n");
  EXPECT_NE(head_text({200, {}, ""}, {BodyForm::in_chunks, 0, false, false}, day)
                .find("\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"),
            std::string::npos);
  EXPECT_NE(
      head_text({204, {}, ""}, {BodyForm::by_length, 0, true, true}, day).find("GMT\r\nConnection: keep-alive\r\n\r\n"),
      std::string::npos);
}

TEST(AnswerText, LetsNoValueBeginALine) {
  const std::string text = head_text({200, {{"A", "b\r\nSet-Cookie: evil"}}, ""}, {}, "now");
  EXPECT_EQ(text.find("\nSet-Cookie"), std::string::npos);
}

}  // namespace
}  // namespace ingot::http
