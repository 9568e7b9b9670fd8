#include "server/protocol/item_answer.h"

#include <algorithm>

namespace ingot::protocol {

ItemAnswer::ItemAnswer(AnswerHead head, const ChatRequest& request, const AnswerReading& reading)
    : GenerationAnswer(request.generation, 1), head_(std::move(head)), reader_(reading) {}

bool ItemAnswer::has_broken_calls() const { return std::ranges::any_of(items_, &AnswerItem::is_broken); }

void ItemAnswer::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  write_begin();
}

void ItemAnswer::open(AnswerItem item) {
  close();
  items_.push_back(std::move(item));
  is_open_ = true;
  if (is_streamed()) write_opened(items_.size() - 1);
}

void ItemAnswer::close() {
  if (!is_open_) return;
  is_open_ = false;
  if (is_streamed()) write_closed(items_.size() - 1);
}

void ItemAnswer::add(ItemKind kind, std::string_view text) {
  if (text.empty()) return;
  if (!is_open_ || items_.back().kind != kind) open({.kind = kind});
  items_.back().text += text;
  if (is_streamed()) write_delta(items_.size() - 1, text);
}

void ItemAnswer::take_pieces(const std::vector<calls::AnswerPiece>& pieces) {
  using enum calls::AnswerPiece::Kind;
  for (const calls::AnswerPiece& piece : pieces) {
    switch (piece.kind) {
      case content: add(ItemKind::message, piece.text); break;
      case reasoning: add(ItemKind::reasoning, piece.text); break;
      case call_begin:
        open({.kind = ItemKind::call, .id = call_id(head_.id, 0, piece.call), .name = piece.text});
        break;
      case call_arguments: add(ItemKind::call, piece.text); break;
      case call_end:
        items_.back().is_ended = true;
        close();
        break;
    }
  }
}

void ItemAnswer::take_token(std::int64_t, const ChosenToken& chosen) {
  if (is_streamed()) begin();
  take_pieces(reader_.take(chosen.text));
  if (is_open_ && items_.back().kind == ItemKind::reasoning) ++reasoning_tokens_;
}

void ItemAnswer::take_rest(std::int64_t, const GenerationEnding& ending) {
  if (is_streamed()) begin();
  take_pieces(reader_.take(ending.text));
  take_pieces(reader_.finish());
  stop_ = ending.stop;
  if (items_.empty()) open({.kind = ItemKind::message});
  close();
}

}  // namespace ingot::protocol
