// HostedModel: a model that is served, with all that its requests need: tokenizer, chat template, session, and a
// service for texts or for embeddings.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "engine/embedding_service.h"
#include "engine/service.h"
#include "model/calls/call_format.h"
#include "model/chat/chat_context.h"
#include "model/chat/chat_template.h"
#include "model/grammar/constraints.h"
#include "server/metrics/request_metrics.h"
#include "server/protocol/served_model.h"
#include "server/protocol/token_input.h"

namespace ingot {

// One that requests can ask for: the model is called ID:NAME then.
struct ServedAdapter {
  std::string name;
  float scale = 1;
};

struct HostedModelOptions {
  std::string id;         // the name by which clients ask for it
  std::string path = {};  // of its file, which is told and not read
  SessionOptions session = {};
  ServiceOptions service = {};
  std::vector<ServedAdapter> adapters = {};  // the session's, by number
  std::string chat_template = {};            // Jinja, instead of the file's own; empty: that one
  std::string program = {};                  // which version of it serves
  // For requests that do not say.
  std::optional<std::uint64_t> seed = {};  // nothing: any
  bool tells_prompts = false;
};

struct ChatPrompt {
  std::vector<std::int32_t> tokens;
  bool opens_thought;  // at its end
};

class HostedModel {
 public:
  // The bell must outlive it.
  static Result<std::unique_ptr<HostedModel>> create(std::shared_ptr<const Model> model, HostedModelOptions options,
                                                     Bell& bell);

  // --- from any thread ---
  const std::string& id() const { return id_; }
  const std::string& path() const { return path_; }
  const std::vector<ServedAdapter>& adapters() const { return adapters_; }
  const std::string& adapter_path(std::size_t number) const { return session_->options().adapters[number]->path(); }
  const Model& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  // Tokens that a request may have: the session's context, or what the cache has room for where that is less.
  std::int64_t context() const { return std::min(session_->context(), cached_tokens()); }
  std::int64_t session_context() const { return session_->context(); }
  const CacheGeometry& geometry() const { return session_->geometry(); }
  std::size_t cache_bytes() const { return cache_bytes_; }
  // Against which its requests are read.
  const protocol::ServedModel& served() const { return served_; }
  std::int64_t created() const { return created_; }  // seconds since 1970
  // Of all that its answers follow from beside the request (server/fingerprint.h).
  const std::string& fingerprint() const { return fingerprint_; }
  // Null where it makes embeddings.
  Service* texts() const { return texts_.get(); }
  // Null where it predicts tokens.
  EmbeddingService* embeddings() const { return embeddings_.get(); }
  // As texts are read: with what the model wants around them.
  protocol::Outcome<std::vector<std::int32_t>> tokens_of(const protocol::TokenInput& input) const;
  bool has_chat_template() const { return template_.has_value(); }
  // Its source; empty where there is none, or none that can be read.
  std::string_view chat_template() const;
  // How its template writes calls and thoughts; null where there is none that can be read.
  const std::shared_ptr<const calls::CallFormat>& call_format() const { return call_format_; }
  // Marks of that format that are special tokens, in order.
  const std::vector<std::int32_t>& mark_tokens() const { return mark_tokens_; }
  // The prompt that the model's own template makes of a chat. Fails where there is no template, or it refuses.
  Result<ChatPrompt> chat_prompt(chat::ChatRequest request) const;
  Result<std::string> chat_text(chat::ChatRequest request) const;
  // What answers are held to: compiled once for all requests that ask for the same.
  grammar::Constraints& constraints() { return *constraints_; }
  RequestMetrics& metrics() { return metrics_; }
  // Whether what its passes ran on is gone for ever.
  bool has_lost_device() const { return has_lost_device_.load(std::memory_order_relaxed); }
  ModelFigures figures() const { return {id_, &metrics_, texts_ ? texts_->counts() : embeddings_->counts()}; }

  // --- from the thread of passes ---
  Session& session() { return *session_; }
  bool step();
  std::optional<std::chrono::steady_clock::time_point> earliest_deadline() const;
  void cancel_all();

 private:
  explicit HostedModel(std::shared_ptr<const Model> model, std::string id)
      : model_(std::move(model)), id_(std::move(id)) {}
  std::int64_t cached_tokens() const { return geometry().pages * geometry().page_length; }
  Result<chat::MarkedText> render(chat::ChatRequest request) const;
  void read_call_format();

  std::atomic<bool> has_lost_device_{false};
  std::shared_ptr<const Model> model_;
  std::string id_;
  std::string path_;
  std::vector<ServedAdapter> adapters_;
  const Tokenizer* tokenizer_ = nullptr;
  std::int64_t created_ = 0;
  std::string fingerprint_;
  protocol::ServedModel served_;
  std::optional<Result<chat::ChatTemplate>> template_;  // nothing: the file has none
  std::optional<grammar::Constraints> constraints_;
  std::shared_ptr<const calls::CallFormat> call_format_;
  std::vector<std::int32_t> mark_tokens_;
  std::size_t cache_bytes_ = 0;
  RequestMetrics metrics_;
  std::unique_ptr<Session> session_;
  // They end first: what is left of their requests is told then, and counted.
  std::unique_ptr<Service> texts_;
  std::unique_ptr<EmbeddingService> embeddings_;
};

}  // namespace ingot
