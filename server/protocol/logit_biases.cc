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

  void read_object(const std::vector<chat::Dictionary::Entry>& entries) {
    if (!check_size(entries.size())) return;
    for (const chat::Dictionary::Entry& entry : entries) {
      read(std::string(bias_field) + "." + entry.key.bytes(), entry.key, entry.value);
    }
  }

  void read_pairs(const std::vector<Value>& pairs) {
    if (!check_size(pairs.size())) return;
    for (std::size_t index = 0; index < pairs.size(); ++index) {
      const Value& pair = pairs[index];
      const std::string place = std::string(bias_field) + "[" + std::to_string(index) + "]";
      if (!pair.is(Kind::sequence) || pair.items().size() != 2) {
        return reader_.fail(place, "a pair of a token and a number", pair);
      }
      read(place, pair.items()[0], pair.items()[1]);
    }
  }

  LogitBiases take() { return std::move(biases_); }

 private:
  bool check_size(std::size_t found) {
    if (found <= most_biases) return true;
    reader_.fail(too_many(std::string(bias_field), most_biases, "tokens", found));
    return false;
  }

  // `key` is a token as an object spells it, or as a list has it.
  void read(const std::string& place, const Value& key, const Value& given) {
    const std::optional<float> added = read_added(given);
    const std::optional<std::int64_t> token = key.is_text() ? number_spelled(key.bytes()) : whole_number(key);
    if (token ? !is_token(*token, key) : !is_text(key)) {
      return reader_.fail(bias_field, "tokens from 0 to " + std::to_string(vocabulary_ - 1) + " as keys", key);
    }
    if (!added) return reader_.fail(place, "a number from -100 to 100", given);
    if (token) {
      biases_.tokens.push_back({static_cast<std::int32_t>(*token), *added});
    } else {
      biases_.texts.push_back({key.bytes(), *added});
    }
  }

  bool is_token(std::int64_t token, const Value& key) const {
    return token >= 0 && token < vocabulary_ && (!key.is_text() || key.bytes() == std::to_string(token));
  }
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
  const Value* found = form == BiasForm::openai ? reader.value(bias_field, Kind::dictionary) : reader.value(bias_field);
  if (found == nullptr) return {};
  BiasReader biases(reader, form, vocabulary);
  if (found->is(Kind::dictionary)) {
    biases.read_object(found->as_dictionary().entries());
  } else if (found->is(Kind::sequence)) {
    biases.read_pairs(found->items());
  } else {
    reader.fail(bias_field, "an object by tokens or a list of pairs", *found);
  }
  return biases.take();
}

}  // namespace ingot::protocol
