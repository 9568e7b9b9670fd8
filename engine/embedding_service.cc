#include "engine/embedding_service.h"

#include <algorithm>

#include "engine/embedding.h"
#include "engine/session_guards.h"

namespace ingot {
namespace {

std::int64_t tokens_of(const VectorRequest& request) {
  std::int64_t tokens = 0;
  for (const std::vector<std::int32_t>& text : request.texts) tokens += std::ssize(text);
  return tokens;
}

double waited_since(std::chrono::steady_clock::time_point moment) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - moment).count();
}

}  // namespace

Result<std::unique_ptr<EmbeddingService>> EmbeddingService::create(Session& session, Bell& bell,
                                                                   EmbeddingServiceOptions options) {
  TRY(require_embeddings(session.model()));
  return std::unique_ptr<EmbeddingService>(new EmbeddingService(session, bell, options));
}

EmbeddingService::~EmbeddingService() { cancel_all(); }

Result<void> EmbeddingService::check(const VectorRequest& request) const {
  if (request.texts.empty()) return Error::of(ErrorCode::invalid_argument, "expected at least one text, found none");
  const std::int64_t vocabulary = session_.model().facts().vocabulary;
  for (const std::vector<std::int32_t>& text : request.texts) {
    if (text.empty()) return Error::of(ErrorCode::invalid_argument, "expected at least one token, found none");
    if (std::ssize(text) > session_.context()) {
      return Error::of(ErrorCode::out_of_range, "expected a text of at most ", session_.context(), " tokens, found ",
                       text.size());
    }
    for (const std::int32_t token : text) {
      if (token >= 0 && token < vocabulary) continue;
      return Error::of(ErrorCode::invalid_argument, "expected tokens from 0 to ", vocabulary - 1, ", found ", token);
    }
  }
  if (request.listener) return {};
  return Error::of(ErrorCode::invalid_argument, "expected somebody to tell the vectors to, found nobody");
}

Result<std::int64_t> EmbeddingService::submit(VectorRequest request) {
  TRY(check(request));
  auto active = std::make_unique<Active>(Active{.request = std::move(request)});
  active->ending.vectors.resize(active->request.texts.size());
  active->ending.counts.prompt = tokens_of(active->request);
  const auto texts = std::ssize(active->request.texts);
  const std::lock_guard lock(mutex_);
  TRY(waiting_.check(active->request.asker, {1, texts}));
  waiting_.add(active->request.asker, {1, texts});
  ++counts_.waiting;
  ++turns_[active->request.asker].requests;
  active->turns_before = turns_of_all_;
  const std::int64_t number = active->number = next_number_++;
  active_.push_back(std::move(active));
  bell_.ring();
  return number;
}

void EmbeddingService::cancel(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(active_, number, &Active::number);
  if (found == active_.end()) return;
  (*found)->is_cancelled = true;
  bell_.ring();
}

ServiceCounts EmbeddingService::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::optional<std::chrono::steady_clock::time_point> EmbeddingService::earliest_deadline() const {
  const std::lock_guard lock(mutex_);
  std::optional<Clock::time_point> earliest;
  for (const std::unique_ptr<Active>& active : active_) {
    const auto& deadline = active->request.deadline;
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  return earliest;
}

// Whose turn it is: the asker who had one, or whose texts came, longest ago, whichever was later; then the earliest
// request. Null where nobody waits.
EmbeddingService::Active* EmbeddingService::next_waiting() const {
  const auto place = [this](const Active& active) {
    return std::pair(std::max(active.turns_before, turns_.at(active.request.asker).last), active.number);
  };
  Active* next = nullptr;
  for (const std::unique_ptr<Active>& active : active_) {
    if (active->taken == active->request.texts.size()) continue;
    if (next == nullptr || place(*active) < place(*next)) next = active.get();
  }
  return next;
}

// Whoever has nothing that waits has no turn to remember.
void EmbeddingService::end_turns(std::int64_t asker) {
  if (--turns_[asker].requests == 0) turns_.erase(asker);
}

void EmbeddingService::take(Active& active, std::size_t texts) {
  active.taken += texts;
  const bool is_last = active.taken == active.request.texts.size();
  waiting_.remove(active.request.asker, {is_last ? 1 : 0, static_cast<std::int64_t>(texts)});
  if (is_last) end_turns(active.request.asker);
}

void EmbeddingService::begin(Active& active) {
  active.ending.times.waiting = waited_since(active.arrival);
  --counts_.waiting;
  ++counts_.running;
  counts_.prompt_tokens += active.ending.counts.prompt;
}

std::vector<EmbeddingService::Text> EmbeddingService::take_texts() {
  const std::lock_guard lock(mutex_);
  std::vector<Text> texts;
  std::int64_t tokens = 0;
  // A longer text goes alone: in one pass where its tokens see the future, else in as many as it takes.
  while (std::ssize(texts) < session_.options().sequences) {
    Active* const next = next_waiting();
    if (next == nullptr) break;
    const Text text = {next, next->taken};
    tokens += std::ssize(text.tokens());
    if (!texts.empty() && tokens > session_.options().chunk) break;
    if (text.index == 0) begin(*next);
    turns_[next->request.asker].last = ++turns_of_all_;
    take(*next, 1);
    texts.push_back(text);
  }
  return texts;
}

bool EmbeddingService::step() {
  end_unwanted();
  const std::vector<Text> texts = take_texts();
  if (!texts.empty()) compute(texts);
  remove_ended();
  return !texts.empty();
}

void EmbeddingService::end_unwanted() {
  std::vector<std::pair<Active*, GenerationEnd>> unwanted;
  {
    const Clock::time_point now = Clock::now();
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<Active>& active : active_) {
      const bool is_late = active->request.deadline && *active->request.deadline <= now;
      if (active->is_cancelled) {
        unwanted.emplace_back(active.get(), GenerationEnd::cancelled);
      } else if (is_late) {
        unwanted.emplace_back(active.get(), GenerationEnd::deadline);
      }
    }
  }
  for (const auto& [active, reason] : unwanted) end(*active, reason);
}

void EmbeddingService::cancel_all() {
  std::vector<Active*> all;
  {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<Active>& active : active_) all.push_back(active.get());
  }
  for (Active* const active : all) end(*active, GenerationEnd::cancelled);
  remove_ended();
}

// None of its texts waits any more, and it is counted so, before anybody is told.
void EmbeddingService::end(Active& active, GenerationEnd end, std::optional<Error> error) {
  if (active.has_ended) return;
  active.has_ended = true;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t texts = active.request.texts.size();
    if (active.taken == 0) {
      active.ending.times.waiting = waited_since(active.arrival);
      --counts_.waiting;
    } else {
      --counts_.running;
    }
    if (active.taken < texts) take(active, texts - active.taken);
  }
  if (end != GenerationEnd::model) active.ending.vectors.clear();
  active.ending.end = end;
  active.ending.error = error;
  active.request.listener(std::move(active.ending));
}

void EmbeddingService::remove_ended() {
  std::vector<std::unique_ptr<Active>> ended;  // what listeners hold goes after the lock
  const std::lock_guard lock(mutex_);
  const auto rest = std::ranges::stable_partition(active_, [](const auto& active) { return !active->has_ended; });
  std::ranges::move(rest, std::back_inserter(ended));
  active_.erase(rest.begin(), rest.end());
}

Result<View<const float>> EmbeddingService::forward(std::span<const Text> texts) {
  OwnSequences own(session_);
  std::vector<TokenRun> runs;
  for (const Text& text : texts) {
    const int sequence = TRY(own.add());
    runs.push_back({sequence, text.tokens(), Wanted::all});
  }
  return session_.forward(runs);
}

void EmbeddingService::compute(std::span<const Text> texts) {
  const Result<View<const float>> vectors = forward(texts);
  if (!vectors.ok() && texts.size() > 1) {  // what is too much for one pass may not be too much for several
    for (const Text& text : texts) {
      if (!text.active->has_ended) compute(std::span(&text, 1));
    }
    return;
  }
  if (!vectors.ok()) return end(*texts.front().active, GenerationEnd::failed, vectors.error());
  const View<const float>& rows = vectors.value();
  {
    const std::lock_guard lock(mutex_);
    ++counts_.prompt_passes;
    counts_.prompt_rows += rows.size(0);
  }
  const float* next = rows.data();
  for (const Text& text : texts) {
    Active& active = *text.active;
    const View<const float> own(next, {std::ssize(text.tokens()), rows.size(1)});
    next += own.count();
    active.ending.vectors[text.index] = pooled_embeddings(session_.model().facts(), own);
    if (++active.computed == active.request.texts.size()) end(active, GenerationEnd::model);
  }
}

}  // namespace ingot
