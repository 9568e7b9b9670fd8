#include "bench/serve_vs_llama_server/event_reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace ingot::load {
namespace {

std::vector<std::string> events_of(std::string_view body, std::size_t length) {
  EventReader reader;
  std::vector<std::string> events;
  for (std::size_t begin = 0; begin < body.size(); begin += length) {
    reader.take(body.substr(begin, length), [&](std::string_view data) { events.emplace_back(data); });
  }
  return events;
}

TEST(EventReader, FindsTheSameEventsInPiecesOfAnyLength) {
  constexpr std::string_view body =
      ": a ping\n\ndata: {\"a\":1}\n\nevent: other\ndata:one\r\ndata: two\r\n\r\ndata\n\ndata: [DONE]\n\ndata: not "
      "whole\n";
  const std::vector<std::string> expected = {"{\"a\":1}", "one\ntwo", "[DONE]"};
  for (std::size_t length = 1; length <= body.size(); ++length) EXPECT_EQ(events_of(body, length), expected) << length;
}

TEST(StreamEventOf, KnowsTextFromNone) {
  EXPECT_TRUE(stream_event_of(R"({"choices":[{"text":" a","finish_reason":null}]})").value().has_text);
  EXPECT_TRUE(stream_event_of(R"({"choices":[{"text":"a","finish_reason":"length"}]})").value().has_text);
  EXPECT_FALSE(stream_event_of(R"({"choices":[{"text":"","finish_reason":"length"}]})").value().has_text);
  EXPECT_FALSE(stream_event_of(R"({"choices":[],"usage":null})").value().has_text);
  EXPECT_FALSE(stream_event_of(R"({"choices":[{"text":7}]})").value().has_text);
}

TEST(StreamEventOf, ReadsUsage) {
  const StreamEvent event = stream_event_of(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,
                                               "prompt_tokens_details":{"cached_tokens":8}}})")
                                .value();
  ASSERT_TRUE(event.usage);
  EXPECT_EQ(event.usage->prompt, 9);
  EXPECT_EQ(event.usage->cached, 8);
  EXPECT_EQ(event.usage->generated, 4);
  EXPECT_FALSE(stream_event_of(R"({"usage":null})").value().usage);
}

TEST(StreamEventOf, KnowsTheLastOne) {
  EXPECT_TRUE(stream_event_of("[DONE]").value().is_last);
  EXPECT_FALSE(stream_event_of("{}").value().is_last);
}

TEST(StreamEventOf, HandsOnTheServersError) {
  EXPECT_EQ(stream_event_of(R"({"error":{"message":"no room","code":500}})").value().error, "no room");
  EXPECT_EQ(stream_event_of(R"({"error":"plain"})").value().error, "\"plain\"");
}

TEST(StreamEventOf, RefusesWhatIsNoObject) {
  for (const std::string_view data : {"", "{", "[1]", "DONE"}) EXPECT_FALSE(stream_event_of(data).ok()) << data;
}

TEST(ErrorMessageOf, FallsBackOnTheBody) {
  EXPECT_EQ(error_message_of(R"({"error":{"message":"queue full"}})"), "queue full");
  EXPECT_EQ(error_message_of("Not Found"), "Not Found");
}

}  // namespace
}  // namespace ingot::load
