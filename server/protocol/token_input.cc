#include "server/protocol/token_input.h"

namespace ingot::protocol {

namespace {

std::string place_in(std::string_view name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

}  // namespace

void read_tokens(FieldReader& reader, std::string_view name, std::span<const chat::Value> items,
                 std::int64_t vocabulary, std::vector<std::int32_t>& tokens) {
  tokens.reserve(tokens.size() + items.size());
  for (std::size_t index = 0; index < items.size(); ++index) {
    const std::optional<std::int64_t> token = whole_number(items[index]);
    if (!token || *token < 0 || *token >= vocabulary) {
      return reader.fail(place_in(name, index), "a token from 0 to " + std::to_string(vocabulary - 1), items[index]);
    }
    tokens.push_back(static_cast<std::int32_t>(*token));
  }
}

void read_inputs(FieldReader& reader, std::string_view name, std::int64_t vocabulary, std::vector<TokenInput>& inputs) {
  constexpr std::string_view expected = "a text, a list of tokens, or a list of texts or of lists of tokens";
  reader.require(name, expected);
  const chat::Value* found = reader.value(name);
  if (found == nullptr) return;
  if (found->is_text()) {
    inputs.emplace_back(found->bytes());
    return;
  }
  if (!found->is(chat::Kind::sequence) || found->items().empty()) return reader.fail(name, expected, *found);
  const std::vector<chat::Value>& items = found->items();
  const chat::Kind kind = items.front().kind();
  if (whole_number(items.front())) {
    std::vector<std::int32_t> tokens;
    read_tokens(reader, name, items, vocabulary, tokens);
    inputs.emplace_back(std::move(tokens));
    return;
  }
  if (kind != chat::Kind::text && kind != chat::Kind::sequence) {
    return reader.fail(place_in(name, 0), "a text, a token or a list of tokens", items.front());
  }
  if (items.size() > most_inputs)
    return reader.fail(name, "at most " + std::to_string(most_inputs) + " of them", *found);
  for (std::size_t index = 0; index < items.size(); ++index) {
    const chat::Value& item = items[index];
    const std::string place = place_in(name, index);
    if (!item.is(kind))
      return reader.fail(place, kind == chat::Kind::text ? "a text as before" : "a list as before", item);
    if (item.is_text()) {
      inputs.emplace_back(item.bytes());
      continue;
    }
    if (item.items().empty()) return reader.fail(place, "at least one token", item);
    std::vector<std::int32_t> tokens;
    read_tokens(reader, place, item.items(), vocabulary, tokens);
    if (reader.has_failed()) return;
    inputs.emplace_back(std::move(tokens));
  }
}

}  // namespace ingot::protocol
