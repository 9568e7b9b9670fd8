#include <algorithm>
#include <numeric>
#include <optional>

#include "engine/measure.h"
#include "engine/sampler.h"
#include "engine/session_guards.h"
#include "engine/wall_clock.h"

namespace ingot {
namespace {

// The passes of a round, in which all sequences advance together.
class Round {
 public:
  // Prompts are arbitrary; the sequences hold what comes before them.
  Round(Session& session, Sampler& sampler, std::span<const int> sequences, std::int64_t prompt)
      : session_(session), sampler_(sampler), sequences_(sequences), tokens_(sequences.size()) {
    for (std::size_t index = 0; index < sequences.size(); ++index) {
      tokens_[index] = arbitrary_tokens(prompt, session.model().facts().vocabulary, 3 + index);
    }
  }

  // A token more for each. `more`: whether another one will be wanted.
  Result<void> advance(bool more) { return session_.chooses_tokens() ? advance_on_device(more) : advance_on_host(); }

 private:
  Result<void> advance_on_host() {
    const std::int64_t vocabulary = session_.model().facts().vocabulary;
    std::vector<TokenRun> runs;
    for (std::size_t index = 0; index < sequences_.size(); ++index) {
      runs.push_back({sequences_[index], tokens_[index], Wanted::last});
    }
    const View<const float> logits = TRY(session_.forward(runs));
    Context context = session_.context_for_kernels();
    for (std::size_t index = 0; index < sequences_.size(); ++index) {
      const float* row = logits.data() + static_cast<std::int64_t>(index) * vocabulary;
      tokens_[index] = {TRY(sampler_.choose({row, static_cast<std::size_t>(vocabulary)}, context))};
    }
    return {};
  }

  // The next pass begins before the tokens of the last are here, as where texts are generated.
  Result<void> advance_on_device(bool more) {
    if (session_.passes_under_way() == 0) TRY(begin());
    if (more && session_.goes_ahead()) TRY(begin());
    TRY(session_.chosen());
    return {};
  }
  Result<void> begin() {
    std::vector<ChosenRun> runs;
    for (std::size_t index = 0; index < sequences_.size(); ++index) {
      ChosenRun run{.sequence = sequences_[index]};
      run.goes_on = has_begun_;
      if (!has_begun_) run.tokens = tokens_[index];
      runs.push_back(run);
    }
    has_begun_ = true;
    return session_.begin_choosing(runs);
  }

  Session& session_;
  Sampler& sampler_;
  std::span<const int> sequences_;
  std::vector<std::vector<std::int32_t>> tokens_;
  bool has_begun_ = false;
};

Result<void> require_request(const ModelFacts& facts, const GenerationRequest& request) {
  if (facts.makes_embeddings) {
    return Error::of(ErrorCode::unsupported, "expected a model that generates text, found ", facts.architecture,
                     ", which makes embeddings");
  }
  if (request.prompt < 1 || request.generate < 1 || request.depth < 0 || request.batch < 1 || request.repeats < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt, tokens to generate, a batch and repeats of at ",
                     "least 1, found ", request.prompt, ", ", request.generate, ", ", request.batch, ", ",
                     request.repeats);
  }
  return {};
}

// Sequences that hold the past and nothing behind it.
class Pasts {
 public:
  Pasts(Session& session, const GenerationRequest& request)
      : session_(session),
        depth_(request.depth),
        batch_(request.batch),
        past_(arbitrary_tokens(request.depth, session.model().facts().vocabulary, 2)) {}

  Result<std::span<const int>> turn_back() {
    // A recurrent state cannot be turned back to its past, nor a ring far; keys and values that are all kept can.
    SequenceMemory& memory = session_.sequences();
    const bool can_return = own_ && std::ranges::all_of(own_->numbers(), [&](int sequence) {
                              return memory.can_truncate(sequence, depth_);
                            });
    if (can_return) {
      for (const int sequence : own_->numbers()) TRY(memory.truncate(sequence, depth_));
      return own_->numbers();
    }
    own_.emplace(session_);
    for (int index = 0; index < batch_; ++index) {
      const int sequence = TRY(own_->add());
      if (!past_.empty()) TRY(session_.forward({sequence, past_, Wanted::none}));
    }
    return own_->numbers();
  }

 private:
  Session& session_;
  std::int64_t depth_;
  int batch_;
  std::vector<std::int32_t> past_;
  std::optional<OwnSequences> own_;
};

}  // namespace

Result<GenerationTiming> measure_generation(Session& session, const GenerationRequest& request,
                                            const std::function<void()>& advanced) {
  TRY(require_request(session.model().facts(), request));
  Sampler sampler = TRY(Sampler::create(session.table(), {}));
  Pasts pasts(session, request);
  std::vector<double> prefill_rates;
  std::vector<double> decode_rates;
  std::vector<double> first_seconds;
  std::vector<double> step_seconds;
  // The first round makes plans, checks contracts, touches pages and, on a device, records passes; it is short and does
  // not count.
  for (int repeat = -1; repeat < request.repeats; ++repeat) {
    Round round(session, sampler, TRY(pasts.turn_back()), request.prompt);
    const std::int64_t steps = repeat < 0 ? std::min<std::int64_t>(request.generate, 4) : request.generate;
    const auto start = WallClock::now();
    TRY(round.advance(true));
    auto last = WallClock::now();
    const double first = seconds_between(start, last);
    std::vector<double> of_round;
    for (std::int64_t step = 0; step < steps; ++step) {
      TRY(round.advance(step + 1 < steps));
      const auto now = WallClock::now();
      of_round.push_back(seconds_between(last, now));
      last = now;
    }
    if (repeat < 0) continue;
    const double decode_seconds = std::accumulate(of_round.begin(), of_round.end(), 0.0);
    first_seconds.push_back(first);
    prefill_rates.push_back(static_cast<double>(request.batch * request.prompt) / first);
    decode_rates.push_back(static_cast<double>(request.batch * request.generate) / decode_seconds);
    step_seconds.insert(step_seconds.end(), of_round.begin(), of_round.end());
    if (advanced) advanced();
  }

  GenerationTiming timing;
  const PassShape decode{.runs = std::vector<std::int64_t>(static_cast<std::size_t>(request.batch), 1),
                         .outputs = request.batch};
  const std::int64_t halfway = request.depth + request.prompt + request.generate / 2;
  const AssumedInputs inputs(*TRY(session.plan_for(decode)), decode, halfway);
  timing.decode_traffic = traffic_of(inputs);
  timing.host_bytes = host_bytes_of(inputs);
  timing.prefill_tokens_per_second = summarise(prefill_rates);
  timing.decode_tokens_per_second = summarise(decode_rates);
  timing.first_token_seconds = summarise(first_seconds);
  timing.decode_step_seconds = summarise(step_seconds).median;
  return timing;
}

}  // namespace ingot
