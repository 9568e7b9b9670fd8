#include "server/protocol/generation_request.h"

#include "engine/adapter.h"
#include "server/protocol/neutral_fields.h"
#include "server/protocol/sampler_order.h"
#include "server/protocol/text_parts.h"
#include "server/protocol/token_input.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

// Each is looked for, or looked up, at every token: more than these are a mistake, or an attack.
constexpr std::size_t most_stops = 16;
constexpr std::size_t most_stop_bytes = 1024;
constexpr std::size_t most_stop_tokens = 256;
constexpr std::int64_t most_choices = 128;

// Two names of one thing: vLLM's, and llama-server's.
void read_repetition(FieldReader& reader, double& repetition) {
  constexpr Numbers range = {0.01, 100};
  std::optional<double> first, second;
  reader.read("repetition_penalty", first, range);
  reader.read("repeat_penalty", second, range);
  if (first && second && *first != *second) {
    reader.fail("repeat_penalty", "what repetition_penalty says", chat::Value::floating(*second));
  }
  repetition = first.value_or(second.value_or(repetition));
}

void read_sampling(FieldReader& reader, SamplerOptions& sampling) {
  reader.read("temperature", sampling.temperature, {0, 2});
  reader.read("top_p", sampling.top_p, {0, 1});
  reader.read("min_p", sampling.min_p, {0, 1});
  reader.read("frequency_penalty", sampling.frequency, {-2, 2});
  reader.read("presence_penalty", sampling.presence, {-2, 2});
  read_repetition(reader, sampling.repetition);
  reader.read("top_k", sampling.top_k, {-1, std::numeric_limits<std::int32_t>::max()});
  if (sampling.top_k < 0) sampling.top_k = 0;  // -1 is how others switch it off
  reader.read("repeat_last_n", sampling.penalty_window, {-1, std::numeric_limits<std::int32_t>::max()});
  if (sampling.penalty_window < 0) sampling.penalty_window = std::numeric_limits<std::int32_t>::max();  // -1: all
  read_sampler_order(reader, sampling);
}

void read_stop(FieldReader& reader, const std::string& name, const Value& found, std::vector<std::string>& stops) {
  if (!found.is_text() || found.bytes().empty()) return reader.fail(name, "a text of at least one character", found);
  if (found.bytes().size() > most_stop_bytes) {
    return reader.fail(too_many(name, most_stop_bytes, "bytes", found.bytes().size()));
  }
  stops.push_back(found.bytes());
}

void read_stop_tokens(FieldReader& reader, std::int64_t vocabulary, std::vector<std::int32_t>& tokens) {
  const Value* found = reader.value("stop_token_ids", Kind::sequence);
  if (found == nullptr) return;
  if (found->items().size() > most_stop_tokens) {
    return reader.fail(too_many("stop_token_ids", most_stop_tokens, "tokens", found->items().size()));
  }
  read_tokens(reader, "stop_token_ids", found->items(), vocabulary, tokens);
}

void read_stream_options(FieldReader& reader, GenerationRequest& request) {
  reader.read("stream", request.is_streamed);
  request.tells_usage = !request.is_streamed;
  reader.read("timings_per_token", request.tells_timings);
  reader.read("return_progress", request.text.wants_progress);
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

// As llama-server has it: those that are left out count nothing.
void read_adapters(FieldReader& reader, std::int64_t adapters, std::optional<std::vector<float>>& scales) {
  const Value* found = reader.value("lora", Kind::sequence);
  if (found == nullptr) return;
  if (found->items().size() > static_cast<std::size_t>(adapters)) {
    return reader.fail("lora", "a list of at most the " + std::to_string(adapters) + " adapters that are served",
                       *found);
  }
  std::vector<float> read(static_cast<std::size_t>(adapters), 0.0F);
  for (std::size_t index = 0; index < found->items().size(); ++index) {
    const std::string place = item_place("lora", index);
    const Value& item = found->items()[index];
    if (!item.is(Kind::dictionary)) return reader.fail(place, "an object with id and scale", item);
    FieldReader fields(item.as_dictionary(), place);
    std::int64_t id = -1;
    double scale = 0;
    fields.require("id", "the number of an adapter");
    fields.read("id", id, Integers{0, adapters - 1});
    fields.require("scale", "a number");
    fields.read("scale", scale, Numbers{-largest_adapter_scale, largest_adapter_scale});
    if (const Outcome<void> done = fields.finish(); !done.ok()) return reader.fail(done.error());
    read[static_cast<std::size_t>(id)] = static_cast<float>(scale);
  }
  scales = std::move(read);
}

void read_harmless(FieldReader& reader) {
  reader.harmless("user", Kind::text);
  reader.harmless("id_slot", Kind::integer);  // where llama-server puts it; here is no such place
}

}  // namespace

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
  read_stops(reader, "stop", request.text.stops);
  read_stop_tokens(reader, model.vocabulary, request.text.stop_tokens);
  reader.read("ignore_eos", request.text.ignores_end);
  reader.read("min_tokens", request.text.least_tokens, {0, std::numeric_limits<std::int32_t>::max()});
  reader.read("cache_salt", request.cache_salt);
  reader.read("cache_prompt", request.shares_cache);
  read_adapters(reader, model.adapters, request.adapters);
  read_stream_options(reader, request);
  read_harmless(reader);
  read_neutral_fields(reader);
  read_answer_shape(reader, request.shape);
}

void read_stops(FieldReader& reader, std::string_view name, std::vector<std::string>& stops) {
  const Value* found = reader.value(name);
  if (found == nullptr) return;
  if (found->is_text()) return read_stop(reader, std::string(name), *found, stops);
  if (!found->is(Kind::sequence) || found->items().size() > most_stops) {
    return reader.fail(name, "a text, or a list of up to " + std::to_string(most_stops), *found);
  }
  for (std::size_t index = 0; index < found->items().size(); ++index) {
    read_stop(reader, item_place(std::string(name), index), found->items()[index], stops);
  }
}

void check_lengths(FieldReader& reader, const GenerationRequest& request) {
  if (!request.most_tokens || request.text.least_tokens <= *request.most_tokens) return;
  reader.fail("min_tokens", "no more than the " + std::to_string(*request.most_tokens) + " of max_tokens",
              chat::Value::integer(request.text.least_tokens));
}

}  // namespace ingot::protocol
