// EmbeddingService: texts of many as vectors, through one session. As engine/service.h: whoever has texts hands them in
// from any thread, one thread runs the passes and tells what came of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "engine/service.h"

namespace ingot {

struct EmbeddingServiceOptions {
  // Of one asker, where nobody else's wait.
  std::int64_t queue = 256;            // requests with texts that wait
  std::int64_t queued_texts = 32'768;  // those texts: one request may have thousands
};

// What came of a request.
struct VectorEnding {
  GenerationEnd end = GenerationEnd::none;  // model: every text has its vectors
  // Of each text what embeddings_of() gives (engine/embedding.h); empty unless the model ended it.
  std::vector<std::vector<std::vector<float>>> vectors = {};
  GenerationCounts counts = {};
  GenerationTimes times = {};
  std::optional<Error> error = {};  // why it failed
};

// Texts that become vectors: all of them or none.
struct VectorRequest {
  std::vector<std::vector<std::int32_t>> texts;
  std::int64_t asker = 0;  // whose turn it is
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Told once, on the thread of passes.
  std::function<void(VectorEnding)> listener = {};
};

class EmbeddingService {
 public:
  // Session and bell must outlive it, and nobody else uses the session meanwhile. Fails where the model makes none.
  static Result<std::unique_ptr<EmbeddingService>> create(Session& session, Bell& bell,
                                                          EmbeddingServiceOptions options = {});
  // Whatever is left is cancelled.
  ~EmbeddingService();

  // --- from any thread ---
  // A number to cancel it by. Texts of one asker take turns with those of others. Fails, and tells the listener
  // nothing, where a text is longer than the context (out_of_range), the queue is full (would_block), or there is no
  // text, an empty one, or an unknown token in one (invalid_argument).
  Result<std::int64_t> submit(VectorRequest request);
  // Takes effect before the next pass. What has ended is left alone.
  void cancel(std::int64_t number);
  // Of texts as of prompts: their passes, rows and tokens. Nothing is generated, and no page is held.
  ServiceCounts counts() const;

  // --- from the thread of passes ---
  // One pass over as many texts as fit a chunk, or all of one that is longer. False where nobody waits.
  bool step();
  // As Service's.
  std::optional<std::chrono::steady_clock::time_point> earliest_deadline() const;
  void cancel_all();

 private:
  using Clock = std::chrono::steady_clock;
  struct Active {
    std::int64_t number = 0;
    VectorRequest request;
    VectorEnding ending = {};       // as far as it has come
    std::int64_t turns_before = 0;  // of all, when it came: whoever is new takes his place behind those who wait
    std::size_t taken = 0;          // texts that wait no more
    std::size_t computed = 0;
    bool is_cancelled = false;
    bool has_ended = false;
    Clock::time_point arrival = Clock::now();
  };
  struct Text {
    Active* active;
    std::size_t index;
    std::span<const std::int32_t> tokens() const { return active->request.texts[index]; }
  };
  // Of whoever has texts that wait.
  struct Turns {
    std::int64_t requests = 0;
    std::int64_t last = 0;
  };

  EmbeddingService(Session& session, Bell& bell, EmbeddingServiceOptions options)
      : session_(session), bell_(bell), waiting_({options.queue, options.queued_texts}) {}
  Result<void> check(const VectorRequest& request) const;
  void end_unwanted();
  void end(Active& active, GenerationEnd end, std::optional<Error> error = {});
  void remove_ended();
  void compute(std::span<const Text> texts);
  Result<View<const float>> forward(std::span<const Text> texts);

  // Precondition of these: the lock is held.
  Active* next_waiting() const;
  void begin(Active& active);
  void end_turns(std::int64_t asker);
  // So many more of its texts wait no more.
  void take(Active& active, std::size_t texts);

  // The texts of the next pass, which wait no more.
  std::vector<Text> take_texts();

  Session& session_;
  Bell& bell_;

  mutable std::mutex mutex_;                     // of all that follows
  std::vector<std::unique_ptr<Active>> active_;  // by arrival; removed by the thread of passes alone
  std::map<std::int64_t, Turns> turns_;          // by asker
  std::int64_t turns_of_all_ = 0;
  QueueBounds waiting_;  // a request leaves with its last text
  std::int64_t next_number_ = 0;
  ServiceCounts counts_;
};

}  // namespace ingot
