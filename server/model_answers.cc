#include "server/model_answers.h"

#include "server/protocol/json_text.h"
#include "server/protocol/model_card.h"
#include "server/protocol/server_properties.h"

namespace ingot {
namespace {

protocol::ModelCard card_of(const HostedModel& model) {
  const ModelFacts& facts = model.model().facts();
  protocol::ModelCard card = {.id = model.id(),
                              .created = model.created(),
                              .vocabulary = facts.vocabulary,
                              .trained_context = facts.context,
                              .context = model.context(),
                              .width = facts.width,
                              .has_chat_template = model.has_chat_template(),
                              .makes_embeddings = facts.makes_embeddings};
  for (const StoredTensor& tensor : model.model().file().tensors()) {
    card.parameters += tensor.view.count();
    card.bytes += row_bytes(tensor.view.dtype(), tensor.view.count());
  }
  return card;
}

protocol::ModelCard with_adapter(protocol::ModelCard card, const HostedModel& model, std::size_t adapter) {
  card.parent = card.id;
  card.id += ":" + model.adapters()[adapter].name;
  return card;
}

}  // namespace

std::string model_answer(const HostedModel& model, std::optional<std::size_t> adapter) {
  protocol::ModelCard card = card_of(model);
  return protocol::model_answer(adapter ? with_adapter(std::move(card), model, *adapter) : std::move(card));
}

std::string adapters_answer(const HostedModel& model) {
  std::string json;
  protocol::JsonWriter writer(json);
  writer.open_list();
  for (std::size_t number = 0; number < model.adapters().size(); ++number) {
    // What a request that says nothing has of it.
    writer.open_object().key("id").number(static_cast<std::int64_t>(number)).key("path");
    writer.text(model.adapter_path(number)).key("scale").number(0);
    writer.key("name").text(model.id() + ":" + model.adapters()[number].name).close_object();
  }
  writer.close_list();
  return json;
}

std::string model_list_answer(std::span<HostedModel* const> models) {
  std::vector<protocol::ModelCard> cards;
  for (const HostedModel* model : models) {
    const protocol::ModelCard card = card_of(*model);
    cards.push_back(card);
    for (std::size_t number = 0; number < model->adapters().size(); ++number) {
      cards.push_back(with_adapter(card, *model, number));
    }
  }
  return protocol::model_list_answer(cards);
}

std::string properties_answer(const HostedModel& model) {
  const Tokenizer& tokenizer = model.tokenizer();
  return protocol::properties_answer({.id = model.id(),
                                      .path = model.path(),
                                      .chat_template = std::string(model.chat_template()),
                                      .begin_token = std::string(tokenizer.piece(tokenizer.bos())),
                                      .end_token = std::string(tokenizer.piece(tokenizer.eos())),
                                      .context = model.context(),
                                      .sequences = model.geometry().sequences,
                                      .served = model.served()});
}

}  // namespace ingot
