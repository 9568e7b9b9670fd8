#include "server/protocol/logit_biases.h"

#include <charconv>

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::string_view bias_field = "logit_bias";

std::optional<std::int64_t> number_spelled(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

class BiasReader {
 public:
  BiasReader(FieldReader& reader, BiasForm form, std::int64_t vocabulary)
      : reader_(reader), form_(form), vocabulary_(vocabulary) {}

  // `key` is a token as an object spells it, or as a list has it.
  void read(const std::string& place, const Value& key, const Value& given) {
    const std::optional<float> added = read_added(given);
    const std::optional<std::int64_t> token = key.is_text() ? number_spelled(key.bytes()) : whole_number(key);
    if (token ? *token < 0 || *token >= vocabulary_ : !is_text(key)) {
      return reader_.fail(bias_field, "tokens from 0 to " + std::to_string(vocabulary_ - 1) + " as keys", key);
    }
    if (!added) return reader_.fail(place, "a number from -100 to 100", given);
    if (token) {
      biases_.tokens.push_back({static_cast<std::int32_t>(*token), *added});
    } else {
      biases_.texts.push_back({key.bytes(), *added});
    }
  }

  LogitBiases take() { return std::move(biases_); }

 private:
  bool is_text(const Value& key) const { return form_ == BiasForm::llama && key.is_text() && !key.bytes().empty(); }

  std::optional<float> read_added(const Value& given) const {
    if (form_ == BiasForm::llama && given.is(Kind::boolean) && !given.as_boolean()) {
      return -std::numeric_limits<float>::infinity();
    }
    if (!given.is(Kind::integer) && !given.is(Kind::floating)) return std::nullopt;
    const double added = *given.number_value();
    if (added < -100 || added > 100) return std::nullopt;
    return static_cast<float>(added);
  }

  FieldReader& reader_;
  const BiasForm form_;
  const std::int64_t vocabulary_;
  LogitBiases biases_;
};

}  // namespace

LogitBiases read_biases(FieldReader& reader, BiasForm form, std::int64_t vocabulary) {
  BiasReader biases(reader, form, vocabulary);
  const Value* found = form == BiasForm::openai ? reader.value(bias_field, Kind::dictionary) : reader.value(bias_field);
  if (found == nullptr) return {};
  if (found->is(Kind::dictionary)) {
    for (const chat::Dictionary::Entry& entry : found->as_dictionary().entries()) {
      biases.read(std::string(bias_field) + "." + entry.key.bytes(), entry.key, entry.value);
    }
    return biases.take();
  }
  if (!found->is(Kind::sequence)) {
    reader.fail(bias_field, "an object by tokens or a list of pairs", *found);
    return {};
  }
  for (std::size_t index = 0; index < found->items().size(); ++index) {
    const Value& pair = found->items()[index];
    const std::string place = std::string(bias_field) + "[" + std::to_string(index) + "]";
    if (!pair.is(Kind::sequence) || pair.items().size() != 2) {
      reader.fail(place, "a pair of a token and a number", pair);
      return {};
    }
    biases.read(place, pair.items()[0], pair.items()[1]);
  }
  return biases.take();
}

}  // namespace ingot::protocol
