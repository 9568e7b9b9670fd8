#include "server/protocol/embedding_request.h"

namespace ingot::protocol {

namespace {

void read_form(FieldReader& reader, VectorForm& form) {
  const chat::Value* found = reader.value("encoding_format");
  if (found == nullptr) return;
  if (found->is_text() && found->bytes() == "base64") {
    form = VectorForm::base64;
  } else if (!found->is_text() || found->bytes() != "float") {
    reader.fail("encoding_format", "'float' or 'base64'", *found);
  }
}

Outcome<EmbeddingRequest> read_embedding_fields(FieldReader& reader, const ServedModel& model) {
  EmbeddingRequest request;
  reader.read("model", request.model);
  if (model.embedding_width == 0) {
    reader.fail(wrong_field("model", "model: expected one that makes embeddings, found one that makes text"));
  }
  read_inputs(reader, "input", model.vocabulary, request.inputs);
  for (const TokenInput& input : request.inputs) {
    const std::string* text = std::get_if<std::string>(&input);
    if (text != nullptr && text->empty()) {
      reader.fail("input", "texts of at least one character", chat::Value::text(*text));
    }
  }
  read_form(reader, request.form);
  request.dimensions = model.embedding_width;
  reader.read("dimensions", request.dimensions, {1, model.embedding_width});
  reader.harmless("user", chat::Kind::text);
  TRY(reader.finish());
  return request;
}

}  // namespace

Outcome<EmbeddingRequest> read_embedding_request(const chat::Dictionary& body, const ServedModel& model) {
  FieldReader reader(body);
  return read_embedding_fields(reader, model);
}

std::vector<KnownField> fields_of_embedding_requests() {
  const chat::Dictionary empty;
  FieldReader reader(empty);
  (void)read_embedding_fields(reader, {});
  return reader.known();
}

}  // namespace ingot::protocol
