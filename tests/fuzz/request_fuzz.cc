// Whatever the body, every reader of requests ends with a request or an error of the client's: status 400, with a
// message, and JSON.
#include <string>

#include "server/protocol/body.h"
#include "server/protocol/chat_request.h"
#include "server/protocol/completion_request.h"
#include "server/protocol/embedding_request.h"
#include "server/protocol/llama_request.h"
#include "server/protocol/messages_request.h"
#include "server/protocol/responses_request.h"
#include "server/protocol/token_requests.h"

using namespace ingot;
using namespace ingot::protocol;

namespace {

void check(const ApiError& error) {
  if (error.status != 400 || error.message.empty() || error.type.empty()) __builtin_trap();
  if (!read_body(error.json()).ok()) __builtin_trap();
}

template <class Value>
void check(const Outcome<Value>& outcome) {
  if (!outcome.ok()) check(outcome.error());
}

bool are_tokens(const std::vector<std::int32_t>& tokens, const ServedModel& model) {
  for (const std::int32_t token : tokens) {
    if (token < 0 || token >= model.vocabulary) return false;
  }
  return true;
}

// What the engine trusts.
void check(const GenerationRequest& request, const ServedModel& model) {
  if (request.choices < 1 || request.choices > 128) __builtin_trap();
  if (!are_tokens(request.text.stop_tokens, model)) __builtin_trap();
  for (const TokenBias& bias : request.text.biases) {
    if (!are_tokens({bias.token}, model)) __builtin_trap();
  }
  for (const std::string& stop : request.text.stops) {
    if (stop.empty() || stop.size() > 1024) __builtin_trap();
  }
  const bool is_shortest = request.most_tokens == 0;
  if (is_shortest && !request.text.wants_prompt_probabilities) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Outcome<chat::Dictionary> body = read_body({reinterpret_cast<const char*>(data), size});
  check(body);
  if (!body.ok()) return 0;
  const ServedModel model = {.vocabulary = 1000, .embedding_width = 64};
  check(model_of(body.value()));
  const auto chat = read_chat_request(body.value(), model);
  check(chat);
  if (chat.ok()) check(chat.value().generation, model);
  const auto completion = read_completion_request(body.value(), model);
  check(completion);
  if (completion.ok()) check(completion.value().generation, model);
  const auto llama = read_llama_request(body.value(), model);
  check(llama);
  if (llama.ok()) check(llama.value().generation, model);
  const auto response = read_responses_request(body.value(), model);
  check(response);
  if (response.ok()) check(response.value().asked.generation, model);
  const auto message = read_messages_request(body.value(), model);
  check(message);
  if (message.ok()) check(message.value().generation, model);
  check(read_count_request(body.value()));
  check(read_embedding_request(body.value(), model));
  check(read_tokenize_request(body.value()));
  check(read_detokenize_request(body.value(), model));
  check(read_template_request(body.value(), model));
  return 0;
}
