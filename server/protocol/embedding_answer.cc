#include "server/protocol/embedding_answer.h"

#include <bit>
#include <cmath>

#include "server/protocol/json_text.h"

namespace ingot::protocol {

namespace {

std::string base64_of(std::span<const float> numbers) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  bytes.reserve(4 * numbers.size());
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t place = 0; place < bytes.size(); place += 3) {
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - place);
    std::uint32_t group = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      group = group << 8 | (index < present ? static_cast<std::uint8_t>(bytes[place + index]) : 0u);
    }
    for (std::size_t index = 0; index < 4; ++index) {
      text += index <= present ? digits[group >> (18 - 6 * index) & 0x3f] : '=';
    }
  }
  return text;
}

std::vector<float> shortened(std::vector<float> vector, std::int64_t dimensions) {
  if (dimensions >= std::ssize(vector)) return vector;
  vector.resize(static_cast<std::size_t>(dimensions));
  double squares = 0;
  for (const float number : vector) squares += double{number} * number;
  const double length = std::sqrt(squares);
  for (float& number : vector) number = length > 0 ? static_cast<float>(number / length) : 0;
  return vector;
}

void add_vector(JsonWriter& writer, std::span<const float> vector, VectorForm form) {
  if (form == VectorForm::base64) {
    writer.text(base64_of(vector));
    return;
  }
  writer.open_list();
  for (const float number : vector) writer.number(number);
  writer.close_list();
}

}  // namespace

std::string embedding_answer(std::string_view model, const EmbeddingRequest& request,
                             std::span<const std::vector<float>> vectors, std::int64_t prompt_tokens) {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("object").text("list").key("data").open_list();
  for (std::size_t index = 0; index < vectors.size(); ++index) {
    writer.open_object().key("object").text("embedding").key("index").number(index).key("embedding");
    add_vector(writer, shortened(vectors[index], request.dimensions), request.form);
    writer.close_object();
  }
  writer.close_list().key("model").text(model).key("usage").open_object();
  writer.key("prompt_tokens").number(prompt_tokens).key("total_tokens").number(prompt_tokens);
  writer.close_object().close_object();
  return json;
}

}  // namespace ingot::protocol
