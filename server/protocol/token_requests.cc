#include "server/protocol/token_requests.h"

#include "server/protocol/chat_messages.h"
#include "server/protocol/json_text.h"
#include "server/protocol/token_input.h"
#include "server/protocol/token_spelling.h"

namespace ingot::protocol {

namespace {

std::string object_of(std::string_view name, std::string_view text) {
  std::string json;
  JsonWriter(json).open_object().key(name).text(text).close_object();
  return json;
}

}  // namespace

Outcome<TokenizeRequest> read_tokenize_request(const chat::Dictionary& body) {
  TokenizeRequest request;
  FieldReader reader(body);
  reader.read("model", request.model);
  reader.require("content", "a text");
  reader.read("content", request.content);
  reader.read("add_special", request.adds_special_tokens);
  reader.read("parse_special", request.parses_special_tokens);
  reader.read("with_pieces", request.tells_pieces);
  TRY(reader.finish());
  return request;
}

Outcome<DetokenizeRequest> read_detokenize_request(const chat::Dictionary& body, const ServedModel& model) {
  DetokenizeRequest request;
  FieldReader reader(body);
  reader.read("model", request.model);
  reader.require("tokens", "a list of tokens");
  if (const chat::Value* tokens = reader.value("tokens", chat::Kind::sequence)) {
    read_tokens(reader, "tokens", tokens->items(), model.vocabulary, request.tokens);
  }
  TRY(reader.finish());
  return request;
}

Outcome<TemplateRequest> read_template_request(const chat::Dictionary& body, const ServedModel& model) {
  TemplateRequest request;
  FieldReader reader(body);
  reader.read("model", request.model);
  read_chat(reader, model, request.chat);
  read_chat_tools(reader, request.tools, request.chat);
  TRY(reader.finish());
  return request;
}

std::string tokenize_answer(const TokenizeRequest& request, std::span<const TokenId> tokens,
                            const Tokenizer& tokenizer) {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("tokens").open_list();
  for (const TokenId token : tokens) {
    if (!request.tells_pieces) {
      writer.number(token);
      continue;
    }
    const std::string_view piece = tokenizer.piece(token);
    writer.open_object().key("id").number(token).key("piece");
    if (is_utf8(piece)) {
      writer.text(piece);
    } else {
      add_bytes(writer, piece);
    }
    writer.close_object();
  }
  writer.close_list().close_object();
  return json;
}

std::string token_count_answer(std::size_t tokens, std::string_view object) {
  std::string json;
  JsonWriter writer(json);
  writer.open_object();
  if (!object.empty()) writer.key("object").text(object);
  writer.key("input_tokens").number(tokens).close_object();
  return json;
}

std::string detokenize_answer(std::string_view content) { return object_of("content", content); }
std::string template_answer(std::string_view prompt) { return object_of("prompt", prompt); }

}  // namespace ingot::protocol
