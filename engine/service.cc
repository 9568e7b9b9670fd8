#include "engine/service.h"

#include <algorithm>

#include "base/random.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

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

Service::Service(Session& session, const Tokenizer& tokenizer, ServiceOptions options)
    : session_(session), tokenizer_(tokenizer), options_(options) {
  limits_.page_length = session.geometry().page_length;
  limits_.admitted = session.options().sequences;
  limits_.rows = session.options().chunk;
  limits_.pass_seconds = options.pass_seconds;
}

Result<std::unique_ptr<Service>> Service::create(Session& session, const Tokenizer& tokenizer, ServiceOptions options) {
  std::unique_ptr<Service> service(new Service(session, tokenizer, options));
  for (int worker = 0; worker < session.options().threads; ++worker) {
    service->alone_.push_back(TRY(Workers::create({.threads = 1})));
  }
  return service;
}

Service::~Service() {
  take_messages();
  for (const std::unique_ptr<Active>& active : active_) end(*active, GenerationEnd::cancelled);
  remove_ended();
}

std::int64_t Service::pages_of(std::int64_t tokens) const { return divide_rounding_up(tokens, limits_.page_length); }

Result<std::int64_t> Service::submit(TextRequest request) {
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  const std::int64_t cached = session_.geometry().pages * limits_.page_length;
  const std::int64_t room = std::min(session_.context(), cached);
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
  ++waiting_;
  const std::int64_t number = next_number_++;
  auto active = std::make_unique<Active>(Active{.number = number, .generation = std::move(generation)});
  active->state.admissions_before = admissions_;
  active->beginnings = std::move(beginnings);
  submitted_.push_back(std::move(active));
  changed_.notify_all();
  return number;
}

void Service::cancel(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  cancelled_.push_back(number);
  changed_.notify_all();
}

void Service::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_woken_ || !submitted_.empty() || !cancelled_.empty(); });
  is_woken_ = false;
}

void Service::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

void Service::take_messages() {
  std::vector<std::int64_t> cancelled;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(submitted_, std::back_inserter(active_));
    submitted_.clear();
    cancelled.swap(cancelled_);
  }
  for (const std::unique_ptr<Active>& active : active_) {
    if (std::ranges::count(cancelled, active->number) > 0) end(*active, GenerationEnd::cancelled);
  }
}

void Service::end_late() {
  const Clock::time_point now = Clock::now();
  for (const std::unique_ptr<Active>& active : active_) {
    const auto& deadline = active->generation.request().deadline;
    if (deadline && *deadline <= now) end(*active, GenerationEnd::deadline);
  }
}

// Its pages are given back at once; it is told once.
void Service::end(Active& active, GenerationEnd end, std::string_view reason) {
  if (active.has_ended) return;
  active.has_ended = true;
  if (active.sequence >= 0) session_.sequences().remove(active.sequence);
  active.sequence = -1;
  if (end != GenerationEnd::none) active.generation.end(end, reason);
}

void Service::remove_ended() {
  std::int64_t never_admitted = 0;
  std::erase_if(active_, [&](const std::unique_ptr<Active>& active) {
    never_admitted += active->has_ended && !active->was_admitted;
    return active->has_ended;
  });
  const std::lock_guard lock(mutex_);
  waiting_ -= never_admitted;
}

bool Service::is_computed_by_another(const Active& waiting, std::int64_t known) const {
  const auto next = static_cast<std::size_t>(known / limits_.page_length);  // page that is not known
  if (next >= waiting.beginnings.size()) return false;
  for (const std::unique_ptr<Active>& other : active_) {
    if (other->number == waiting.number) return false;  // those behind it will wait for it
    const bool has_it = next < other->beginnings.size() && other->beginnings[next] == waiting.beginnings[next];
    if (has_it && !other->state.generates) return true;
  }
  return false;
}

void Service::look_up_beginnings() {
  const auto is_admitted = [](const std::unique_ptr<Active>& active) { return active->state.is_admitted; };
  const bool is_full = std::ranges::count_if(active_, is_admitted) >= limits_.admitted;  // nobody's turn can come
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

Service::Active& Service::find(std::int64_t number) {
  return **std::ranges::find_if(active_,
                                [&](const std::unique_ptr<Active>& active) { return active->number == number; });
}

void Service::preempt(Active& active) {
  session_.sequences().remove(active.sequence);
  active.sequence = -1;
  active.state.is_admitted = active.state.generates = false;
  active.state.computed = active.state.pages = active.state.own_pages = 0;
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
  if (!active.was_admitted) {
    active.was_admitted = true;
    active.generation.counts().cached = active.state.computed;
    counts_.cached_tokens += active.state.computed;
    const std::lock_guard lock(mutex_);
    --waiting_;
  }
  const std::int64_t asker = generation.request().asker;
  std::erase_if(turns_, [&](const ScheduleState::Turn& turn) { return turn.asker == asker; });
  const std::lock_guard lock(mutex_);
  turns_.push_back({asker, ++admissions_});
  return {};
}

bool Service::step() {
  take_messages();
  end_late();
  remove_ended();
  if (active_.empty()) return false;
  look_up_beginnings();
  std::vector<RequestState> states;
  for (const std::unique_ptr<Active>& active : active_) {
    RequestState& state = active->state;
    state.number = active->number;
    state.asker = active->generation.request().asker;
    state.tokens = static_cast<std::int64_t>(active->generation.tokens().size());
    if (state.is_admitted) {
      state.pages = session_.sequences().whole().held_pages(active->sequence);
      state.own_pages = session_.sequences().whole().own_pages(active->sequence);
    }
    states.push_back(state);
  }
  // Whoever has nothing that waits has no turn to remember: what comes later takes its place behind all that wait.
  std::erase_if(turns_, [&](const ScheduleState::Turn& turn) {
    return std::ranges::none_of(
        states, [&](const RequestState& state) { return !state.is_admitted && state.asker == turn.asker; });
  });
  const ScheduledPass pass = schedule({.requests = states,
                                       .free_pages = session_.sequences().whole().free_pages(),
                                       .admissions = admissions_,
                                       .turns = turns_},
                                      limits_, costs_);
  for (const std::int64_t number : pass.preempted) preempt(find(number));
  for (const std::int64_t number : pass.admitted) {
    Active& active = find(number);
    if (const Result<void> admitted = admit(active); !admitted.ok()) {
      end(active, GenerationEnd::failed, admitted.error().text());
    }
  }
  compute(pass);
  remove_ended();
  return true;
}

void Service::compute(const ScheduledPass& pass) {
  std::vector<TokenRun> runs;
  std::vector<Active*> of_runs;
  for (const ScheduledRun& run : pass.runs) {
    Active& active = find(run.number);
    if (active.has_ended) continue;
    const std::span<const std::int32_t> tokens = active.generation.tokens();
    runs.push_back(
        {active.sequence,
         tokens.subspan(static_cast<std::size_t>(active.state.computed), static_cast<std::size_t>(run.tokens)),
         run.ends ? Wanted::last : Wanted::none});
    of_runs.push_back(&active);
  }
  if (runs.empty()) return;
  const Clock::time_point begin = Clock::now();
  const Result<View<const float>> logits = session_.forward(runs);
  if (!logits.ok()) return fail(of_runs, logits.error());
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  costs_.observe(pass.decoding_rows, pass.prompt_rows, elapsed.count());
  ++counts_.passes;
  counts_.prompt_rows += pass.prompt_rows;
  counts_.decoding_rows += pass.decoding_rows;
  std::vector<Active*> ended;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Active& active = *of_runs[i];
    active.state.computed += static_cast<std::int64_t>(runs[i].tokens.size());
    if (session_.sequences().shares_texts()) {
      session_.sequences().publish(active.sequence, active.generation.request().salt, active.generation.tokens());
    }
    if (runs[i].wanted == Wanted::last) ended.push_back(&active);
  }
  choose_tokens(ended, logits.value());
}

void Service::fail(std::span<Active* const> of_pass, const Error& error) {
  const auto youngest = std::ranges::max_element(of_pass, {}, [](const Active* active) { return active->number; });
  if (error.code() == ErrorCode::out_of_memory && of_pass.size() > 1) return preempt(**youngest);
  // Whose fault it is cannot be told; the next pass is another one.
  for (Active* active : of_pass) end(*active, GenerationEnd::failed, error.text());
}

void Service::choose_tokens(std::span<Active* const> rows, View<const float> logits) {
  std::vector<std::optional<Result<std::int32_t>>> chosen(rows.size());
  const auto width = static_cast<std::size_t>(logits.size(1));
  // Rows side by side; the operations of each run on one thread alone.
  const auto choose = [&](std::int64_t row, std::int64_t, int worker) {
    const auto index = static_cast<std::size_t>(row);
    Context alone{*alone_[static_cast<std::size_t>(worker)], {}};
    Generation& generation = rows[index]->generation;
    chosen[index].emplace(
        generation.sampler().choose({logits.data() + index * width, width}, alone, generation.forbidden()));
  };
  session_.context_for_kernels().workers.for_chunks(static_cast<std::int64_t>(rows.size()), 1, choose);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Active& active = *rows[i];
    active.state.generates = true;
    if (!chosen[i]->ok()) {
      end(active, GenerationEnd::failed, chosen[i]->error().text());
    } else if (active.generation.take(chosen[i]->value()) != GenerationEnd::none) {
      end(active, GenerationEnd::none);  // it was told
    }
  }
}

}  // namespace ingot
