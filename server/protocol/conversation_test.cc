#include "server/protocol/conversation.h"

#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

std::string finished(Conversation& conversation) { return json_of(chat::Value::list(conversation.finish())); }

TEST(Conversation, EndsAUsersMessageWhereSomebodyElseSpeaks) {
  Conversation conversation(Turns::joined);
  conversation.add_words("system", "S");
  conversation.add_words("user", "A");
  conversation.add_words("user", "B");
  conversation.add_assistant_words("C");
  conversation.add_words("user", "D");
  conversation.add_thought("E");
  conversation.add_words("user", "F");
  conversation.add_call("1", "f", chat::Value::dictionary({}));
  conversation.add_words("user", "G");
  conversation.add_result("1", "H");
  conversation.add_words("user", "I");
  conversation.add_words("system", "J");
  conversation.add_words("user", "K");
  conversation.add_words("user", "L");
  EXPECT_EQ(finished(conversation),
            R"([{"role":"system","content":"S"},{"role":"user","content":"A\nB"},{"role":"assistant","content":"C"},)"
            R"({"role":"user","content":"D"},{"role":"assistant","content":"","reasoning_content":"E"},)"
            R"({"role":"user","content":"F"},{"role":"assistant","content":null,"tool_calls":[)"
            R"({"id":"1","type":"function","function":{"name":"f","arguments":{}}}]},{"role":"user","content":"G"},)"
            R"({"role":"tool","content":"H","name":"f","tool_call_id":"1"},{"role":"user","content":"I"},)"
            R"({"role":"system","content":"J"},{"role":"user","content":"K\nL"}])");
}

TEST(Conversation, KeepsTheTurnsOfAUserWhereToldTo) {
  Conversation conversation(Turns::kept);
  conversation.add_words("user", "A");
  conversation.add_words("user", "B");
  EXPECT_EQ(finished(conversation), R"([{"role":"user","content":"A"},{"role":"user","content":"B"}])");
}

// What a body can well hold. Where each piece costs as much as all before it, this does not end.
TEST(Conversation, TakesManyPiecesAndManyCalls) {
  constexpr std::size_t count = 20'000;
  Conversation conversation(Turns::joined);
  conversation.add_words("user", std::string(8 << 20, 'a'));
  for (std::size_t piece = 0; piece < count; ++piece) conversation.add_words("user", "b");
  for (std::size_t call = 0; call < count; ++call) conversation.add_call(std::to_string(call), "f", chat::Value());
  for (std::size_t call = 0; call < count; ++call) conversation.add_result(std::to_string(call), "");
  const std::vector<chat::Value> messages = conversation.finish();
  ASSERT_EQ(messages.size(), count + 2);
  EXPECT_EQ(messages[0].as_dictionary().find("content")->bytes().size(), (8u << 20) + 2 * count);
  EXPECT_EQ(json_of(messages.back()), R"({"role":"tool","content":"","name":"f","tool_call_id":"19999"})");
}

}  // namespace
}  // namespace ingot::protocol
