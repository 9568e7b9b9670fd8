#include <algorithm>
#include <array>

#include "model/tokenizer/description.h"

namespace ingot {

namespace {

// Best first: where a vocabulary has several, the chat's own end of turn comes before the end of a document.
constexpr std::array<std::string_view, 11> end_of_turn_texts = {
    "<|eot_id|>", "<|im_end|>",         "<end_of_turn>",         "<|end|>",       "<EOT>",          "_<EOT>",
    "[EOT]",      "<end_of_utterance>", "<｜end▁of▁sentence｜>", "<|endoftext|>", "<|end_of_text|>"};

constexpr std::array<std::string_view, 30> end_of_generation_texts = {"<|eot_id|>",
                                                                      "<|im_end|>",
                                                                      "<|end|>",
                                                                      "<|return|>",
                                                                      "<|call|>",
                                                                      "<|flush|>",
                                                                      "<|calls|>",
                                                                      "<end_of_turn>",
                                                                      "<|endoftext|>",
                                                                      "</s>",
                                                                      "<|eom_id|>",
                                                                      "<EOT>",
                                                                      "_<EOT>",
                                                                      "[EOT]",
                                                                      "[EOS]",
                                                                      "<|end_of_text|>",
                                                                      "<end_of_utterance>",
                                                                      "<eos>",
                                                                      "<turn|>",
                                                                      "<|tool_response>",
                                                                      "<｜end▁of▁sentence｜>",
                                                                      "[e~[",
                                                                      "<|fim_pad|>",
                                                                      "<fim-pad>",
                                                                      "<fim_pad>",
                                                                      "<|fim_repo|>",
                                                                      "<|repo_name|>",
                                                                      "<fim-repo>",
                                                                      "<reponame>",
                                                                      "<|file_sep|>"};

TokenId find(const TokenizerDescription& description, std::string_view text) {
  const auto found = std::find(description.tokens.begin(), description.tokens.end(), text);
  return found == description.tokens.end() ? no_token : static_cast<TokenId>(found - description.tokens.begin());
}

bool is_declared_special(const TokenizerDescription& description, TokenId id) {
  return description.types[static_cast<std::size_t>(id)] != TokenType::normal;
}

}  // namespace

bool is_end_of_generation_text(std::string_view text) {
  return std::find(end_of_generation_texts.begin(), end_of_generation_texts.end(), text) !=
         end_of_generation_texts.end();
}

void complete_special_tokens(TokenizerDescription& description) {
  const auto find_special = [&](std::string_view text) {
    const TokenId id = find(description, text);
    return id != no_token && is_declared_special(description, id) ? id : no_token;
  };
  if (description.end_of_message == no_token) description.end_of_message = find_special("<|eom_id|>");
  for (std::string_view text : end_of_turn_texts) {
    if (description.end_of_turn != no_token) break;
    description.end_of_turn = find_special(text);
  }
  std::vector<TokenId>& ends = description.end_of_generation;
  const auto add = [&](TokenId id) {
    if (id != no_token && std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  };
  for (std::string_view text : end_of_generation_texts) add(find_special(text));
  // In formats with several messages an answer, <|end|> ends one message only, and </s> may be ordinary text.
  const auto drop = [&](std::string_view text) {
    if (const TokenId id = find(description, text); id != no_token) std::erase(ends, id);
  };
  const auto has = [&](std::string_view text) { return find_special(text) != no_token; };
  if ((has("<|return|>") && has("<|call|>")) || (has("<|flush|>") && has("<|calls|>"))) {
    drop("<|end|>");
    if (description.end_of_turn == find(description, "<|end|>")) description.end_of_turn = no_token;
  }
  if (has("<|tool_response>")) drop("</s>");
  add(description.eos);
  add(description.end_of_turn);
  add(description.end_of_message);
}

}  // namespace ingot
