#include "server/protocol/generation_request.h"

#include "server/protocol/token_input.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::size_t most_stops = 16;
constexpr std::int64_t most_choices = 128;

void read_sampling(FieldReader& reader, SamplerOptions& sampling) {
  reader.read("temperature", sampling.temperature, {0, 2});
  reader.read("top_p", sampling.top_p, {0, 1});
  reader.read("min_p", sampling.min_p, {0, 1});
  reader.read("frequency_penalty", sampling.frequency, {-2, 2});
  reader.read("presence_penalty", sampling.presence, {-2, 2});
  // Two names of one thing: vLLM's, and llama-server's.
  reader.read("repetition_penalty", sampling.repetition, {0.01, 100});
  reader.read("repeat_penalty", sampling.repetition, {0.01, 100});
  reader.read("top_k", sampling.top_k, {-1, std::numeric_limits<std::int32_t>::max()});
  if (sampling.top_k < 0) sampling.top_k = 0;  // -1 is how others switch it off
}

void read_stops(FieldReader& reader, std::vector<std::string>& stops) {
  const Value* found = reader.value("stop");
  if (found == nullptr) return;
  const auto is_stop = [](const Value& value) { return value.is_text() && !value.bytes().empty(); };
  if (is_stop(*found)) {
    stops.push_back(found->bytes());
    return;
  }
  if (!found->is(Kind::sequence) || found->items().size() > most_stops) {
    return reader.fail("stop", "a text, or a list of up to " + std::to_string(most_stops), *found);
  }
  for (std::size_t index = 0; index < found->items().size(); ++index) {
    const Value& item = found->items()[index];
    if (!is_stop(item)) {
      return reader.fail("stop[" + std::to_string(index) + "]", "a text of at least one character", item);
    }
    stops.push_back(item.bytes());
  }
}

void read_stream_options(FieldReader& reader, GenerationRequest& request) {
  reader.read("stream", request.is_streamed);
  request.tells_usage = !request.is_streamed;
  reader.read("timings_per_token", request.tells_timings);
  const Value* found = reader.value("stream_options", Kind::dictionary);
  if (found == nullptr) return;
  if (!request.is_streamed) {
    return reader.fail(wrong_field("stream_options", "stream_options: expected only where stream is true"));
  }
  FieldReader options(found->as_dictionary(), "stream_options");
  options.read("include_usage", request.tells_usage);
  bool is_padded = false;
  options.read("include_obfuscation", is_padded);
  if (is_padded) options.refused("include_obfuscation", "stream_options.include_obfuscation");
  if (const Outcome<void> read = options.finish(); !read.ok()) reader.fail(read.error());
}

void read_harmless(FieldReader& reader) {
  reader.harmless("user", Kind::text);
  reader.harmless("id_slot", Kind::integer);  // where llama-server puts it; here is no such place
}

void refuse_others(FieldReader& reader) {
  for (const std::string_view name : {"grammar", "json_schema", "guided_json", "guided_regex", "guided_choice",
                                      "guided_grammar", "structured_outputs"}) {
    reader.refused(name, name);
  }
}

}  // namespace

TextRequest text_request(const GenerationRequest& request, std::vector<std::int32_t> prompt, std::int64_t choice,
                         std::int64_t most_tokens, std::uint64_t any_seed) {
  TextRequest text = request.text;
  text.prompt = std::move(prompt);
  text.most_tokens = request.most_tokens.value_or(most_tokens);
  text.sampling.seed = request.seed.value_or(any_seed) + static_cast<std::uint64_t>(choice);
  return text;
}

void read_generation_fields(FieldReader& reader, const ServedModel& model, GenerationRequest& request, BiasForm form) {
  request.text.sampling = model.sampling;
  reader.read("model", request.model);
  read_sampling(reader, request.text.sampling);
  LogitBiases biases = read_biases(reader, form, model.vocabulary);
  request.text.biases = std::move(biases.tokens);
  request.text_biases = std::move(biases.texts);
  request.seed = model.seed;
  std::optional<std::int64_t> seed;
  reader.read("seed", seed, Integers{});
  if (seed) request.seed = static_cast<std::uint64_t>(*seed);
  reader.read("n", request.choices, {1, most_choices});
  read_stops(reader, request.text.stops);
  if (const Value* found = reader.value("stop_token_ids", Kind::sequence)) {
    read_tokens(reader, "stop_token_ids", found->items(), model.vocabulary, request.text.stop_tokens);
  }
  reader.read("ignore_eos", request.text.ignores_end);
  reader.read("min_tokens", request.text.least_tokens, {0, std::numeric_limits<std::int32_t>::max()});
  reader.read("cache_salt", request.cache_salt);
  reader.read("cache_prompt", request.shares_cache);
  read_stream_options(reader, request);
  read_harmless(reader);
  refuse_others(reader);
}

void check_lengths(FieldReader& reader, const GenerationRequest& request) {
  if (!request.most_tokens || request.text.least_tokens <= *request.most_tokens) return;
  reader.fail("min_tokens", "no more than the " + std::to_string(*request.most_tokens) + " of max_tokens",
              chat::Value::integer(request.text.least_tokens));
}

}  // namespace ingot::protocol
