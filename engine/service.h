// Service: the requests of many, through one session. Whoever has one hands it in from any thread; one thread runs the
// passes, and tells the listeners.
//
//   service.submit(request);                       any thread
//   while (...) if (!service.step()) bell.wait();  the thread of passes
//
// What a pass computes is the scheduler's choice (engine/scheduler.h); what others computed of the same text is shared
// (engine/prefix_index.h), and a request whose beginning another is just computing waits for it.
#pragma once

#include <memory>
#include <mutex>

#include "engine/bell.h"
#include "engine/generation.h"
#include "engine/scheduler.h"
#include "engine/session.h"

namespace ingot {

struct ServiceOptions {
  double pass_seconds = 0.2;
  std::int64_t queue = 256;    // requests that wait
  double queue_in_caches = 4;  // the same, as tokens of their prompts: times what the cache has room for
};

struct ServiceCounts {
  // Since it began. A pass computes rows of those that generate, rows of prompts, or both.
  std::int64_t decoding_passes = 0;
  std::int64_t prompt_passes = 0;
  std::int64_t mixed_passes = 0;
  std::int64_t decoding_rows = 0;
  std::int64_t prompt_rows = 0;    // computed, those that were computed again included
  std::int64_t prompt_tokens = 0;  // of requests that were admitted
  std::int64_t cached_tokens = 0;  // of these: computed by others before
  std::int64_t generated_tokens = 0;
  std::int64_t preemptions = 0;
  // Now.
  std::int64_t running = 0;  // requests that hold pages, paused ones included
  std::int64_t waiting = 0;  // requests that do not
  std::int64_t pages = 0;
  std::int64_t pages_in_use = 0;  // by requests: others only hold what might be asked for again
};

class Service {
 public:
  // All of these must outlive it, and nobody else uses the session meanwhile. The bell rings when there is something to
  // do. Fails where the model makes embeddings: it has no next token.
  static Result<std::unique_ptr<Service>> create(Session& session, const Tokenizer& tokenizer, Bell& bell,
                                                 ServiceOptions options = {});
  // Whatever is left is cancelled.
  ~Service();

  // --- from any thread ---
  // A number to cancel it by. Fails, and tells the listener nothing, where prompt and answer cannot fit the context
  // (out_of_range), the queue is full (would_block), or a field is out of its range (invalid_argument).
  Result<std::int64_t> submit(TextRequest request);
  // These take effect before the next pass. What has ended is left alone.
  void cancel(std::int64_t number) { send(Message::Kind::cancel, number); }
  // A paused request keeps its pages as long as nobody waits for them, and gets no rows.
  void pause(std::int64_t number) { send(Message::Kind::pause, number); }
  void resume(std::int64_t number) { send(Message::Kind::resume, number); }
  ServiceCounts counts() const;
  // Tokens that prompt and answer may have together: the context, or what the cache has room for where that is less.
  std::int64_t room() const { return std::min(session_.context(), cached_tokens()); }

  // --- from the thread of passes ---
  // One pass. False where there was nothing to compute, and will not be before the bell rings or a deadline passes.
  bool step();
  // When somebody has to be told that his time is over, whether or not there is something to compute.
  std::optional<std::chrono::steady_clock::time_point> earliest_deadline() const;
  // Ends whatever is left, and tells it.
  void cancel_all();

 private:
  using Clock = std::chrono::steady_clock;
  struct Active {
    std::int64_t number;
    Generation generation;
    RequestState state = {};
    std::vector<std::uint64_t> beginnings = {};  // a hash of the prompt up to the end of each of its full pages
    std::int64_t checkpoint_at = 0;              // tokens; 0: none is kept
    int sequence = -1;                           // while it is admitted
    bool was_admitted = false;
    bool has_ended = false;
    Clock::time_point phase_begin = Clock::now();  // it was submitted, first admitted, or its first token came
  };
  struct Message {
    enum class Kind : std::uint8_t { cancel, pause, resume };
    Kind kind;
    std::int64_t number;
  };
  // An output of a pass: the row at a token of a request.
  struct OutputRow {
    Active* active;
    std::int64_t position;
    bool is_last;  // the next token is chosen from it
  };
  // What came of one.
  struct Outcome {
    std::int32_t token = 0;
    TokenScore score = {};
  };

  Service(Session& session, const Tokenizer& tokenizer, Bell& bell, ServiceOptions options);

  void send(Message::Kind kind, std::int64_t number);
  void take_messages();
  void end(Active& active, GenerationEnd end, std::string_view reason = {});
  // Notes how long the phase took that it is in, and begins the next.
  static void end_phase(Active& active);
  void end_late();
  void look_up_beginnings();
  // Tokens that a waiting request could have from another's prompt, in whole pages.
  std::int64_t shared_beginning(const Active& waiting, const Active& other) const;
  // Where the next checkpoint of a request is worth keeping.
  std::int64_t next_checkpoint(const Active& active) const;
  // Whether one who came before is about to compute more of its beginning than is known.
  bool is_computed_by_another(const Active& waiting, std::int64_t known) const;
  ScheduledPass schedule_pass();
  Active& find(std::int64_t number);
  void preempt(Active& active);
  Result<void> admit(Active& active);
  void remove_ended();
  void count_present();
  std::int64_t pages_of(std::int64_t tokens) const;
  // That the cache has room for.
  std::int64_t cached_tokens() const { return session_.geometry().pages * session_.geometry().page_length; }
  // It was admitted for the first time, or ended before that. Precondition: the lock is held.
  void waits_no_more(const Active& active);

  // A pass and what follows from it (engine/service_pass.cc).
  void compute(const ScheduledPass& pass);
  void fail(std::span<Active* const> of_pass, const Error& error);
  Result<Outcome> evaluate(const OutputRow& row, std::span<const float> logits, Context& context) const;
  void take_outputs(std::span<const OutputRow> rows, View<const float> logits);
  void take_outcome(const OutputRow& row, Result<Outcome> outcome);
  void count_pass(const ScheduledPass& pass);

  Session& session_;
  const Tokenizer& tokenizer_;
  Bell& bell_;
  ServiceOptions options_;
  ScheduleLimits limits_;
  PassCosts costs_;
  std::vector<std::unique_ptr<Active>> active_;  // by arrival
  std::vector<ScheduleState::Turn> turns_;       // of askers whose requests wait
  std::vector<std::unique_ptr<Workers>> alone_;  // one for each of the session's workers, of one thread

  mutable std::mutex mutex_;  // of all that follows
  std::vector<std::unique_ptr<Active>> submitted_;
  std::vector<Message> messages_;
  ServiceCounts counts_;  // but for those that wait
  std::int64_t next_number_ = 0;
  std::int64_t admissions_ = 0;
  std::int64_t waiting_ = 0;         // submitted and not admitted yet
  std::int64_t waiting_tokens_ = 0;  // of their prompts
  std::int64_t waiting_again_ = 0;   // preempted
};

}  // namespace ingot
