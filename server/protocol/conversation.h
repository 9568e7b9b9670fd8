// Conversation: the messages of a chat as templates take them, from forms that send words, thoughts, calls and their
// results one by one (OpenAI's Responses, Anthropic's messages). What an assistant says, thinks and calls until
// somebody else speaks is one message.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "model/chat/chat_context.h"

namespace ingot::protocol {

// What becomes of a user who speaks twice in a row: two messages, or one.
enum class Turns : std::uint8_t { kept, joined };

class Conversation {
 public:
  explicit Conversation(Turns turns) : turns_(turns) {}

  // By anybody but the assistant.
  void add_words(std::string role, std::string words);
  void add_assistant_words(std::string_view words);
  void add_thought(std::string_view thought);
  void add_call(const std::string& id, const std::string& name, chat::Value arguments);
  // Of the call with that id, whose name some templates want.
  void add_result(std::string id, std::string words);

  std::vector<chat::Value> finish();

 private:
  struct Assistant {
    bool has_spoken = false;  // of the three at least one is there
    bool has_words = false;
    std::string words;
    std::string thought;
    std::vector<chat::Value> calls;
  };
  void end_assistant();
  void end_user();

  Turns turns_;
  Assistant assistant_;
  std::string user_words_;  // of a user who may go on: a message only once somebody else speaks
  bool is_user_speaking_ = false;
  std::unordered_map<std::string, std::string> names_;  // of calls, by id
  std::vector<chat::Value> messages_;
};

}  // namespace ingot::protocol
