#include "engine/embedding_service.h"

#include <algorithm>

#include "engine/embedding.h"
#include "engine/session_guards.h"

namespace ingot {

Result<std::unique_ptr<EmbeddingService>> EmbeddingService::create(Session& session, Bell& bell,
                                                                   EmbeddingServiceOptions options) {
  TRY(require_embeddings(session.model()));
  return std::unique_ptr<EmbeddingService>(new EmbeddingService(session, bell, options));
}

Result<std::int64_t> EmbeddingService::submit(std::vector<std::int32_t> tokens, Listener listener, std::int64_t asker) {
  if (tokens.empty()) return Error::of(ErrorCode::invalid_argument, "expected at least one token, found none");
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (count > session_.context()) {
    return Error::of(ErrorCode::out_of_range, "expected a text of at most ", session_.context(), " tokens, found ",
                     count);
  }
  const std::int64_t vocabulary = session_.model().facts().vocabulary;
  for (const std::int32_t token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    return Error::of(ErrorCode::invalid_argument, "expected tokens from 0 to ", vocabulary - 1, ", found ", token);
  }
  if (!listener)
    return Error::of(ErrorCode::invalid_argument, "expected somebody to tell the vectors to, found nobody");
  const std::lock_guard lock(mutex_);
  if (std::ssize(waiting_) >= options_.queue) {
    return Error::of(ErrorCode::would_block, "expected less than ", options_.queue, " texts to wait, found ",
                     waiting_.size());
  }
  const std::int64_t number = next_number_++;
  waiting_.push_back({number, asker, turns_, std::move(tokens), std::move(listener)});
  bell_.ring();
  return number;
}

void EmbeddingService::cancel(std::int64_t number) {
  Listener dropped;  // what it holds goes after the lock
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(waiting_, number, &Text::number);
  if (found == waiting_.end()) return;
  dropped = std::move(found->listener);
  waiting_.erase(found);
}

EmbeddingServiceCounts EmbeddingService::counts() const {
  const std::lock_guard lock(mutex_);
  EmbeddingServiceCounts counts = counts_;
  counts.waiting = std::ssize(waiting_);
  return counts;
}

// Whose turn it is: the asker who had one, or whose text came, longest ago, whichever was later; then the earliest
// text.
std::vector<EmbeddingService::Text>::iterator EmbeddingService::next_waiting() {
  return std::ranges::min_element(waiting_, {}, [this](const Text& text) {
    const auto found = last_turns_.find(text.asker);
    const std::int64_t last = found == last_turns_.end() ? 0 : found->second;
    return std::pair(std::max(text.turns_before, last), text.number);
  });
}

std::vector<EmbeddingService::Text> EmbeddingService::take_texts() {
  const std::lock_guard lock(mutex_);
  std::vector<Text> texts;
  std::int64_t tokens = 0;
  // A longer text goes alone: these models read a text in one pass.
  while (!waiting_.empty() && std::ssize(texts) < session_.options().sequences) {
    const auto next = next_waiting();
    tokens += std::ssize(next->tokens);
    if (!texts.empty() && tokens > session_.options().chunk) break;
    last_turns_[next->asker] = ++turns_;
    texts.push_back(std::move(*next));
    waiting_.erase(next);
  }
  // Whoever has nothing that waits has no turn to remember.
  std::erase_if(last_turns_, [this](const auto& turn) {
    return std::ranges::find(waiting_, turn.first, &Text::asker) == waiting_.end();
  });
  return texts;
}

bool EmbeddingService::step() {
  const std::vector<Text> texts = take_texts();
  if (texts.empty()) return false;
  compute(texts);
  return true;
}

Result<View<const float>> EmbeddingService::forward(std::span<const Text> texts) {
  OwnSequences own(session_);
  std::vector<TokenRun> runs;
  for (const Text& text : texts) runs.push_back({TRY(own.add()), text.tokens, Wanted::all});
  return session_.forward(runs);
}

void EmbeddingService::compute(std::span<const Text> texts) {
  const Result<View<const float>> vectors = forward(texts);
  if (!vectors.ok() && texts.size() > 1) {  // what is too much for one pass may not be too much for several
    for (const Text& text : texts) compute(std::span(&text, 1));
    return;
  }
  if (!vectors.ok()) return texts.front().listener(vectors.error());
  std::int64_t tokens = 0;
  for (const Text& text : texts) tokens += std::ssize(text.tokens);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.passes;
    counts_.texts += std::ssize(texts);
    counts_.tokens += tokens;
  }
  const View<const float>& rows = vectors.value();
  const float* next = rows.data();
  for (const Text& text : texts) {
    const View<const float> own(next, {std::ssize(text.tokens), rows.size(1)});
    text.listener(pooled_embeddings(session_.model().facts(), own));
    next += own.count();
  }
}

}  // namespace ingot
