// Service: the requests of many, through one session. Whoever has one hands it in from any thread; one thread runs the
// passes, and tells the listeners.
//
//   service.submit(request, listener);             any thread
//   while (...) if (!service.step()) bell.wait();  the thread of passes
//
// What a pass computes is the scheduler's choice (engine/scheduler.h); what others computed of the same text is shared
// (engine/prefix_index.h), and a request whose beginning another is just computing waits for it. How many may wait is
// bounded for each asker (engine/queue_bounds.h).
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "engine/bell.h"
#include "engine/generation.h"
#include "engine/prompt_rows.h"
#include "engine/queue_bounds.h"
#include "engine/scheduler.h"
#include "engine/session.h"
#include "engine/text_beginnings.h"

namespace ingot {

struct ServiceOptions {
  double pass_seconds = 0.2;
  std::int64_t queue = 256;    // requests of one asker that wait, where nobody else's do
  double queue_in_caches = 4;  // the same, as tokens of their prompts: times what the cache has room for
  // Whether a text goes on in the tokenizer's tokens where its grammar leaves no choice (engine/held_text.h). They are
  // computed with the token before them, as a prompt is.
  bool forces_tokens = true;
  // Tokens that followed, earlier in a text, what it ends with: so many are computed in one pass with the one before
  // them (0: none). Each is chosen from its own logits all the same, so that nobody's words depend on it.
  std::int64_t most_looked_up = 0;
  // Computes masks of texts that are held to a grammar; null: one of its own. Services may share it.
  std::shared_ptr<MaskThread> masks = nullptr;
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
  std::int64_t forced_tokens = 0;    // of these: a grammar left no choice
  std::int64_t proposed_tokens = 0;  // that were computed
  std::int64_t accepted_tokens = 0;  // of these: chosen then
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
  // All choices of one request or more, of one asker, or none of them. A number to cancel the first choice by; those
  // that follow have the numbers that follow. Fails, and tells the listeners nothing, where prompt and answer cannot
  // fit the context (out_of_range), the queue is full (would_block), or a field is out of its range, or there are more
  // choices than the queue can ever hold (invalid_argument).
  Result<std::int64_t> submit(std::vector<TextChoices> requests);
  Result<std::int64_t> submit(TextRequest request, std::shared_ptr<GenerationListener> listener);
  // Fails where so many choices, with prompts of so many tokens together, could never wait: for whoever would rather
  // know before they are made.
  Result<void> check_queue_holds(std::int64_t choices, std::int64_t tokens) const;
  // These take effect before the next pass. What has ended is left alone.
  void cancel(std::int64_t number) { send(Message::Kind::cancel, number); }
  // A paused request keeps its pages as long as nobody waits for them, and gets no rows.
  void pause(std::int64_t number) { send(Message::Kind::pause, number); }
  void resume(std::int64_t number) { send(Message::Kind::resume, number); }
  ServiceCounts counts() const;
  // Tokens that prompt and answer may have together: the context, or what the cache has room for where that is less.
  std::int64_t room() const { return std::min(session_.context(), cached_tokens()); }

  // --- from the thread of passes ---
  // One pass, and what came of it. On a device another one may be under way behind it, for those that go on. False
  // where there was nothing to compute, and will not be before the bell rings or a deadline passes.
  bool step();
  // When somebody has to be told that his time is over, whether or not there is something to compute.
  std::optional<std::chrono::steady_clock::time_point> earliest_deadline() const;
  // Ends whatever is left, and tells it.
  void cancel_all();
  // Whether somebody's next token waits for a mask. The bell rings when it is there.
  bool awaits_masks() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Active {
    Generation generation;
    std::int64_t number = -1;
    RequestState state = {};
    TextBeginnings beginnings = {};               // of all of the prompt but its last token
    std::optional<std::uint64_t> looked_up = {};  // when what is known of it was: SequenceMemory::known_changes()
    std::int64_t checkpoint_at = 0;               // tokens; 0: none is kept
    int sequence = -1;                            // while it is admitted
    bool was_admitted = false;
    bool has_ended = false;
    std::vector<std::int32_t> proposed = {};       // that may come next; computed with the last token
    std::vector<std::int32_t> run = {};            // what it has in the pass, where that is not all of its own text
    std::vector<float> kept_logits = {};           // of its last run, where it is not known what may come next
    bool must_choose_again = false;                // a device chose what must not come; see set_back()
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
    bool is_last;  // the next token is chosen from it, or the one behind a proposed one
    std::span<const float> logits = {};
  };
  // A pass whose tokens the device chooses, and that has not been waited for.
  struct PassUnderWay {
    std::vector<Active*> actives;
    std::vector<OutputRow> rows;
    std::int64_t decoding_rows, prompt_rows;
    Clock::time_point begin;
    double planning_seconds;
  };
  // What came of one.
  struct Outcome {
    std::int32_t token = 0;
    TokenScore score = {};
    bool is_whole = false;   // the text; nothing but the end may follow
    bool is_forced = false;  // whatever the logits were
  };
  // Of the rows of one request that follow one another: a token behind each, as far as they are what was proposed, and
  // those that are forced then. Where one failed, those before it came all the same.
  struct Outcomes {
    std::vector<Outcome> tokens = {};
    std::optional<Error> error = {};
  };

  Service(Session& session, const Tokenizer& tokenizer, Bell& bell, ServiceOptions options);

  // Appends the choices of a request.
  Result<void> make_active(TextChoices choices, std::vector<std::unique_ptr<Active>>& made) const;
  void send(Message::Kind kind, std::int64_t number);
  void take_messages();
  void end(Active& active, GenerationEnd end, const Error* error = nullptr);
  // Notes how long the phase took so far that it is in.
  static void measure_phase(Active& active, Clock::time_point now);
  // Does so, and begins the next.
  static void end_phase(Active& active);
  void end_late();
  // Where nobody's turn can come, because all places are taken by those that stay.
  bool is_full() const;

  // What requests begin with, and who computes it (engine/service_beginnings.cc).
  void look_up_beginnings();
  // Whether `other` is about to compute a page of its beginning that is not known.
  bool awaits(const Active& waiting, const Active& other) const;
  // Where the next checkpoint of a request is worth keeping.
  std::int64_t next_checkpoint(const Active& active) const;

  ScheduledPass schedule_pass();
  Active& find(std::int64_t number);
  void preempt(Active& active);
  Result<void> admit(Active& active);
  void remove_ended();
  void count_present();
  // That the cache has room for.
  std::int64_t cached_tokens() const { return session_.geometry().pages * session_.geometry().page_length; }
  // Of the queue, what it takes until it is admitted for the first time.
  static WaitingLoad load_of(const TextRequest& request) { return {1, std::ssize(request.prompt)}; }
  // It was, or ended before that. Precondition: the lock is held.
  void waits_no_more(const Active& active);

  // How requests come (engine/service_submit.cc).
  Result<void> check_room(const TextRequest& request) const;

  // A pass and what follows from it (engine/service_pass.cc).
  void compute(const ScheduledPass& pass);
  void fail(const ScheduledPass& pass, std::span<Active* const> of_pass, const Error& error);
  Result<Outcome> evaluate(const OutputRow& row, std::int64_t ahead, Context& context) const;
  Outcomes evaluate_run(std::span<const OutputRow> rows, Context& context) const;
  // Appends what follows without a choice, where nobody wants to know how likely it was. False: the run has come to an
  // end, or to what was not proposed.
  static bool go_on_forced(Active& active, std::vector<Outcome>& tokens);
  // Those whose mask is not there yet keep their logits and choose later: nobody waits long for another's grammar.
  void take_outputs(std::span<const OutputRow> rows, View<const float> logits);
  static bool needs_mask(Active& active);
  void take_rows(std::span<const OutputRow> rows);
  // Whether somebody did.
  bool choose_late();

  // Tokens that are likely to come, or known to (engine/service_proposals.cc).
  bool can_propose() const;
  void propose(Active& active) const;
  // Not so many that others have less room for them.
  void trim_proposals();
  // What was computed of proposals that did not come is forgotten: all behind so many tokens of the text.
  void forget_refused(Active& active, std::int64_t accepted, std::int64_t length);
  void take_outcomes(std::span<const OutputRow> rows, Outcomes outcomes);
  void take_outcome(const OutputRow& row, const Outcome& found);
  void share_computed(Active& active);
  // Whoever wants to know how far his prompt is.
  static void tell_progress(Active& active);
  void count_pass(std::int64_t decoding_rows, std::int64_t prompt_rows);

  // Passes of a device behind one another (engine/service_ahead.cc).
  // Where passes run on a device and nobody looks at logits, tokens alone come back.
  bool can_choose_on_device(std::span<const OutputRow> rows) const;
  static bool have_same_adapters(std::span<Active* const> actives);
  Result<void> begin_on_device(std::span<const TokenRun> runs, std::span<Active* const> of_runs,
                               std::span<const OutputRow> rows, const ScheduledPass& pass);
  // Whether those of the pass under way will all have another token, and nobody else has to have a part in its pass.
  bool can_go_on() const;
  // Begins that pass before the tokens are known that it goes on with. Where it cannot, the next one is scheduled.
  void go_on();
  // Waits for the first that is under way, and tells its listeners while the next one runs.
  void take_first();
  void take_token(const OutputRow& row, std::int32_t token);
  // Those for whom a device chose an end that must not come: their last token is computed again, for its logits, which
  // is seldom and costs less than to bring all logits every time. Precondition: no pass is under way.
  void set_back();
  void forget_passes();
  bool is_under_way(const Active& active) const;

  Session& session_;
  const Tokenizer& tokenizer_;
  Bell& bell_;
  ScheduleLimits limits_;
  PromptRows prompt_rows_;
  PassCosts costs_;
  std::uint64_t secret_;                         // of the names of texts
  bool forces_tokens_;                           // ServiceOptions
  std::int64_t most_looked_up_;                  // too
  std::vector<std::unique_ptr<Active>> active_;  // by arrival
  std::vector<ScheduleState::Turn> turns_;       // of askers whose requests wait
  std::deque<PassUnderWay> under_way_;           // on a device; nothing is scheduled meanwhile
  Clock::time_point last_taken_;                 // when the last of them had ended
  std::vector<std::unique_ptr<Workers>> alone_;  // one for each of the session's workers, of one thread
  std::shared_ptr<MaskThread> masks_;

  mutable std::mutex mutex_;  // of all that follows
  std::vector<std::unique_ptr<Active>> submitted_;
  std::vector<Message> messages_;
  ServiceCounts counts_;  // but for those that wait
  std::int64_t next_number_ = 0;
  std::int64_t admissions_ = 0;
  QueueBounds waiting_;             // submitted and not admitted yet
  std::int64_t waiting_again_ = 0;  // preempted
};

}  // namespace ingot
