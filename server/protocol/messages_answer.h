// The answer of POST /v1/messages in Anthropic's form: a message, or a stream of message_start, content_block_start,
// content_block_delta, content_block_stop, message_delta and message_stop. A ping follows the first of them, as clients
// know it.
//
// A call that breaks off does not end as "tool_use", and a message in one piece is without it. A stream has told its
// begin by then.
//
// Thoughts have an empty signature: nobody is asked whether they are the model's own.
#pragma once

#include "server/protocol/item_answer.h"

namespace ingot::protocol {

class MessagesAnswer : public ItemAnswer {
 public:
  MessagesAnswer(AnswerHead head, const ChatRequest& request, const AnswerReading& reading = {})
      : ItemAnswer(std::move(head), request, reading) {}

 private:
  void write_begin() override;
  void write_opened(std::size_t index) override;
  void write_delta(std::size_t index, std::string_view text) override;
  void write_closed(std::size_t index) override;
  void write_end(std::int64_t choice) override;
  void write_error(const ApiError& error) override;
  std::string write_whole() override;

  // An item as it begins, or with all that it has.
  void add_block(JsonWriter& writer, const AnswerItem& item, bool is_whole) const;
  void add_end(JsonWriter& writer) const;
  void add_message_usage(JsonWriter& writer) const;
};

}  // namespace ingot::protocol
