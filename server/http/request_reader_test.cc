#include "server/http/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ingot::http {
namespace {

using State = RequestReader::State;

const Limits usual_limits;

struct Outcome {
  State state = State::head;
  int status = 0;
  std::string reason;
  Request request;
  std::size_t used = 0;
};

// In pieces of `size` bytes.
Outcome read_in_pieces(std::string_view text, std::size_t size, const Limits& limits = {}) {
  RequestReader reader(limits);
  Outcome outcome;
  while (outcome.used < text.size() && reader.state() != State::complete && reader.state() != State::refused) {
    outcome.used += reader.feed(text.substr(outcome.used, size));
  }
  outcome.state = reader.state();
  if (outcome.state == State::refused) {
    outcome.status = reader.refusal().status;
    outcome.reason = reader.refusal().reason;
  }
  if (outcome.state == State::complete) outcome.request = reader.take_request();
  return outcome;
}

// The same in one piece and in all sizes of small ones.
Outcome read_text(std::string_view text, const Limits& limits = {}) {
  const Outcome whole = read_in_pieces(text, text.size(), limits);
  for (const std::size_t size : {1, 2, 3, 7}) {
    const Outcome other = read_in_pieces(text, size, limits);
    EXPECT_EQ(other.state, whole.state) << text << "\nin pieces of " << size << ": " << other.reason;
    EXPECT_EQ(other.status, whole.status) << text << "\nin pieces of " << size;
    EXPECT_EQ(other.request.body, whole.request.body) << text << "\nin pieces of " << size;
    if (whole.state == State::complete) {
      EXPECT_EQ(other.used, whole.used) << text << "\nin pieces of " << size;
    }
  }
  return whole;
}

int status_of(std::string_view text) {
  const Outcome outcome = read_text(text);
  EXPECT_FALSE(outcome.state == State::refused && outcome.reason.empty()) << text;
  return outcome.status;
}

std::string with_header(std::string_view line) {
  return "POST /a HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n\r\n";
}

TEST(RequestReader, ReadsARequestWithoutABodyAndStopsAtItsEnd) {
  const std::string text = "GET /a%20b/c?d=%20 HTTP/1.1\r\nHost: x:1\r\nAccept:\t*/* \r\nempty:\r\n\r\n";
  const Outcome outcome = read_text(text + "GET");
  ASSERT_EQ(outcome.state, State::complete) << outcome.reason;
  EXPECT_EQ(outcome.request.method, "GET");
  EXPECT_EQ(outcome.request.path, "/a b/c");
  EXPECT_EQ(outcome.request.query, "d=%20");
  ASSERT_EQ(outcome.request.headers.size(), 3u);
  EXPECT_EQ(*outcome.request.header("ACCEPT"), "*/*");
  EXPECT_EQ(*outcome.request.header("Empty"), "");
  EXPECT_EQ(outcome.request.header("nothing"), nullptr);
  EXPECT_EQ(outcome.used, text.size());
}

TEST(RequestReader, ReadsABodyByItsLength) {
  const Outcome outcome = read_text("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 05\r\n\r\nhelloGET");
  ASSERT_EQ(outcome.state, State::complete) << outcome.reason;
  EXPECT_EQ(outcome.request.body, "hello");
  EXPECT_EQ(read_text("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").state, State::complete);
  EXPECT_EQ(read_text("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell").state, State::body);
}

TEST(RequestReader, ReadsABodyInChunksAndDropsTrailers) {
  const Outcome outcome = read_text(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "5\r\nhello\r\n6;name=\"quo;\\\"ted\";b\r\n world\r\n0\r\nAuthorization: evil\r\nX: y\r\n\r\nGET");
  ASSERT_EQ(outcome.state, State::complete) << outcome.reason;
  EXPECT_EQ(outcome.request.body, "hello world");
  EXPECT_EQ(outcome.request.header("Authorization"), nullptr);
  EXPECT_EQ(outcome.request.headers.size(), 2u);
  // Beast's assertion once ended the program here.
  EXPECT_EQ(read_text("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").state,
            State::complete);
}

TEST(RequestReader, IgnoresEmptyLinesBeforeARequest) {
  const Outcome outcome = read_text("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(outcome.state, State::complete) << outcome.reason;
  RequestReader reader(usual_limits);
  reader.feed("\r\n\r\n");
  EXPECT_TRUE(reader.is_blank());
  reader.feed("G");
  EXPECT_FALSE(reader.is_blank());
}

TEST(RequestReader, TakesAbsoluteTargetsAndTheAsteriskOfOptions) {
  const auto target_of = [](std::string_view line) {
    const Outcome outcome = read_text(std::string(line) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(outcome.state, State::complete) << line << ": " << outcome.reason;
    return outcome.request.path + "|" + outcome.request.query;
  };
  EXPECT_EQ(target_of("GET http://a:80/b?c"), "/b|c");
  EXPECT_EQ(target_of("GET HTTPS://user@a/b"), "/b|");
  EXPECT_EQ(target_of("GET http://a?c=d"), "/|c=d");
  EXPECT_EQ(target_of("GET http://a"), "/|");
  EXPECT_EQ(target_of("GET /b?c?d#e?f"), "/b|c?d");
  EXPECT_EQ(target_of("GET /\"b|\\"), "/\"b|\\|");
  EXPECT_EQ(target_of("OPTIONS *"), "*|");
}

TEST(RequestReader, RefusesMalformedRequestLines) {
  for (const std::string_view line : {"GET",
                                      "GET /",
                                      "GET  / HTTP/1.1",
                                      "GET /  HTTP/1.1",
                                      " GET / HTTP/1.1",
                                      "GET / HTTP/1.1 ",
                                      "GET\t/\tHTTP/1.1",
                                      "G@T / HTTP/1.1",
                                      "GET / http/1.1",
                                      "GET / HTTP/1",
                                      "GET / HTTP/1.11",
                                      "GET / HTTP/01.1",
                                      "GET / ICE/1.0",
                                      "GET a HTTP/1.1",
                                      "GET * HTTP/1.1",
                                      "GET ftp://a/b HTTP/1.1",
                                      "GET http:///b HTTP/1.1",
                                      "CONNECT a:80 HTTP/1.1",
                                      "GET /\x7f HTTP/1.1",
                                      "GET /\x01 HTTP/1.1",
                                      "GET /\xc3\xa4 HTTP/1.1",
                                      "GET /% HTTP/1.1",
                                      "GET /%4 HTTP/1.1",
                                      "GET /%zz HTTP/1.1",
                                      "GET /%00 HTTP/1.1",
                                      "GET / / HTTP/1.1",
                                      "\x16\x03\x01 / HTTP/1.1",
                                      "G\nT / HTTP/1.1"}) {
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: a\r\n\r\n"), 400) << line;
  }
  EXPECT_EQ(status_of(std::string(32, 'A') + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(status_of(std::string(33, 'A') + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  for (const std::string_view version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2.0"}) {
    EXPECT_EQ(status_of("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n"), 505) << version;
  }
}

TEST(RequestReader, RefusesMalformedHeaders) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\nHost: a\n\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\rb: c\r\n\r\n"), 400);
  EXPECT_EQ(status_of("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  for (const std::string_view line : {"Host: b", "b", "b c: d", "b : c", ": c", "b@: c", "b: c\r\n folded",
                                      "b: c\r\n\tfolded", "b: \x01", "b: \x7f", "b: c\x0c", "Connection: \x01"}) {
    EXPECT_EQ(status_of(with_header(line)), 400) << line;
  }
  EXPECT_EQ(status_of(with_header(std::string_view("b: \0", 4))), 400);
  EXPECT_EQ(status_of(with_header("b: \xc3\xa4 c\t d")), 0);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
  EXPECT_EQ(status_of(with_header("Expect: miracles")), 417);
}

TEST(RequestReader, RefusesLengthsThatTwoReadersMightTakeDifferently) {
  for (const std::string_view lines : {"Content-Length: 1\r\nContent-Length: 1",
                                       "Content-Length: 1\r\nContent-Length: 2",
                                       "Content-Length: 1, 1",
                                       "Content-Length: +1",
                                       "Content-Length: -1",
                                       "Content-Length: 0x1",
                                       "Content-Length: 1 1",
                                       "Content-Length:",
                                       "Content-Length: 99999999999999999999",
                                       "Content-Length: 1\r\nTransfer-Encoding: chunked",
                                       "Transfer-Encoding: chunked\r\nContent-Length: 1",
                                       "Transfer-Encoding: gzip",
                                       "Transfer-Encoding: gzip, chunked",
                                       "Transfer-Encoding: chunked, chunked",
                                       "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                                       "Transfer-Encoding: identity",
                                       "Transfer-Encoding:",
                                       "Transfer-Encoding: \"chunked\"",
                                       "Transfer-Encoding: chunked;q=1",
                                       "Transfer-Encoding: \013chunked"}) {
    EXPECT_EQ(status_of(with_header(lines)), 400) << lines;
  }
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesMalformedChunks) {
  const std::string head = with_header("Transfer-Encoding: chunked");
  for (const std::string_view body : {"x\r\n",
                                      "5 \r\nhello\r\n",
                                      "5\nhello\n",
                                      "5\r\nhello0\r\n\r\n",
                                      "5\r\nhello\n0\r\n",
                                      "-5\r\nhello\r\n",
                                      "0x5\r\nhello\r\n",
                                      " 5\r\nhello\r\n",
                                      "5 ;a\r\nhello\r\n",
                                      "5\r\nhello\r\n5 ;a\r\nhello\r\n",
                                      "5;\r\nhello\r\n",
                                      "5;=a\r\nhello\r\n",
                                      "5 a\r\nhello\r\n",
                                      "5\r\rhello",
                                      "\r\n5\r\nhello\r\n",
                                      "5;a=\"b\nc\"\r\nhello\r\n0\r\n\r\n",
                                      "5;a=\"b\r\nhello\r\n",
                                      "0;a=\"b\r\n\r\n",
                                      "0\r\nno colon\r\n\r\n",
                                      "0\r\na b: c\r\n\r\n"}) {
    EXPECT_EQ(status_of(head + std::string(body)), 400) << body;
  }
  EXPECT_EQ(status_of(head + "fffffffffffffffff\r\n"), 400);
  EXPECT_EQ(status_of(head + "ffffffffffffffff\r\n"), 413);
}

// The reader holds one byte more than a head may have; where that is half of a line's end, nothing more is taken.
TEST(RequestReader, RefusesAHeadWhoseLastLineEndCrossesTheBound) {
  Limits limits;
  limits.head_bytes = 64;
  for (std::size_t length = 60; length < 70; ++length) {
    std::string head = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
    head.append(length - head.size() - 2, 'x');
    head += "\r\n\r\n";
    RequestReader reader(limits);
    const std::size_t used = reader.feed(head);
    EXPECT_EQ(reader.state(), head.size() <= 64 ? State::complete : State::refused) << head.size();
    EXPECT_TRUE(used == head.size() || reader.state() == State::refused);
  }
}

TEST(RequestReader, BoundsChunkExtensionsAndTrailers) {
  const std::string head = with_header("Transfer-Encoding: chunked");
  EXPECT_EQ(status_of(head + "5;a=" + std::string(5000, 'b')), 400);
  EXPECT_EQ(status_of(head + "0\r\na: " + std::string(5000, 'b')), 400);
  std::string costly = head;
  for (int chunk = 0; chunk < 100; ++chunk) costly += "1;a=" + std::string(2000, 'b') + "\r\nx\r\n";
  EXPECT_EQ(read_in_pieces(costly, 1000).status, 400);
  std::string small = head;
  for (int chunk = 0; chunk < 20'000; ++chunk) small += "1\r\nx\r\n";
  EXPECT_EQ(read_in_pieces(small + "0\r\n\r\n", 1000).state, State::complete);
}

TEST(RequestReader, BoundsHeadTargetAndBody) {
  Limits limits;
  limits.head_bytes = 1000;
  limits.target_bytes = 100;
  limits.body_bytes = 10;
  const auto status_with = [&](const std::string& text) { return read_text(text, limits).status; };
  EXPECT_EQ(status_with("GET /" + std::string(99, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(status_with("GET /" + std::string(100, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
  EXPECT_EQ(status_with("GET /" + std::string(2000, 'a')), 414);
  EXPECT_EQ(status_with(std::string(2000, 'a')), 400);
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\nb: ";
  EXPECT_EQ(status_with(begin + std::string(1000 - begin.size() - 4, 'c') + "\r\n\r\n"), 0);
  EXPECT_EQ(status_with(begin + std::string(1001 - begin.size() - 4, 'c') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_with(begin + std::string(5000, 'c')), 431);
  // Before a byte of the body came.
  EXPECT_EQ(status_with("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"), 0);
  EXPECT_EQ(status_with("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n"), 413);
  const std::string chunked = with_header("Transfer-Encoding: chunked");
  EXPECT_EQ(status_with(chunked + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n"), 0);
  EXPECT_EQ(status_with(chunked + "5\r\n01234\r\n6\r\n"), 413);
}

TEST(RequestReader, KnowsTheHeadersOfWhatIsTooLarge) {
  RequestReader reader(usual_limits);
  const std::string length = std::to_string(usual_limits.body_bytes + 1);
  reader.feed("POST / HTTP/1.1\r\nHost: a\r\nOrigin: b\r\nContent-Length: " + length + "\r\n\r\n");
  EXPECT_EQ(reader.refusal().status, 413);
  ASSERT_NE(reader.request().header("Origin"), nullptr);
  EXPECT_EQ(*reader.request().header("Origin"), "b");
}

TEST(RequestReader, BoundsTheNumberOfHeaders) {
  std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (std::size_t count = 1; count < usual_limits.headers; ++count) head += "a:\r\n";
  EXPECT_EQ(status_of(head + "\r\n"), 0);
  EXPECT_EQ(status_of(head + "a:\r\n\r\n"), 431);
}

TEST(RequestReader, TellsWhatItHolds) {
  RequestReader reader(usual_limits);
  const std::size_t empty = reader.held_bytes();
  reader.feed("POST /a HTTP/1.1\r\nHost: a\r\nb: ");
  EXPECT_EQ(reader.held_bytes(), empty + 30);
  reader.feed(std::string(5000, 'c'));
  EXPECT_EQ(reader.held_bytes(), empty + 5030);
  reader.feed("\r\nContent-Length: 9000\r\n\r\n");
  const std::size_t head = reader.held_bytes();
  EXPECT_GE(head, empty + 5000 + 3 * sizeof(Header));
  EXPECT_LT(head, empty + 6000);  // not twice what it said
  reader.feed(std::string(8999, 'd'));
  EXPECT_EQ(reader.held_bytes(), head + 8999);
  EXPECT_EQ(reader.state(), State::body);
}

TEST(RequestReader, KnowsAsMuchAsWasRead) {
  RequestReader reader(usual_limits);
  reader.feed("POST /a%20b?c HTTP/1.1\r\nHo");
  EXPECT_EQ(reader.request().method + " " + reader.request().path + " " + reader.request().query, "POST /a b c");
  EXPECT_TRUE(reader.request().headers.empty());
  reader.feed("st: a\r\nContent-Length: 5\r\n\r\nhel");
  EXPECT_EQ(*reader.request().header("Host"), "a");
}

TEST(RequestReader, SaysOnceThatTheClientWaitsForAWord) {
  RequestReader reader(usual_limits);
  reader.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_TRUE(reader.take_wish_to_continue());
  EXPECT_FALSE(reader.take_wish_to_continue());
  RequestReader impatient(usual_limits);
  impatient.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\na");
  EXPECT_FALSE(impatient.take_wish_to_continue());
  RequestReader old(usual_limits);
  old.feed("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(old.take_wish_to_continue());
}

TEST(RequestReader, KnowsWhetherAnotherRequestMayFollow) {
  const auto keeps_alive = [](const std::string& text) {
    RequestReader reader(usual_limits);
    reader.feed(text);
    EXPECT_EQ(reader.state(), State::complete) << text;
    return reader.keeps_alive();
  };
  EXPECT_TRUE(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n"));
  EXPECT_FALSE(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\nConnection: a, close\r\n\r\n"));
  EXPECT_FALSE(keeps_alive("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps_alive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

}  // namespace
}  // namespace ingot::http
