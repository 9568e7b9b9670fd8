#include "engine/measure.h"

#include <algorithm>
#include <numeric>

#include "engine/device_steps.h"
#include "engine/session_guards.h"
#include "engine/wall_clock.h"
#include "machine/parse.h"
#include "machine/system_files.h"

namespace ingot {
namespace {

double median(std::vector<double> samples) { return summarise(samples).median; }

// A step alone. What it writes it has written before, so a pass that has run is a pass that may be taken up anywhere.
double time_of_step(const Plan& plan, std::size_t step, Context& context) {
  const int variant = plan.circuit().steps[step].operation->variant_index(plan.variant_name(step));
  const auto start = WallClock::now();
  plan.invocation(step).run(variant, context);
  return seconds_between(start, WallClock::now());
}

Result<void> require_fit(const Session& session, const PassRequest& request, std::int64_t most_passes) {
  if (request.tokens < 1 || request.depth < 0 || request.tokens > session.options().chunk) {
    return Error::of(ErrorCode::invalid_argument, "expected 1 to ", session.options().chunk,
                     " tokens in a pass at a depth of 0 or more, found ", request.tokens, " at ", request.depth);
  }
  if (session.model().facts().sees_the_future && request.depth > 0) {
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

namespace {

// A pass that is run again and again on a sequence of its own, and what its rounds took.
class RepeatedPass {
 public:
  static Result<std::unique_ptr<RepeatedPass>> prepare(Session& session, const PassRequest& request) {
    std::unique_ptr<RepeatedPass> made(new RepeatedPass(session, request));
    made->sequence_ = TRY(made->own_.add());
    const std::vector<std::int32_t> past = arbitrary_tokens(request.depth, session.model().facts().vocabulary, 2);
    if (!past.empty()) TRY(session.forward({made->sequence_, past, Wanted::none}));
    made->plan_ = TRY(session.plan_for(request.shape(session.model().facts())));
    made->step_samples_.resize(made->plan_->circuit().steps.size());
    return made;
  }

  const Plan& plan() const { return *plan_; }
  Result<void> forward() {
    const ModelFacts& facts = session_.model().facts();
    // A recurrent state cannot be turned back: its sequence grows with every round.
    if (!facts.is_recurrent) TRY(session_.sequences().truncate(sequence_, request_.depth));
    TRY(session_.forward({sequence_, tokens_, wanted_of(facts)}));
    return {};
  }
  void add(double pass_seconds, std::span<const double> step_seconds) {
    for (std::size_t step = 0; step < step_seconds.size(); ++step) step_samples_[step].push_back(step_seconds[step]);
    pass_samples_.push_back(pass_seconds);
    accounted_.push_back(std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0) / pass_seconds);
  }
  PassTiming timing() const {
    PassTiming timing;
    for (const std::vector<double>& samples : step_samples_) timing.step_seconds.push_back(median(samples));
    timing.pass_seconds = summarise(pass_samples_);
    timing.accounted = median(accounted_);
    return timing;
  }

 private:
  RepeatedPass(Session& session, const PassRequest& request)
      : session_(session),
        request_(request),
        own_(session),
        tokens_(arbitrary_tokens(request.tokens, session.model().facts().vocabulary)) {}

  Session& session_;
  PassRequest request_;
  OwnSequences own_;
  int sequence_ = 0;
  std::vector<std::int32_t> tokens_;
  const Plan* plan_ = nullptr;
  std::vector<std::vector<double>> step_samples_;
  std::vector<double> pass_samples_;
  std::vector<double> accounted_;
};

Result<PassTiming> measure_on_host(Session& session, RepeatedPass& pass, int repeats) {
  std::vector<WallClock::time_point> ends(pass.plan().circuit().steps.size());
  const Observation observation(session, [&](std::size_t step) { ends[step] = WallClock::now(); });
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    const auto start = WallClock::now();
    TRY(pass.forward());
    const auto end = WallClock::now();
    if (repeat == 0) continue;  // contracts are checked, pages are touched
    Context context = session.context_for_kernels();
    // What comes before the first step is not the first step's.
    std::vector<double> steps = {std::min(time_of_step(pass.plan(), 0, context), seconds_between(start, ends[0]))};
    for (std::size_t step = 1; step < ends.size(); ++step) {
      steps.push_back(seconds_between(ends[step - 1], ends[step]));
    }
    pass.add(seconds_between(start, end), steps);
  }
  return pass.timing();
}

// A pass as it comes, and one with marks between its steps, in turn.
Result<PassTiming> measure_on_device(Session& session, RepeatedPass& pass, int repeats) {
  DeviceSteps steps = TRY(DeviceSteps::create(session));
  for (int repeat = -1; repeat <= repeats; ++repeat) {
    const auto start = WallClock::now();
    TRY(pass.forward());
    const double pass_seconds = seconds_between(start, WallClock::now());
    const std::vector<double> step_seconds = TRY(steps.time(pass.plan(), [&] { return pass.forward(); }));
    if (repeat > 0) pass.add(pass_seconds, step_seconds);  // those before load modules, and record the pass
  }
  return pass.timing();
}

}  // namespace

Result<PassTiming> measure_pass(Session& session, const PassRequest& request, int repeats) {
  const bool is_on_device = session.device_side() != nullptr;
  const std::int64_t rounds = is_on_device ? 2 * (repeats + 2) : repeats + 1;
  TRY(require_fit(session, request, session.model().facts().is_recurrent ? rounds : 1));
  const std::unique_ptr<RepeatedPass> pass = TRY(RepeatedPass::prepare(session, request));
  return is_on_device ? measure_on_device(session, *pass, repeats) : measure_on_host(session, *pass, repeats);
}

Traffic traffic_of(const AssumedInputs& inputs, std::size_t step) {
  const Plan& plan = inputs.plan();
  Traffic whole;  // all of what the operands could reach
  const auto& fields = plan.circuit().steps[step].operation->fields;
  for (const BoundOperand& bound : plan.circuit().steps[step].operands) {
    if (!bound.operand.is_present()) continue;
    const CircuitTensor& tensor = plan.circuit().tensors[static_cast<std::size_t>(bound.operand.tensor)];
    const std::int64_t blocks = element_count(bound.operand.shape) / block_elements(tensor.dtype);
    const auto bytes = static_cast<double>(blocks * block_bytes(tensor.dtype));
    if (tensor.storage == Storage::weight) whole.weights += bytes;
    // Who stores into a cache reads nothing of it.
    const bool is_stored = is_written(fields[static_cast<std::size_t>(bound.field)].role);
    if (tensor.storage == Storage::state || (tensor.storage == Storage::cache && !is_stored)) whole.cache += bytes;
  }
  // A gather reads few rows of its table, attention the filled part of its cache: the cost says how much.
  const double read = inputs.cost(step).bytes_read;
  const double weights = std::min(whole.weights, read);
  return {weights, std::min(whole.cache, read - weights)};
}

Traffic traffic_of(const AssumedInputs& inputs) {
  Traffic sum;
  for (std::size_t step = 0; step < inputs.plan().circuit().steps.size(); ++step) {
    const Traffic traffic = traffic_of(inputs, step);
    sum.weights += traffic.weights;
    sum.cache += traffic.cache;
  }
  return sum;
}

double host_bytes_of(const AssumedInputs& inputs) {
  double bytes = 0;
  for (std::size_t step = 0; step < inputs.plan().host_steps(); ++step) bytes += traffic_of(inputs, step).bytes();
  return bytes;
}

std::int64_t peak_bytes() {
  const std::string text = read_text_file("/proc/self/status").value_or("");
  return static_cast<std::int64_t>(find_kibibytes(text, "VmHWM").value_or(Bytes()).count());
}

}  // namespace ingot
