#include "engine/session.h"

#include <algorithm>
#include <limits>

#include "engine/cache_budget.h"
#include "kernels/all_operations.h"
#include "machine/any_number.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "model/plan/cache_lowering.h"
#include "model/plan/packed_weights.h"
#include "model/plan/split.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

// What a model keeps is the same for every pass, so the least one shows it.
PassShape shortest_pass() { return {.runs = {1}, .outputs = 1}; }

std::int64_t tokens_of(std::span<const TokenRun> runs) {
  std::int64_t tokens = 0;
  for (const TokenRun& run : runs) tokens += static_cast<std::int64_t>(run.tokens.size());
  return tokens;
}

// A mapped file can be larger than memory, what is packed cannot.
std::uint64_t most_packed(std::uint64_t memory) { return memory / 5 * 4; }

// Which types of weights are held interleaved where a processor with these features runs passes; null: none.
AcceptsType packed_types(const SessionOptions& options, FeatureSet features) {
  if (options.packing == WeightPacking::never) return nullptr;
  const bool always = options.packing == WeightPacking::always;
  const Neighbours shown = options.deterministic ? Neighbours::never_show : Neighbours::may_show;
  return [always, features, shown, sequences = options.sequences](DType dtype) {
    return always || packing_pays(dtype, features, sequences, shown);
  };
}

Result<std::int64_t> context_of(const ModelFacts& facts, std::int64_t asked) {
  if (asked < 0 || asked > (std::int64_t{1} << 30)) {
    return Error::of(ErrorCode::invalid_argument, "expected a context of 1 to 2^30 tokens, found ", asked);
  }
  if (facts.has_position_table && asked > facts.context) {
    return Error::of(ErrorCode::out_of_range, "expected a context of at most the model's ", facts.context,
                     " positions, found ", asked, ": give a smaller --context, or none");
  }
  return asked > 0 ? asked : std::min(facts.context, default_context);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const Model> model, SessionOptions options) {
  std::unique_ptr<Session> session(new Session(std::move(model), std::move(options)));
  TRY(session->start());
  return session;
}

// Keys and values are given back before the queue, which alone would wait, and addresses that are unmapped need not.
Session::~Session() {
  if (device_) static_cast<void>(device_->queue().wait());
}

Result<void> Session::start() {
  if (options_.device != nullptr) {
    device_ = TRY(DeviceSide::create(options_.device, options_.sequences, neighbours()));
    TRY(device_->upload(options_.adapters));
    host_layers_ = options_.device->host_layers();
    TRY(choose_device_rows(device_->device().information()));
  }
  TRY(prepare());
  TRY(pack());
  const SharingOptions sharing = TRY(share_memory());
  const Circuit circuit = TRY(rewritten_circuit(shortest_pass()));
  memory_ = std::make_unique<SequenceMemory>(
      TRY(SequenceMemory::create(circuit, geometry_, sharing, device_ ? device_->home() : MemoryHome())));
  return {};
}

Result<void> Session::choose_device_rows(const DeviceInformation& device) {
  if (device.takes_calls && !options_.forced.empty()) {
    return Error::of(ErrorCode::unsupported, "expected no variant to be forced on ", std::string_view(device.name),
                     ", whose worker chooses its own, found ", std::string_view(options_.forced.front().variant));
  }
  // A row of a GPU has the bits that it has by itself: there is no other table to ask for.
  const Neighbours shown = device.takes_calls ? neighbours() : Neighbours::may_show;
  device_table_ = std::make_unique<KernelTable>(
      TRY(KernelTable::select(all_operations(), processor_of(device), options_.forced, shown)));
  return {};
}

DeviceModel::Use Session::use_of(const DeviceInformation& device, const SessionOptions& options,
                                 std::int64_t host_layers) {
  DeviceModel::Use use = {.host_layers = host_layers};
  if (!device.takes_calls) return use;
  use.interleaved = packed_types(options, device.features);
  if (options.packing != WeightPacking::always) use.most_interleaved = most_packed(device.memory_bytes);
  return use;
}

Result<void> Session::prepare() {
  if (options_.sequences < 1 || options_.page_length < 1 || options_.chunk < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected at least one sequence, a page and a chunk of at least one ",
                     "token, found ", options_.sequences, ", ", options_.page_length, ", ", options_.chunk);
  }
  if (options_.checkpoints < 0 || options_.checkpoint_distance < 1) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected no less than 0 checkpoints, at least one token apart, found ", options_.checkpoints,
                     " and ", options_.checkpoint_distance);
  }
  if (options_.cache != DType::f16 && options_.cache != DType::f32 && options_.cache != DType::q8_0) {
    return Error::of(ErrorCode::invalid_argument, "expected a cache of f32, f16 or q8_0, found ", options_.cache);
  }
  options_.adapter_scales = TRY(checked_scales(options_.adapter_scales, options_.adapters.size()));
  context_ = TRY(context_of(model_->facts(), options_.context));
  const Machine machine = Machine::detect();
  const std::span<const ForcedVariant> forced = options_.forced;
  table_ = std::make_unique<KernelTable>(TRY(KernelTable::select(
      all_operations(), machine.features, device_table_ ? std::span<const ForcedVariant>() : forced, neighbours())));
  workers_ = TRY(Workers::create({.threads = options_.threads}));
  return choose_geometry();
}

Result<void> Session::pack() {
  if (options_.packing == WeightPacking::never) return {};
  Circuit plain = TRY(plain_circuit(shortest_pass()));
  if (device_ && host_layers_ == 0) {
    if (device_->takes_calls()) TRY(require_packable(plain, !device_->laid_out().weights.empty()));
    return {};
  }
  const bool always = options_.packing == WeightPacking::always;
  if (host_layers_ > 0) plain = split_layers(plain, host_layers_).host;
  const std::vector<int> wanted = find_packable_weights(plain, packed_types(options_, Machine::detect().features));
  const Bytes memory = usable_memory();
  if (!always && memory.count() != 0 && packed_bytes(plain, wanted) > most_packed(memory.count())) return {};
  TRY(require_packable(plain, !wanted.empty()));
  Context context{*workers_, {}};
  packed_ = TRY(pack_weights(plain, wanted, *table_, context,
                             [this](std::span<const std::byte> part) { model_->file().forget(part); }));
  return {};
}

Result<void> Session::require_packable(const Circuit& plain, bool found_some) const {
  const auto is_packed = [](const Step& step) { return step.integer("layout") != 0; };
  if (options_.packing != WeightPacking::always || found_some || std::ranges::any_of(plain.steps, is_packed)) return {};
  return Error::of(ErrorCode::unsupported, "packing: expected products with weights of type q4_0, q8_0, q5_0, q4_k or ",
                   "q6_k in whole eights of rows, found none in this model");
}

Result<void> Session::choose_geometry() {
  geometry_.dtype = options_.cache;
  geometry_.page_length = std::min(options_.page_length, context_);
  geometry_.pages_per_sequence = divide_rounding_up(context_, geometry_.page_length);
  geometry_.sequences = options_.sequences;
  geometry_.pages = options_.pages > 0 ? options_.pages : geometry_.pages_per_sequence * geometry_.sequences;
  if (geometry_.pages > std::numeric_limits<std::int32_t>::max()) {
    return Error::of(ErrorCode::out_of_range, "expected at most 2^31 - 1 cache pages, found ", geometry_.sequences,
                     " sequences of ", geometry_.pages_per_sequence);
  }
  const std::int64_t window = largest_window(TRY(plain_circuit(shortest_pass())));
  // Nor are rings kept at two places at once: then every layer keeps all positions.
  if (window == 0 || host_layers_ > 0) return {};
  // A pass stores its tokens before any of them looks back over the window. The page more lets a caller take back a
  // pass and a little.
  const std::int64_t kept = window + std::min(options_.chunk, context_);
  const std::int64_t ring_pages = divide_rounding_up(kept, geometry_.page_length) + 1;
  if (ring_pages >= geometry_.pages_per_sequence) return {};
  geometry_.ring_window = window;
  geometry_.ring_pages = ring_pages;
  return {};
}

Result<SharingOptions> Session::share_memory() {
  const std::int64_t of_sequence = divide_rounding_up(context_, checkpoint_distance());
  CacheShares shares{
      .pages = geometry_.pages_per_sequence * geometry_.sequences,
      .checkpoints = options_.checkpoints > 0 ? options_.checkpoints : of_sequence * geometry_.sequences};
  if (options_.cache_memory.count() > 0) {
    const CacheCosts costs = cache_costs(TRY(rewritten_circuit(shortest_pass())), geometry_);
    shares = TRY(divide_cache_memory(costs, geometry_, shares, options_.cache_memory));
    geometry_.pages = shares.pages;
  }
  return SharingOptions{.secret = any_number(), .checkpoints = shares.checkpoints, .adapters = options_.adapter_scales};
}

Result<void> Session::check(std::span<const TokenRun> runs) const {
  std::vector<int> seen;
  for (const TokenRun& run : runs) {
    if (!memory_->has(run.sequence) || std::count(seen.begin(), seen.end(), run.sequence) > 0) {
      return Error::of(ErrorCode::invalid_argument, "expected runs of distinct sequences that exist, found sequence ",
                       run.sequence);
    }
    seen.push_back(run.sequence);
    if (run.tokens.empty()) return Error::of(ErrorCode::invalid_argument, "expected at least one token, found none");
    TRY(require_room(run.sequence, static_cast<std::int64_t>(run.tokens.size())));
    for (const std::int32_t token : run.tokens) {
      if (token < 0 || token >= model_->facts().vocabulary) {
        return Error::of(ErrorCode::out_of_range, "expected tokens from 0 to ", model_->facts().vocabulary - 1,
                         ", found ", token);
      }
    }
  }
  return {};
}

Result<void> Session::require_room(int sequence, std::int64_t tokens) const {
  const std::int64_t end = memory_->length(sequence) + tokens;
  if (end <= context_) return {};
  const std::int64_t limit = model_->facts().context;
  if (context_ >= limit) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", context_, " tokens of context, found ", end,
                     ": the model was made for ", limit, ", so give a shorter text");
  }
  return Error::of(ErrorCode::out_of_range, "expected at most ", context_, " tokens of context, found ", end,
                   ": give a larger --context (this model's limit is ", limit, ") or a shorter text");
}

Result<View<const float>> Session::forward(std::span<const TokenRun> runs) {
  if (passes_under_way() > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected chosen tokens to be asked for before a pass, found ",
                     passes_under_way(), " passes whose tokens were not");
  }
  TRY(check(runs));
  outputs_.clear();
  planning_seconds_ = 0;
  tokens_done_ = 0;
  tokens_wanted_ = tokens_of(runs);
  TRY(have_same_adapters(runs) ? compute(runs, outputs_) : compute_sets(runs, outputs_));
  const std::int64_t width = output_width();
  return View<const float>(outputs_.data(), {static_cast<std::int64_t>(outputs_.size()) / width, width});
}

Result<void> Session::compute(std::span<const TokenRun> runs, std::vector<float>& outputs) {
  const std::int64_t tokens = tokens_of(runs);
  const bool splits = tokens > options_.chunk && !model_->facts().sees_the_future;
  const bool is_one_each = tokens == static_cast<std::int64_t>(runs.size());
  if (options_.deterministic && memory_->has_states() && !is_one_each) return run_token_by_token(runs, outputs);
  if (!splits) return run_pass(runs, outputs);
  for (const TokenRun& run : runs) {
    for (std::size_t begin = 0; begin < run.tokens.size(); begin += static_cast<std::size_t>(options_.chunk)) {
      TokenRun part = run;
      part.tokens =
          run.tokens.subspan(begin, std::min(static_cast<std::size_t>(options_.chunk), run.tokens.size() - begin));
      const bool is_last = begin + part.tokens.size() == run.tokens.size();
      if (run.wanted == Wanted::last && !is_last) part.wanted = Wanted::none;
      TRY(run_pass(std::span(&part, 1), outputs));
    }
  }
  return {};
}

// A state that goes on by one token is summed in one order; over several, variants cut them in ways of their own.
Result<void> Session::run_token_by_token(std::span<const TokenRun> runs, std::vector<float>& all) {
  std::vector<std::vector<float>> outputs(runs.size());  // of each run
  std::vector<TokenRun> pass;
  std::vector<std::size_t> of_pass;  // which runs have an output in it
  std::vector<float> rows;
  for (std::size_t at = 0;; ++at) {
    pass.clear();
    of_pass.clear();
    for (std::size_t index = 0; index < runs.size(); ++index) {
      const TokenRun& run = runs[index];
      if (at >= run.tokens.size()) continue;
      const bool is_last = at + 1 == run.tokens.size();
      const bool is_wanted = run.wanted == Wanted::all || (run.wanted == Wanted::last && is_last);
      pass.push_back({run.sequence, run.tokens.subspan(at, 1), is_wanted ? Wanted::last : Wanted::none});
      if (is_wanted) of_pass.push_back(index);
    }
    if (pass.empty()) break;
    rows.clear();
    TRY(run_pass(pass, rows));
    const auto width = of_pass.empty() ? 0 : static_cast<std::ptrdiff_t>(rows.size() / of_pass.size());
    for (std::size_t row = 0; row < of_pass.size(); ++row) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row) * width;
      outputs[of_pass[row]].insert(outputs[of_pass[row]].end(), begin, begin + width);
    }
  }
  for (const std::vector<float>& of_run : outputs) all.insert(all.end(), of_run.begin(), of_run.end());
  return {};
}

Result<Plan*> Session::prepare_pass(std::span<const TokenRun> runs) {
  PassShape pass{.runs = {}, .outputs = 0, .adapters = runs.empty() ? AdapterScales() : adapters_of(runs.front())};
  for (const TokenRun& run : runs) {
    TRY(memory_->reserve(run.sequence, static_cast<std::int64_t>(run.tokens.size())));
    pass.runs.push_back(static_cast<std::int64_t>(run.tokens.size()));
    pass.outputs += outputs_of(run);
  }
  runs_with_tokens_.clear();
  sequences_of_runs_.clear();
  for (const TokenRun& run : runs) sequences_of_runs_.push_back(run.sequence);
  Plan& plan = *TRY(plan_with_adapters(pass));
  TRY(plan.bind_states([this](const CircuitTensor& tensor) {
    return memory_->state(tensor, sequences_of_runs_[static_cast<std::size_t>(tensor.run)]);
  }));
  if (device_) TRY(device_->begin_pass(plan));
  fill_inputs(plan, runs);
  return &plan;
}

void Session::finish_pass(std::span<const TokenRun> runs) {
  for (const TokenRun& run : runs) {
    tokens_done_ += static_cast<std::int64_t>(run.tokens.size());
    if (model_->facts().sees_the_future) continue;  // it remembers nothing
    memory_->advance(run.sequence, static_cast<std::int64_t>(run.tokens.size()));
  }
}

Result<void> Session::run_pass(std::span<const TokenRun> runs, std::vector<float>& outputs) {
  Plan& plan = *TRY(prepare_pass(runs));
  TRY(run_plan(plan, tokens_of(runs)));
  finish_pass(runs);
  const AnyView result = plan.tensor(pass_inputs::result);
  if (device_) return device_->receive(result, outputs);
  const auto* data = reinterpret_cast<const float*>(result.data());
  outputs.insert(outputs.end(), data, data + result.count());
  return {};
}

Context Session::context_of_passes() {
  return device_ ? device_->context(*workers_) : Context{*workers_, scratch_.bytes()};
}

Result<void> Session::run_plan(Plan& plan, std::int64_t tokens) {
  const bool is_followed = progress_ && tokens_wanted_ >= 2;
  if (device_) {
    device_->send_inputs(plan);
    if (!observer_ && !is_followed) return run_on_device(plan, {.plan = &plan});
  }
  const auto steps = static_cast<std::int64_t>(plan.circuit().steps.size());
  const Plan::Observer follower = [&](std::size_t step) {
    if (observer_) observer_(step);
    if (is_followed) progress_(tokens_done_ + tokens * static_cast<std::int64_t>(step + 1) / steps, tokens_wanted_);
  };
  const Plan::Observer* const observer = observer_ || is_followed ? &follower : nullptr;
  TRY(run_host_steps(plan, observer));
  Context context = context_of_passes();
  return plan.run(context, observer);
}

Result<void> Session::run_host_steps(Plan& plan, const Plan::Observer* observer) {
  if (plan.host_steps() == 0) return {};
  Context context{*workers_, scratch_.bytes()};
  return plan.run_host_steps(device_->inputs(), context, observer);
}

std::size_t Session::device_bytes() const {
  if (!device_) return 0;
  return options_.device->bytes() + device_->bytes() + memory_->bytes() - memory_->whole().host_bytes();
}

std::size_t Session::working_bytes() const {
  return memory_->bytes() + arena_.size() + scratch_.size() + (device_ ? device_->bytes() : 0) +
         static_cast<std::size_t>(packed_.bytes());
}

}  // namespace ingot
