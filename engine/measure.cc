#include "engine/measure.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "engine/sampler.h"
#include "engine/session_guards.h"
#include "machine/parse.h"
#include "machine/system_files.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double median(std::vector<double> samples) { return summarise(samples).median; }

// A step alone. What it writes it has written before, so a pass that has run is a pass that may be taken up anywhere.
double time_of_step(const Plan& plan, std::size_t step, Context& context) {
  const int variant = plan.circuit().steps[step].operation->variant_index(plan.variant_name(step));
  const auto start = Clock::now();
  plan.invocation(step).run(variant, context);
  return seconds_between(start, Clock::now());
}

Result<void> require_fit(const Session& session, const PassRequest& request, std::int64_t most_passes) {
  if (request.tokens < 1 || request.depth < 0 || request.tokens > session.options().chunk) {
    return Error::of(ErrorCode::invalid_argument, "expected 1 to ", session.options().chunk,
                     " tokens in a pass at a depth of 0 or more, found ", request.tokens, " at ", request.depth);
  }
  if (session.model().facts().makes_embeddings && request.depth > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected depth 0 of a model that keeps nothing, found ",
                     request.depth);
  }
  const std::int64_t end = request.depth + request.tokens * most_passes;
  if (end > session.context()) {
    return Error::of(ErrorCode::out_of_range, "expected passes that fit a context of ", session.context(),
                     " tokens, found ", end);
  }
  return {};
}

Wanted wanted_of(const ModelFacts& facts) { return facts.makes_embeddings ? Wanted::all : Wanted::last; }

}  // namespace

PassShape PassRequest::shape(const ModelFacts& facts) const {
  return {.runs = {tokens}, .outputs = wanted_of(facts) == Wanted::all ? tokens : 1};
}

std::vector<std::int32_t> arbitrary_tokens(std::int64_t count, std::int64_t vocabulary, std::uint64_t seed) {
  std::vector<std::int32_t> tokens;
  std::uint64_t state = seed;
  for (std::int64_t index = 0; index < count; ++index) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX constants
    tokens.push_back(static_cast<std::int32_t>((state >> 33) % static_cast<std::uint64_t>(vocabulary)));
  }
  return tokens;
}

Result<PassTiming> measure_pass(Session& session, const PassRequest& request, int repeats) {
  const ModelFacts& facts = session.model().facts();
  // A recurrent state cannot be turned back: its sequence grows with every repeat.
  TRY(require_fit(session, request, facts.is_recurrent ? repeats + 1 : 1));
  const std::vector<std::int32_t> past = arbitrary_tokens(request.depth, facts.vocabulary, 2);
  const std::vector<std::int32_t> tokens = arbitrary_tokens(request.tokens, facts.vocabulary);
  OwnSequences own(session);
  const int sequence = TRY(own.add());
  if (!past.empty()) TRY(session.forward({sequence, past, Wanted::none}));
  const Plan& plan = *TRY(session.plan_for(request.shape(facts)));
  const std::size_t steps = plan.circuit().steps.size();

  std::vector<Clock::time_point> ends(steps);
  std::vector<std::vector<double>> step_samples(steps);
  std::vector<double> pass_samples;
  std::vector<double> accounted;
  const Observation observation(session, [&](std::size_t step) { ends[step] = Clock::now(); });
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    if (!facts.is_recurrent) TRY(session.sequences().truncate(sequence, request.depth));
    const auto start = Clock::now();
    TRY(session.forward({sequence, tokens, wanted_of(facts)}));
    const auto end = Clock::now();
    if (repeat == 0) continue;  // contracts are checked, pages are touched
    Context context = session.context_for_kernels();
    // What comes before the first step is not the first step's.
    const double first = std::min(time_of_step(plan, 0, context), seconds_between(start, ends[0]));
    double sum = first;
    step_samples[0].push_back(first);
    for (std::size_t step = 1; step < steps; ++step) {
      const double seconds = seconds_between(ends[step - 1], ends[step]);
      step_samples[step].push_back(seconds);
      sum += seconds;
    }
    pass_samples.push_back(seconds_between(start, end));
    accounted.push_back(sum / pass_samples.back());
  }

  PassTiming timing;
  for (const std::vector<double>& samples : step_samples) timing.step_seconds.push_back(median(samples));
  timing.pass_seconds = summarise(pass_samples);
  timing.accounted = median(accounted);
  return timing;
}

Traffic traffic_of(const Plan& plan, std::size_t step) {
  Traffic whole;  // all of what the operands could reach
  for (const BoundOperand& bound : plan.circuit().steps[step].operands) {
    if (!bound.operand.is_present()) continue;
    const CircuitTensor& tensor = plan.circuit().tensors[static_cast<std::size_t>(bound.operand.tensor)];
    const std::int64_t blocks = element_count(bound.operand.shape) / block_elements(tensor.dtype);
    const auto bytes = static_cast<double>(blocks * block_bytes(tensor.dtype));
    if (tensor.storage == Storage::weight) whole.weights += bytes;
    if (tensor.storage == Storage::cache || tensor.storage == Storage::state) whole.cache += bytes;
  }
  // A gather reads few rows of its table, attention the filled part of its cache: the cost says how much.
  const double read = plan.invocation(step).cost().bytes_read;
  const double weights = std::min(whole.weights, read);
  return {weights, std::min(whole.cache, read - weights)};
}

Traffic traffic_of(const Plan& plan) {
  Traffic sum;
  for (std::size_t step = 0; step < plan.circuit().steps.size(); ++step) {
    const Traffic traffic = traffic_of(plan, step);
    sum.weights += traffic.weights;
    sum.cache += traffic.cache;
  }
  return sum;
}

std::int64_t peak_bytes() {
  const std::string text = read_text_file("/proc/self/status").value_or("");
  return static_cast<std::int64_t>(find_kibibytes(text, "VmHWM").value_or(Bytes()).count());
}

Result<GenerationTiming> measure_generation(Session& session, const GenerationRequest& request,
                                            const std::function<void()>& advanced) {
  const ModelFacts& facts = session.model().facts();
  if (facts.makes_embeddings) {
    return Error::of(ErrorCode::unsupported, "expected a model that generates text, found ", facts.architecture,
                     ", which makes embeddings");
  }
  if (request.prompt < 1 || request.generate < 1 || request.depth < 0 || request.batch < 1 || request.repeats < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt, tokens to generate, a batch and repeats of at ",
                     "least 1, found ", request.prompt, ", ", request.generate, ", ", request.batch, ", ",
                     request.repeats);
  }
  const std::vector<std::int32_t> past = arbitrary_tokens(request.depth, facts.vocabulary, 2);
  Sampler sampler = TRY(Sampler::create(session.table(), {}));
  const auto batch = static_cast<std::size_t>(request.batch);
  const PassShape decode_shape{.runs = std::vector<std::int64_t>(batch, 1), .outputs = request.batch};

  GenerationTiming timing;
  std::vector<double> prefill_rates;
  std::vector<double> decode_rates;
  std::vector<double> first_seconds;
  std::vector<double> step_seconds;
  std::optional<OwnSequences> own;
  std::vector<int> sequences;
  // The first round makes plans, checks contracts and touches pages; it is short and does not count.
  for (int repeat = -1; repeat < request.repeats; ++repeat) {
    // A recurrent state cannot be turned back to its past, nor a ring far; keys and values that are all kept can.
    const bool can_return = std::ranges::all_of(
        sequences, [&](int sequence) { return session.sequences().can_truncate(sequence, request.depth); });
    if (sequences.empty() || !can_return) {
      own.emplace(session);
      sequences.clear();
      for (std::size_t index = 0; index < batch; ++index) {
        sequences.push_back(TRY(own->add()));
        if (!past.empty()) TRY(session.forward({sequences.back(), past, Wanted::none}));
      }
    }
    std::vector<std::vector<std::int32_t>> tokens(batch);
    std::vector<TokenRun> runs;
    for (std::size_t index = 0; index < batch; ++index) {
      if (!facts.is_recurrent) TRY(session.sequences().truncate(sequences[index], request.depth));
      tokens[index] = arbitrary_tokens(request.prompt, facts.vocabulary, 3 + index);
      runs.push_back({sequences[index], tokens[index], Wanted::last});
    }
    const auto advance = [&]() -> Result<void> {
      const View<const float> logits = TRY(session.forward(runs));
      Context context = session.context_for_kernels();
      for (std::size_t index = 0; index < batch; ++index) {
        const float* row = logits.data() + static_cast<std::int64_t>(index) * facts.vocabulary;
        tokens[index] = {TRY(sampler.choose({row, static_cast<std::size_t>(facts.vocabulary)}, context))};
        runs[index].tokens = tokens[index];
      }
      return {};
    };
    const auto start = Clock::now();
    TRY(advance());
    const auto first = Clock::now();
    if (repeat < 0) {
      TRY(advance());
      continue;
    }
    for (std::int64_t step = 0; step < request.generate; ++step) {
      const auto step_start = Clock::now();
      TRY(advance());
      step_seconds.push_back(seconds_between(step_start, Clock::now()));
      if (repeat == 0 && step == request.generate / 2) {
        timing.decode_traffic = traffic_of(*TRY(session.plan_for(decode_shape)));
      }
    }
    // The sum of the steps, for the traffic was looked at between two of them.
    const double decode_seconds = std::accumulate(step_seconds.end() - request.generate, step_seconds.end(), 0.0);
    first_seconds.push_back(seconds_between(start, first));
    prefill_rates.push_back(static_cast<double>(request.batch * request.prompt) / first_seconds.back());
    decode_rates.push_back(static_cast<double>(request.batch * request.generate) / decode_seconds);
    if (advanced) advanced();
  }
  timing.prefill_tokens_per_second = summarise(prefill_rates);
  timing.decode_tokens_per_second = summarise(decode_rates);
  timing.first_token_seconds = summarise(first_seconds);
  timing.decode_step_seconds = median(step_seconds);
  return timing;
}

}  // namespace ingot
