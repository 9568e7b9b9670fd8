#include "engine/chat_prompt.h"

#include <ctime>

namespace ingot {
namespace {

chat::LocalTime local_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec};
}

std::string spelled(const Tokenizer& tokenizer, TokenId id) {
  return tokenizer.is_token(id) ? std::string(tokenizer.piece(id)) : "";
}

Result<void> add_variables(chat::ChatRequest& request) {
  std::vector<std::pair<std::string, chat::Value>> variables;
  variables.emplace_back("date_string", chat::Value::text(TRY(chat::format_time(*request.now, "%d %b %Y"))));
  variables.emplace_back("datetime", chat::Value::text(TRY(chat::format_time(*request.now, "%b %d %Y %H:%M:%S"))));
  chat::MarkedText functions;
  if (request.tools) {
    const chat::ChatTemplate listed = TRY(chat::ChatTemplate::parse("{{ tools|tojson(indent=2) }}"));
    chat::ChatRequest tools_alone;
    tools_alone.tools = request.tools;
    functions = TRY(listed.render_marked(chat::make_context(std::move(tools_alone))));
  }
  variables.emplace_back("functions", chat::Value::text(std::move(functions)));
  // The later variable counts.
  for (auto& given : request.variables) variables.push_back(std::move(given));
  request.variables = std::move(variables);
  return {};
}

}  // namespace

Result<chat::MarkedText> render_chat(const chat::ChatTemplate& form, const Tokenizer& tokenizer,
                                     chat::ChatRequest request) {
  request.bos_token = spelled(tokenizer, tokenizer.bos());
  request.eos_token = spelled(tokenizer, tokenizer.eos());
  request.now = local_now();
  TRY(add_variables(request));
  const chat::MarkedText answer_begin = chat::MarkedText::made(std::move(request.answer_begin), true);
  chat::MarkedText text = TRY(form.render_marked(chat::make_context(std::move(request))));
  text.append(answer_begin);
  return text;
}

Result<std::vector<TokenId>> encode_chat(const Tokenizer& tokenizer, const chat::MarkedText& text) {
  std::vector<TextRange> foreign;
  for (const auto& [begin, end] : text.marks.stretches()) foreign.push_back({begin, end});
  // The template writes the special tokens itself, the first one included.
  return tokenizer.encode(text.bytes,
                          {.adds_special_tokens = false, .parses_special_tokens = true, .foreign = foreign});
}

}  // namespace ingot
