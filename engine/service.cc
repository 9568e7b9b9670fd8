#include "engine/service.h"

#include <algorithm>

#include "machine/any_number.h"
#include "machine/machine.h"

namespace ingot {
namespace {

// Outputs of a prompt's rows are logits, each as long as the vocabulary: of a chunk of 256 rows and 128,000 tokens they
// would take 128 MiB, twice, in the pass and beside it, for the sake of one request.
constexpr std::int64_t most_output_bytes = std::int64_t{64} << 20;

// As many as can all generate in one pass, beside the least chunk of prompts.
std::int64_t most_admitted(const SessionOptions& session, const ScheduleLimits& limits) {
  return std::clamp<std::int64_t>(session.chunk - limits.least_chunk, 1, session.sequences);
}

// In place of ScheduleLimits::tile_rows where products have no tiles: shorter steps meet the time of a pass better.
constexpr std::int64_t rows_of_vectors = 8;

}  // namespace

Service::Service(Session& session, const Tokenizer& tokenizer, Bell& bell, ServiceOptions options)
    : session_(session),
      tokenizer_(tokenizer),
      bell_(bell),
      prompt_rows_(session.options().chunk, limits_.least_chunk, limits_.tile_rows),
      secret_(any_number()),
      forces_tokens_(options.forces_tokens),
      most_looked_up_(options.most_looked_up),
      masks_(options.masks ? std::move(options.masks) : std::make_shared<MaskThread>()),
      waiting_(
          {options.queue, static_cast<std::int64_t>(options.queue_in_caches * static_cast<double>(cached_tokens()))}) {
  limits_.page_length = session.geometry().page_length;
  limits_.admitted = most_admitted(session.options(), limits_);
  limits_.rows = session.options().chunk;
  limits_.pass_seconds = options.pass_seconds;
  if (!Machine::detect().features.contains(Feature::amx_int8)) limits_.tile_rows = rows_of_vectors;
  const std::int64_t row_bytes = session.model().facts().vocabulary * static_cast<std::int64_t>(sizeof(float));
  limits_.prompt_outputs = std::max<std::int64_t>(1, most_output_bytes / row_bytes);
  counts_.pages = session.geometry().pages;
}

Result<std::unique_ptr<Service>> Service::create(Session& session, const Tokenizer& tokenizer, Bell& bell,
                                                 ServiceOptions options) {
  TRY(require_predictions(session.model()));
  std::unique_ptr<Service> service(new Service(session, tokenizer, bell, std::move(options)));
  for (int worker = 0; worker < session.options().threads; ++worker) {
    service->alone_.push_back(TRY(Workers::create({.threads = 1})));
  }
  return service;
}

Service::~Service() { cancel_all(); }

void Service::cancel_all() {
  take_messages();
  for (const std::unique_ptr<Active>& active : active_) end(*active, GenerationEnd::cancelled);
  forget_passes();
  remove_ended();
}

Result<void> Service::make_active(TextChoices choices, std::vector<std::unique_ptr<Active>>& made) const {
  TextRequest& request = choices.request;
  const SessionOptions& options = session_.options();
  if (request.adapters.empty()) request.adapters = options.adapter_scales;
  request.adapters = TRY(checked_scales(request.adapters, options.adapters.size()));
  request.salt = salt_with(secret_, request.salt, request.adapters);
  const std::shared_ptr<const PreparedRequest> prepared =
      TRY(PreparedRequest::create(std::move(choices.request), tokenizer_, session_.model().facts().vocabulary));
  const TextRequest& asked = prepared->asked();
  // The last token is computed in any case, for what follows it.
  const TextBeginnings beginnings(secret_, asked.salt, std::span(asked.prompt).first(asked.prompt.size() - 1),
                                  limits_.page_length);
  for (std::size_t choice = 0; choice < choices.listeners.size(); ++choice) {
    Generation generation = TRY(Generation::create(prepared, choice, std::move(choices.listeners[choice]),
                                                   session_.table(), tokenizer_, forces_tokens_));
    made.push_back(std::make_unique<Active>(Active{.generation = std::move(generation), .beginnings = beginnings}));
  }
  return {};
}

void Service::waits_no_more(const Active& active) {
  const TextRequest& request = active.generation.request();
  waiting_.remove(request.asker, load_of(request));
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
  counts.waiting = waiting_.requests() + waiting_again_;
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
    if (active->has_ended) continue;
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
void Service::end(Active& active, GenerationEnd end, const Error* error) {
  if (active.has_ended) return;
  active.has_ended = true;
  active.kept_logits.clear();
  if (active.sequence >= 0) session_.sequences().remove(active.sequence);
  active.sequence = -1;
  active.state.is_admitted = false;
  if (!active.was_admitted) {
    const std::lock_guard lock(mutex_);
    waits_no_more(active);
  }
  count_present();
  end_phase(active);
  active.generation.end(end, error);
}

void Service::measure_phase(Active& active, Clock::time_point now) {
  GenerationTimes& times = active.generation.times();
  double& phase = !active.was_admitted                        ? times.waiting
                  : active.generation.counts().generated == 0 ? times.prompt
                                                              : times.generation;
  phase = std::chrono::duration<double>(now - active.phase_begin).count();
}

void Service::end_phase(Active& active) {
  const Clock::time_point now = Clock::now();
  measure_phase(active, now);
  active.phase_begin = now;
}

void Service::remove_ended() {
  std::erase_if(active_, [this](const auto& active) { return active->has_ended && !is_under_way(*active); });
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

bool Service::is_full() const {
  // One that is paused makes way.
  const auto stays = [](const std::unique_ptr<Active>& active) {
    return active->state.is_admitted && !active->state.is_paused;
  };
  return std::ranges::count_if(active_, stays) >= limits_.admitted;
}

Service::Active& Service::find(std::int64_t number) { return **std::ranges::find(active_, number, &Active::number); }

void Service::preempt(Active& active) {
  session_.sequences().remove(active.sequence);
  active.sequence = -1;
  active.state.is_admitted = active.state.generates = false;
  active.state.computed = active.state.pages = active.state.own_pages = 0;
  active.kept_logits.clear();  // they are computed again
  active.proposed.clear();
  active.looked_up.reset();  // there is more of its text now
  const std::lock_guard lock(mutex_);
  ++counts_.preemptions;
}

Result<void> Service::admit(Active& active) {
  SequenceMemory& sequences = session_.sequences();
  const Generation& generation = active.generation;
  active.sequence = TRY(sequences.shares_texts()
                            ? sequences.add_beginning(generation.request().salt, generation.computable_beginning())
                            : sequences.add());
  sequences.set_adapters(active.sequence, generation.request().adapters);
  active.state.is_admitted = true;
  active.state.is_held = false;
  active.state.next_page = 0;
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
  active.state.admission = ++admissions_;
  turns_.push_back({asker, admissions_});
  return {};
}

ScheduledPass Service::schedule_pass() {
  trim_proposals();
  const bool is_full = this->is_full();
  if (!is_full && session_.sequences().shares_texts()) look_up_beginnings();
  limits_.prompt_rows = prompt_rows_.most();
  const bool keeps_checkpoints = session_.sequences().needs_checkpoints() && session_.sequences().shares_texts();
  std::vector<RequestState> states;
  for (const std::unique_ptr<Active>& active : active_) {
    RequestState& state = active->state;
    state.number = active->number;
    state.asker = active->generation.request().asker;
    state.tokens = std::ssize(active->generation.tokens()) + std::ssize(active->proposed);
    state.wants_all_outputs = active->generation.wants_prompt_outputs();
    if (state.is_admitted) {
      state.pages = session_.sequences().whole().held_pages(active->sequence);
      state.own_pages = session_.sequences().whole().own_pages(active->sequence);
    }
    if (keeps_checkpoints && (state.is_admitted || !(is_full || state.is_held))) {
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
  if (!under_way_.empty()) {
    go_on();
    take_first();
    remove_ended();
    count_present();
    return true;
  }
  if (active_.empty()) return false;
  const bool has_chosen = choose_late();
  remove_ended();
  set_back();
  const ScheduledPass pass = schedule_pass();
  // Whoever is there is paused, or waits for them.
  if (pass.runs.empty() && pass.admitted.empty() && pass.preempted.empty()) {
    if (has_chosen) count_present();
    return has_chosen;
  }
  for (const std::int64_t number : pass.preempted) preempt(find(number));
  for (const std::int64_t number : pass.admitted) {
    Active& active = find(number);
    if (const Result<void> admitted = admit(active); !admitted.ok()) {
      end(active, GenerationEnd::failed, &admitted.error());
    }
    if (!active.has_ended) active.generation.take_progress(active.state.computed);
  }
  compute(pass);
  remove_ended();
  count_present();
  return true;
}

}  // namespace ingot
