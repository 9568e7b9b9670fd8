#include "server/model_answers.h"

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

}  // namespace

std::string model_answer(const HostedModel& model) { return protocol::model_answer(card_of(model)); }

std::string model_list_answer(std::span<HostedModel* const> models) {
  std::vector<protocol::ModelCard> cards;
  for (const HostedModel* model : models) cards.push_back(card_of(*model));
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
