// ItemAnswer: an answer that consists of items, each of one kind: thoughts, words, calls. OpenAI's Responses and
// Anthropic's messages are such; both have one choice, and streams of named events.
//
// What is still open when another kind begins is closed. An answer of nothing has one item: no words.
#pragma once

#include "server/protocol/answer_reading.h"
#include "server/protocol/chat_request.h"
#include "server/protocol/openai_answer.h"

namespace ingot::protocol {

enum class ItemKind : std::uint8_t { reasoning, message, call };

struct AnswerItem {
  ItemKind kind = ItemKind::message;
  std::string id = {};    // of a call, by which its result is sent back
  std::string name = {};  // of the tool that is called
  std::string text = {};  // thoughts, words, or arguments as JSON, so far
  bool is_ended = false;  // of a call: its arguments are all there

  bool is_broken() const { return kind == ItemKind::call && !is_ended; }
};

class ItemAnswer : public GenerationAnswer {
 protected:
  ItemAnswer(AnswerHead head, const ChatRequest& request, const AnswerReading& reading);

  // Of a stream, in this order; items are told by their place. `write_begin` comes with the first token, when it is
  // known what the prompt took.
  virtual void write_begin() = 0;
  virtual void write_opened(std::size_t index) = 0;
  virtual void write_delta(std::size_t index, std::string_view text) = 0;
  virtual void write_closed(std::size_t index) = 0;

  // Between "event: TYPE" and the end of the event: the fields behind "type".
  template <class AddFields>
  void write_event(std::string_view type, const AddFields& add_fields) {
    piece().append("event: ").append(type).append("\ndata: ");
    JsonWriter writer(piece());
    writer.open_object().key("type").text(type);
    add_fields(writer);
    writer.close_object();
    piece() += "\n\n";
  }

  const AnswerHead& head() const { return head_; }
  std::vector<AnswerItem>& items() { return items_; }
  const std::vector<AnswerItem>& items() const { return items_; }
  const ChoiceFigures& figures_of_all() const { return figures_of(0); }
  const std::string& stop() const { return stop_; }  // the stop string that came
  std::int64_t reasoning_tokens() const { return reasoning_tokens_; }
  bool has_whole_calls() const { return reader_.has_whole_calls(); }
  bool has_broken_calls() const;
  void begin();

 private:
  void take_token(std::int64_t choice, const ChosenToken& chosen) override;
  void take_rest(std::int64_t choice, const GenerationEnding& ending) override;
  void take_pieces(const std::vector<calls::AnswerPiece>& pieces);
  void open(AnswerItem item);
  void close();
  void add(ItemKind kind, std::string_view text);

  AnswerHead head_;
  AnswerReader reader_;
  std::vector<AnswerItem> items_;
  std::string stop_;
  std::int64_t reasoning_tokens_ = 0;
  bool has_begun_ = false;
  bool is_open_ = false;  // the last item
};

}  // namespace ingot::protocol
