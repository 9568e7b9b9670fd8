// The answer of POST /v1/responses in OpenAI's form: a response, or a stream of events that are numbered: what it
// begins with, each item as it grows and whole, and the response whole (response.completed, .incomplete or .failed).
// No [DONE] is behind it.
#pragma once

#include "server/protocol/item_answer.h"
#include "server/protocol/responses_request.h"

namespace ingot::protocol {

class ResponsesAnswer : public ItemAnswer {
 public:
  ResponsesAnswer(AnswerHead head, const ResponsesRequest& request, const AnswerReading& reading = {});

 private:
  void write_begin() override;
  void write_progress(std::int64_t choice, const PromptProgress& progress) override;
  void write_opened(std::size_t index) override;
  void write_delta(std::size_t index, std::string_view text) override;
  void write_closed(std::size_t index) override;
  void write_end(std::int64_t choice) override;
  void write_error(const ApiError& error) override;
  std::string write_whole() override;

  // An event with its number.
  template <class AddFields>
  void write_numbered(std::string_view type, const AddFields& add_fields);
  // What all events of one item have.
  void add_place(JsonWriter& writer, std::size_t index) const;
  void add_item(JsonWriter& writer, std::size_t index, std::string_view status) const;
  std::string item_id(std::size_t index) const;
  void add_response(JsonWriter& writer, std::string_view status, const ApiError* error = nullptr) const;
  void add_response_usage(JsonWriter& writer) const;
  // As llama-server has them beside the event's own fields.
  void add_timings_where_wanted(JsonWriter& writer) const;
  bool is_at_limit() const;
  // `is_cut_off`: the answer, and so its last item.
  std::string_view item_status(std::size_t index, bool is_cut_off) const;
  // Incomplete at the limit of tokens, and where a call broke off.
  std::string_view last_status() const;

  std::string echo_;  // JSON, the fields that repeat the request
  std::int64_t next_number_ = 0;
};

}  // namespace ingot::protocol
