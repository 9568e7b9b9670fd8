// Service: the requests of many, through one session. Whoever has one hands it in from any thread; one thread runs the
// passes, and tells the listeners.
//
//   service.submit(request);                          any thread
//   while (...) if (!service.step()) service.wait();  the thread of passes
//
// What a pass computes is the scheduler's choice (engine/scheduler.h); what others computed of the same text is shared
// (engine/prefix_index.h), and a request whose beginning another is just computing waits for it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "engine/generation.h"
#include "engine/scheduler.h"
#include "engine/session.h"

namespace ingot {

struct ServiceOptions {
  double pass_seconds = 0.2;
  std::int64_t queue = 256;  // requests that wait
};

// What it did since it began.
struct ServiceCounts {
  std::int64_t passes = 0;
  std::int64_t prompt_rows = 0;  // computed, those that were computed again included
  std::int64_t decoding_rows = 0;
  std::int64_t cached_tokens = 0;  // of prompts: computed by others before
  std::int64_t preemptions = 0;
};

class Service {
 public:
  // Session and tokenizer must outlive it, and nobody else uses the session meanwhile. Fails where the model makes
  // embeddings: it has no next token.
  static Result<std::unique_ptr<Service>> create(Session& session, const Tokenizer& tokenizer,
                                                 ServiceOptions options = {});
  // Whatever is left is cancelled.
  ~Service();

  // --- from any thread ---
  // A number to cancel it by. Fails, and tells the listener nothing, where prompt and answer cannot fit the context
  // (out_of_range), the queue is full (would_block), or a field is out of its range (invalid_argument).
  Result<std::int64_t> submit(TextRequest request);
  // Takes effect before the next pass. What has ended is left alone.
  void cancel(std::int64_t number);

  // --- from the thread of passes ---
  // One pass. False where there was nothing to compute.
  bool step();
  // Until there may be something to compute, or somebody calls wake().
  void wait();
  void wake();  // from any thread

  const ServiceCounts& counts() const { return counts_; }

 private:
  struct Active {
    std::int64_t number;
    Generation generation;
    RequestState state = {};
    std::vector<std::uint64_t> beginnings = {};  // a hash of the prompt up to the end of each of its full pages
    int sequence = -1;                           // while it is admitted
    bool was_admitted = false;
    bool has_ended = false;
  };

  Service(Session& session, const Tokenizer& tokenizer, ServiceOptions options);

  void take_messages();
  void end(Active& active, GenerationEnd end, std::string_view reason = {});
  void end_late();
  void look_up_beginnings();
  // Whether one who came before is about to compute more of its beginning than is known.
  bool is_computed_by_another(const Active& waiting, std::int64_t known) const;
  Active& find(std::int64_t number);
  void preempt(Active& active);
  Result<void> admit(Active& active);
  void compute(const ScheduledPass& pass);
  void fail(std::span<Active* const> of_pass, const Error& error);
  void choose_tokens(std::span<Active* const> rows, View<const float> logits);
  void remove_ended();
  std::int64_t pages_of(std::int64_t tokens) const;

  Session& session_;
  const Tokenizer& tokenizer_;
  ServiceOptions options_;
  ScheduleLimits limits_;
  PassCosts costs_;
  ServiceCounts counts_;
  std::vector<std::unique_ptr<Active>> active_;  // by arrival
  std::vector<ScheduleState::Turn> turns_;       // of askers whose requests wait
  std::vector<std::unique_ptr<Workers>> alone_;  // one for each of the session's workers, of one thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Active>> submitted_;
  std::vector<std::int64_t> cancelled_;
  std::int64_t next_number_ = 0;
  std::int64_t admissions_ = 0;
  std::int64_t waiting_ = 0;  // submitted and not admitted yet
  bool is_woken_ = false;
};

}  // namespace ingot
