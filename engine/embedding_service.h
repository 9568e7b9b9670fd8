// EmbeddingService: texts of many as vectors, through one session. As engine/service.h: whoever has a text hands it in
// from any thread, one thread runs the passes and tells what came of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "engine/bell.h"
#include "engine/session.h"

namespace ingot {

struct EmbeddingServiceOptions {
  std::int64_t queue = 256;  // texts that wait
};

struct EmbeddingServiceCounts {
  // Since it began.
  std::int64_t passes = 0;
  std::int64_t texts = 0;  // computed
  std::int64_t tokens = 0;
  // Now.
  std::int64_t waiting = 0;
};

class EmbeddingService {
 public:
  // Told what embeddings_of() gives (engine/embedding.h), or why there is nothing; once, on the thread of passes.
  using Listener = std::function<void(Result<std::vector<std::vector<float>>>)>;

  // Session and bell must outlive it, and nobody else uses the session meanwhile. Fails where the model makes none.
  static Result<std::unique_ptr<EmbeddingService>> create(Session& session, Bell& bell,
                                                          EmbeddingServiceOptions options = {});
  // --- from any thread ---
  // A number to cancel it by. Texts of one asker take turns with those of others. Fails, and tells the listener
  // nothing, where the text is longer than the context (out_of_range), the queue is full (would_block), or there is no
  // text or an unknown token in it (invalid_argument).
  Result<std::int64_t> submit(std::vector<std::int32_t> tokens, Listener listener, std::int64_t asker = 0);
  // A text that waits is dropped, and its listener told nothing. What is under way or has ended is left alone.
  void cancel(std::int64_t number);
  EmbeddingServiceCounts counts() const;

  // --- from the thread of passes ---
  // One pass over as many texts as fit a chunk, or one that is longer. False where nobody waits.
  bool step();

 private:
  struct Text {
    std::int64_t number = 0;
    std::int64_t asker = 0;
    std::int64_t turns_before = 0;  // of all, when it came: whoever is new takes his place behind those who wait
    std::vector<std::int32_t> tokens;
    Listener listener;
  };

  EmbeddingService(Session& session, Bell& bell, EmbeddingServiceOptions options)
      : session_(session), bell_(bell), options_(options) {}
  // The texts of the next pass, which wait no more.
  std::vector<Text> take_texts();
  std::vector<Text>::iterator next_waiting();
  void compute(std::span<const Text> texts);
  Result<View<const float>> forward(std::span<const Text> texts);

  Session& session_;
  Bell& bell_;
  EmbeddingServiceOptions options_;

  mutable std::mutex mutex_;  // of all that follows
  std::vector<Text> waiting_;
  std::map<std::int64_t, std::int64_t> last_turns_;  // of askers who wait: which turn it was
  std::int64_t turns_ = 0;
  std::int64_t next_number_ = 0;
  EmbeddingServiceCounts counts_;
};

}  // namespace ingot
