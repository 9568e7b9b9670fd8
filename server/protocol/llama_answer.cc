#include "server/protocol/llama_answer.h"

#include <cmath>

#include "server/protocol/sampling_settings.h"
#include "server/protocol/token_spelling.h"

namespace ingot::protocol {

namespace {

std::string_view stop_type(GenerationEnd end) {
  switch (end) {
    case GenerationEnd::model: return "eos";
    case GenerationEnd::stop: return "word";
    case GenerationEnd::token_limit: return "limit";
    default: return "none";
  }
}

// Null is minus infinity.
void add_bias(JsonWriter& writer, std::int32_t token, float added) {
  writer.open_object().key("token").number(token).key("bias");
  if (std::isinf(added)) {
    writer.null();
  } else {
    writer.number(added);
  }
  writer.close_object();
}

}  // namespace

LlamaAnswer::LlamaAnswer(std::string model, const LlamaRequest& request, std::span<const TextRequest> asked,
                         const Tokenizer& tokenizer)
    : GenerationAnswer(request.generation, std::ssize(asked)),
      tokenizer_(&tokenizer),
      model_(std::move(model)),
      request_(request.generation),
      returns_tokens_(request.returns_tokens || request.generation.is_streamed),
      choices_(static_cast<std::size_t>(choice_count())) {
  request_.text.sampling.seed = asked.front().sampling.seed;
  for (const TextRequest& text : asked) {
    prompts_.push_back(tokenizer.decode(text.prompt, {.keeps_special_tokens = true, .is_text_begin = false}));
  }
}

// How it is drawn and when it ends.
void LlamaAnswer::add_settings(JsonWriter& writer, std::int64_t choice) const {
  const TextRequest& text = request_.text;
  writer.open_object();
  add_sampling(writer, text.sampling, text.sampling.seed + static_cast<std::uint64_t>(choice % choices_of_a_prompt()));
  writer.key("n_predict").number(request_.most_tokens.value_or(-1));
  writer.key("n_probs").number(text.most_likely.value_or(0));
  writer.key("min_tokens").number(text.least_tokens).key("ignore_eos").boolean(text.ignores_end);
  writer.key("stream").boolean(is_streamed()).key("timings_per_token").boolean(tells_timings());
  writer.key("stop").open_list();
  for (const std::string& stop : text.stops) writer.text(stop);
  writer.close_list().key("logit_bias").open_list();
  for (const TokenBias& bias : text.biases) add_bias(writer, bias.token, bias.added);
  if (text.ignores_end) {
    for (const TokenId token : tokenizer_->description().end_of_generation) add_bias(writer, token, -INFINITY);
  }
  writer.close_list().close_object();
}

void LlamaAnswer::append_probabilities(std::string& json, const ChosenToken& chosen) const {
  if (!json.empty()) json += ',';
  JsonWriter writer(json);
  writer.open_object().key("id").number(chosen.token);
  add_token(writer, *tokenizer_, chosen.token, chosen.log_probability);
  writer.key("top_logprobs").open_list();
  for (const TokenProbability& likely : chosen.most_likely) {
    writer.open_object().key("id").number(likely.token);
    add_token(writer, *tokenizer_, likely.token, likely.log_probability);
    writer.close_object();
  }
  writer.close_list().close_object();
}

// What a chunk and the whole have in common. What was kept for it is let go of.
void LlamaAnswer::add_text(JsonWriter& writer, std::int64_t choice) {
  Choice& state = choice_at(choice);
  writer.key("index").number(choice).key("content").text(state.text);
  writer.key("tokens").open_list();
  if (!state.tokens.empty()) writer.raw(state.tokens);
  writer.close_list();
  const GenerationCounts& counts = figures_of(choice).counts;
  writer.key("tokens_predicted").number(counts.generated).key("tokens_evaluated").number(counts.prompt);
  if (!state.probabilities.empty()) {
    writer.key("completion_probabilities").open_list().raw(state.probabilities).close_list();
  }
  for (std::string* told : {&state.text, &state.tokens, &state.probabilities}) std::string().swap(*told);
}

void LlamaAnswer::add_end(JsonWriter& writer, std::int64_t choice) {
  const Choice& state = choice_at(choice);
  const ChoiceFigures& figures = figures_of(choice);
  const bool is_full = figures.end == GenerationEnd::token_limit && !request_.most_tokens;
  writer.key("stop").boolean(true).key("model").text(model_);
  add_settings(writer.key("generation_settings"), choice);
  writer.key("prompt").text(prompts_[static_cast<std::size_t>(choice / choices_of_a_prompt())]);
  writer.key("has_new_line").boolean(state.has_new_line).key("truncated").boolean(is_full);
  writer.key("stop_type").text(stop_type(figures.end)).key("stopping_word").text(state.stop);
  writer.key("tokens_cached").number(figures.counts.cached).key("timings");
  add_timings(writer, std::span(&figures, 1), 1);
}

void LlamaAnswer::write_progress(std::int64_t choice, const PromptProgress& progress) {
  piece() += "data: ";
  JsonWriter writer(piece());
  writer.open_object();
  add_text(writer, choice);
  add_progress(writer.key("stop").boolean(false), progress, tells_timings());
  writer.close_object();
  piece() += "\n\n";
}

void LlamaAnswer::take_token(std::int64_t choice, const ChosenToken& chosen) {
  Choice& state = choice_at(choice);
  state.text += chosen.text;
  state.has_new_line |= chosen.text.find('\n') != std::string_view::npos;
  if (returns_tokens_) append_item(state.tokens, std::to_string(chosen.token));
  if (tells_probabilities()) append_probabilities(state.probabilities, chosen);
  if (!is_streamed()) return;
  piece() += "data: ";
  JsonWriter writer(piece());
  writer.open_object();
  add_text(writer, choice);
  writer.key("stop").boolean(false);
  if (tells_timings()) {
    writer.key("timings");
    add_timings(writer, std::span(&figures_of(choice), 1), 1);
  }
  writer.close_object();
  piece() += "\n\n";
}

void LlamaAnswer::take_rest(std::int64_t choice, const GenerationEnding& ending) {
  Choice& state = choice_at(choice);
  state.text += ending.text;
  state.has_new_line |= ending.text.find('\n') != std::string_view::npos;
  state.stop = ending.stop;
}

void LlamaAnswer::write_end(std::int64_t choice) {
  piece() += "data: ";
  JsonWriter writer(piece());
  writer.open_object();
  add_text(writer, choice);
  add_end(writer, choice);
  writer.close_object();
  piece() += "\n\n";
}

std::string LlamaAnswer::write_whole() {
  std::string json;
  JsonWriter writer(json);
  const bool is_alone = choice_count() == 1;
  if (!is_alone) writer.open_list();
  for (std::int64_t choice = 0; choice < choice_count(); ++choice) {
    writer.open_object();
    add_text(writer, choice);
    add_end(writer, choice);
    writer.close_object();
  }
  if (!is_alone) writer.close_list();
  return json;
}

}  // namespace ingot::protocol
