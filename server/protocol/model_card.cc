#include "server/protocol/model_card.h"

#include "server/protocol/json_text.h"

namespace ingot::protocol {

namespace {

// The names in `meta` are llama-server's, but for the last two.
void add_model(JsonWriter& writer, const ModelCard& model) {
  writer.open_object();
  writer.key("id").text(model.id).key("object").text("model").key("created").number(model.created);
  writer.key("owned_by").text("ingot");
  if (!model.parent.empty()) writer.key("parent").text(model.parent);
  writer.key("meta").open_object();
  writer.key("n_vocab").number(model.vocabulary).key("n_ctx").number(model.context);
  writer.key("n_ctx_train").number(model.trained_context).key("n_embd").number(model.width);
  writer.key("n_params").number(model.parameters).key("size").number(model.bytes);
  writer.key("has_chat_template").boolean(model.has_chat_template);
  writer.key("makes_embeddings").boolean(model.makes_embeddings);
  writer.close_object().close_object();
}

}  // namespace

std::string model_answer(const ModelCard& model) {
  std::string json;
  JsonWriter writer(json);
  add_model(writer, model);
  return json;
}

std::string model_list_answer(std::span<const ModelCard> models) {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("object").text("list").key("data").open_list();
  for (const ModelCard& model : models) add_model(writer, model);
  writer.close_list().close_object();
  return json;
}

}  // namespace ingot::protocol
