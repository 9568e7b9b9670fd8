#include "server/protocol/completion_request.h"

namespace ingot::protocol {

namespace {

constexpr std::int64_t usual_length = 16;  // OpenAI's

void read_length(FieldReader& reader, CompletionRequest& request) {
  std::int64_t length = usual_length;
  reader.read("max_tokens", length, {0, std::numeric_limits<std::int32_t>::max()});
  if (length == 0 && !request.echoes) {
    reader.fail("max_tokens", "at least 1, or 0 where echo is true", chat::Value::integer(length));
  }
  request.generation.most_tokens = length;
}

void read_probabilities_beside(FieldReader& reader, CompletionRequest& request) {
  std::optional<std::int64_t> most_likely;
  reader.read("logprobs", most_likely, Integers{0, most_likely_tokens});
  GenerationRequest& generation = request.generation;
  generation.tells_probabilities = most_likely.has_value();
  generation.text.most_likely = most_likely;
  // Nothing but a prompt is computed for its probabilities alone, whether they are told or not.
  generation.text.wants_prompt_probabilities = request.echoes && (most_likely || generation.most_tokens == 0);
  if (generation.text.wants_prompt_probabilities && !most_likely) generation.text.most_likely = 0;
}

Outcome<CompletionRequest> read_fields(FieldReader& reader, const ServedModel& model) {
  CompletionRequest request;
  read_inputs(reader, "prompt", model.vocabulary, request.prompts);
  read_generation_fields(reader, model, request.generation);
  reader.read("echo", request.echoes);
  read_length(reader, request);
  check_lengths(reader, request.generation);
  read_probabilities_beside(reader, request);
  std::int64_t best_of = request.generation.choices;
  reader.read("best_of", best_of, Integers{});
  if (best_of != request.generation.choices) {
    reader.fail(not_served_yet("best_of", "best_of other than n"));
  }
  reader.refused("suffix", "suffix");
  TRY(reader.finish());
  return request;
}

}  // namespace

Outcome<CompletionRequest> read_completion_request(const chat::Dictionary& body, const ServedModel& model) {
  FieldReader reader(body);
  return read_fields(reader, model);
}

std::vector<KnownField> fields_of_completion_requests() {
  const chat::Dictionary empty;
  FieldReader reader(empty);
  (void)read_fields(reader, {});
  return reader.known();
}

}  // namespace ingot::protocol
