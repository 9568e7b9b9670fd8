#include "engine/service.h"

#include <algorithm>

#include "base/random.h"

namespace ingot {
namespace {

// Outputs of a prompt's rows are logits, each as long as the vocabulary: of a chunk of 256 rows and 128,000 tokens they
// would take 128 MiB, twice, in the pass and beside it, for the sake of one request.
constexpr std::int64_t most_output_bytes = std::int64_t{64} << 20;

// Equal for equal beginnings. It decides only who waits for whom, so that a collision costs a little time.
std::vector<std::uint64_t> hash_beginnings(const TextRequest& request, std::int64_t page_length) {
  std::vector<std::uint64_t> hashes;
  std::uint64_t hash = request.salt;
  std::int64_t in_page = 0;
  // The last token is computed in any case, for what follows it.
  for (const std::int32_t token : std::span(request.prompt).first(request.prompt.size() - 1)) {
    hash = RandomNumbers(hash ^ static_cast<std::uint32_t>(token)).next();
    if (++in_page < page_length) continue;
    hashes.push_back(hash);
    in_page = 0;
  }
  return hashes;
}

}  // namespace

Service::Service(Session& session, const Tokenizer& tokenizer, Bell& bell, ServiceOptions options)
    : session_(session), tokenizer_(tokenizer), bell_(bell), options_(options) {
  limits_.page_length = session.geometry().page_length;
  limits_.admitted = session.options().sequences;
  limits_.rows = session.options().chunk;
  limits_.pass_seconds = options.pass_seconds;
  const std::int64_t row_bytes = session.model().facts().vocabulary * static_cast<std::int64_t>(sizeof(float));
  limits_.prompt_outputs = std::max<std::int64_t>(1, most_output_bytes / row_bytes);
  counts_.pages = session.geometry().pages;
}

Result<std::unique_ptr<Service>> Service::create(Session& session, const Tokenizer& tokenizer, Bell& bell,
                                                 ServiceOptions options) {
  if (session.model().facts().makes_embeddings) {
    return Error::of(ErrorCode::unsupported, "expected a model that predicts tokens, found ",
                     session.model().facts().architecture, ", which makes embeddings");
  }
  std::unique_ptr<Service> service(new Service(session, tokenizer, bell, options));
  for (int worker = 0; worker < session.options().threads; ++worker) {
    service->alone_.push_back(TRY(Workers::create({.threads = 1})));
  }
  return service;
}

Service::~Service() { cancel_all(); }

void Service::cancel_all() {
  take_messages();
  for (const std::unique_ptr<Active>& active : active_) end(*active, GenerationEnd::cancelled);
  remove_ended();
}

std::int64_t Service::pages_of(std::int64_t tokens) const { return divide_rounding_up(tokens, limits_.page_length); }

Result<std::int64_t> Service::submit(TextRequest request) {
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  const std::int64_t room = this->room();
  if (prompt > room || request.most_tokens > room - prompt) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", room, " tokens of prompt and answer, ",
                     room < session_.context() ? "which the cache has room for, " : "", "found ", prompt, " and ",
                     request.most_tokens);
  }
  auto generation =
      TRY(Generation::create(std::move(request), session_.table(), tokenizer_, session_.model().facts().vocabulary));
  std::vector<std::uint64_t> beginnings = hash_beginnings(generation.request(), limits_.page_length);
  const std::lock_guard lock(mutex_);
  if (waiting_ >= options_.queue) {
    return Error::of(ErrorCode::would_block, "expected less than ", options_.queue, " requests to wait, found ",
                     waiting_);
  }
  // Whoever comes alone may come, however long his prompt is.
  const auto most = static_cast<std::int64_t>(options_.queue_in_caches * static_cast<double>(cached_tokens()));
  if (waiting_ > 0 && waiting_tokens_ + prompt > most) {
    return Error::of(ErrorCode::would_block, "expected prompts of at most ", most, " tokens to wait, found ",
                     waiting_tokens_ + prompt);
  }
  ++waiting_;
  waiting_tokens_ += prompt;
  const std::int64_t number = next_number_++;
  auto active = std::make_unique<Active>(Active{.number = number, .generation = std::move(generation)});
  active->state.admissions_before = admissions_;
  active->beginnings = std::move(beginnings);
  submitted_.push_back(std::move(active));
  bell_.ring();
  return number;
}

void Service::waits_no_more(const Active& active) {
  --waiting_;
  waiting_tokens_ -= static_cast<std::int64_t>(active.generation.request().prompt.size());
}

void Service::send(Message::Kind kind, std::int64_t number) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back({kind, number});
  }
  bell_.ring();
}

ServiceCounts Service::counts() const {
  const std::lock_guard lock(mutex_);
  ServiceCounts counts = counts_;
  counts.waiting = waiting_ + waiting_again_;
  return counts;
}

void Service::take_messages() {
  std::vector<Message> messages;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(submitted_, std::back_inserter(active_));
    submitted_.clear();
    messages.swap(messages_);
  }
  for (const Message& message : messages) {
    const auto found = std::ranges::find(active_, message.number, &Active::number);
    if (found == active_.end()) continue;
    switch (message.kind) {
      case Message::Kind::cancel: end(**found, GenerationEnd::cancelled); break;
      case Message::Kind::pause: (*found)->state.is_paused = true; break;
      case Message::Kind::resume: (*found)->state.is_paused = false; break;
    }
  }
}

std::optional<std::chrono::steady_clock::time_point> Service::earliest_deadline() const {
  std::optional<Clock::time_point> earliest;
  for (const std::unique_ptr<Active>& active : active_) {
    const auto& deadline = active->generation.request().deadline;
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  return earliest;
}

void Service::end_late() {
  const Clock::time_point now = Clock::now();
  for (const std::unique_ptr<Active>& active : active_) {
    const auto& deadline = active->generation.request().deadline;
    if (deadline && *deadline <= now) end(*active, GenerationEnd::deadline);
  }
}

// Its pages are given back, and counted, before anybody is told.
void Service::end(Active& active, GenerationEnd end, std::string_view reason) {
  if (active.has_ended) return;
  active.has_ended = true;
  if (active.sequence >= 0) session_.sequences().remove(active.sequence);
  active.sequence = -1;
  active.state.is_admitted = false;
  if (!active.was_admitted) {
    const std::lock_guard lock(mutex_);
    waits_no_more(active);
  }
  count_present();
  end_phase(active);
  active.generation.end(end, reason);
}

void Service::end_phase(Active& active) {
  const Clock::time_point now = Clock::now();
  GenerationTimes& times = active.generation.times();
  double& phase = !active.was_admitted                        ? times.waiting
                  : active.generation.counts().generated == 0 ? times.prompt
                                                              : times.generation;
  phase = std::chrono::duration<double>(now - active.phase_begin).count();
  active.phase_begin = now;
}

void Service::remove_ended() {
  std::erase_if(active_, [](const std::unique_ptr<Active>& active) { return active->has_ended; });
}

void Service::count_present() {
  std::int64_t running = 0, waiting_again = 0;
  for (const std::unique_ptr<Active>& active : active_) {
    if (active->has_ended) continue;
    running += active->state.is_admitted;
    waiting_again += active->was_admitted && !active->state.is_admitted;
  }
  const std::lock_guard lock(mutex_);
  counts_.running = running;
  waiting_again_ = waiting_again;
  counts_.pages_in_use = counts_.pages - session_.sequences().whole().free_pages();
}

std::int64_t Service::shared_beginning(const Active& waiting, const Active& other) const {
  const auto differs = std::ranges::mismatch(waiting.beginnings, other.beginnings).in1;
  const std::int64_t pages =
      std::min<std::int64_t>(differs - waiting.beginnings.begin(),
                             std::ssize(waiting.generation.computable_beginning()) / limits_.page_length);
  return pages * limits_.page_length;
}

bool Service::is_computed_by_another(const Active& waiting, std::int64_t known) const {
  for (const std::unique_ptr<Active>& other : active_) {
    if (other->number == waiting.number) return false;  // those behind it will wait for it
    if (other->state.generates || other->state.is_paused) continue;
    // Who is past what they share may have kept nothing there.
    const std::int64_t shared = shared_beginning(waiting, *other);
    if (shared > known && shared > other->state.computed) return true;
  }
  return false;
}

// At every so many tokens; before the end of the prompt, where whoever goes on with it or asks it again begins; and
// where those that wait for it differ from it.
std::int64_t Service::next_checkpoint(const Active& active) const {
  const std::int64_t computed = active.state.computed;
  const std::int64_t distance = session_.checkpoint_distance();
  std::int64_t next = (computed / distance + 1) * distance;
  const auto consider = [&](std::int64_t at) {
    if (at > computed) next = std::min(next, at);
  };
  consider(std::ssize(active.beginnings) * limits_.page_length);
  if (active.state.generates) return next;
  for (const std::unique_ptr<Active>& other : active_) {
    if (other->state.is_admitted || other->number == active.number) continue;
    const std::int64_t shared = shared_beginning(*other, active);
    if (shared > other->state.computed) consider(shared);
  }
  return next;
}

void Service::look_up_beginnings() {
  // One that is paused makes way.
  const auto stays = [](const std::unique_ptr<Active>& active) {
    return active->state.is_admitted && !active->state.is_paused;
  };
  const bool is_full = std::ranges::count_if(active_, stays) >= limits_.admitted;  // nobody's turn can come
  if (is_full || !session_.sequences().shares_texts()) return;
  for (const std::unique_ptr<Active>& active : active_) {
    if (active->state.is_admitted) continue;
    const KnownBeginning known = session_.sequences().known_beginning(active->generation.request().salt,
                                                                      active->generation.computable_beginning());
    active->state.computed = known.tokens;
    active->state.pages = known.pages_in_use;
    active->state.is_held = is_computed_by_another(*active, known.tokens);
  }
}

Service::Active& Service::find(std::int64_t number) { return **std::ranges::find(active_, number, &Active::number); }

void Service::preempt(Active& active) {
  session_.sequences().remove(active.sequence);
  active.sequence = -1;
  active.state.is_admitted = active.state.generates = false;
  active.state.computed = active.state.pages = active.state.own_pages = 0;
  const std::lock_guard lock(mutex_);
  ++counts_.preemptions;
}

Result<void> Service::admit(Active& active) {
  SequenceMemory& sequences = session_.sequences();
  const Generation& generation = active.generation;
  active.sequence = TRY(sequences.shares_texts()
                            ? sequences.add_beginning(generation.request().salt, generation.computable_beginning())
                            : sequences.add());
  active.state.is_admitted = true;
  active.state.is_held = false;
  active.state.computed = sequences.length(active.sequence);
  const std::lock_guard lock(mutex_);
  if (!active.was_admitted) {
    end_phase(active);
    active.was_admitted = true;
    active.generation.counts().cached = active.state.computed;
    counts_.prompt_tokens += active.generation.counts().prompt;
    counts_.cached_tokens += active.state.computed;
    waits_no_more(active);
  }
  const std::int64_t asker = generation.request().asker;
  std::erase_if(turns_, [&](const ScheduleState::Turn& turn) { return turn.asker == asker; });
  turns_.push_back({asker, ++admissions_});
  return {};
}

ScheduledPass Service::schedule_pass() {
  look_up_beginnings();
  const bool keeps_checkpoints = session_.sequences().needs_checkpoints() && session_.sequences().shares_texts();
  std::vector<RequestState> states;
  for (const std::unique_ptr<Active>& active : active_) {
    RequestState& state = active->state;
    state.number = active->number;
    state.asker = active->generation.request().asker;
    state.tokens = static_cast<std::int64_t>(active->generation.tokens().size());
    state.wants_all_outputs = active->generation.wants_prompt_outputs();
    if (state.is_admitted) {
      state.pages = session_.sequences().whole().held_pages(active->sequence);
      state.own_pages = session_.sequences().whole().own_pages(active->sequence);
    }
    if (keeps_checkpoints && !state.is_held) {
      active->checkpoint_at = next_checkpoint(*active);
      state.most_run = active->checkpoint_at - state.computed;
    }
    states.push_back(state);
  }
  // Whoever has nothing that waits has no turn to remember: what comes later takes its place behind all that wait.
  std::erase_if(turns_, [&](const ScheduleState::Turn& turn) {
    return std::ranges::none_of(
        states, [&](const RequestState& state) { return !state.is_admitted && state.asker == turn.asker; });
  });
  return schedule({.requests = states,
                   .free_pages = session_.sequences().whole().free_pages(),
                   .admissions = admissions_,
                   .turns = turns_},
                  limits_, costs_);
}

bool Service::step() {
  take_messages();
  end_late();
  remove_ended();
  if (active_.empty()) return false;
  const ScheduledPass pass = schedule_pass();
  // Whoever is there is paused, or waits for them.
  if (pass.runs.empty() && pass.admitted.empty() && pass.preempted.empty()) return false;
  for (const std::int64_t number : pass.preempted) preempt(find(number));
  for (const std::int64_t number : pass.admitted) {
    Active& active = find(number);
    if (const Result<void> admitted = admit(active); !admitted.ok()) {
      end(active, GenerationEnd::failed, admitted.error().text());
    }
  }
  compute(pass);
  remove_ended();
  count_present();
  return true;
}

}  // namespace ingot
