#include "engine/session.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "engine/cache_budget.h"
#include "kernels/all_operations.h"
#include "machine/any_number.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "model/plan/cache_lowering.h"
#include "model/plan/packed_weights.h"
#include "model/plan/rewrite.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

// As many as there are ways to decode up to 64 sequences at once, and as many again with prompts beside them: a service
// that has come to rest makes no plan any more.
constexpr std::size_t most_plans = 128;

// What a model keeps is the same for every pass, so the least one shows it.
PassShape shortest_pass() { return {.runs = {1}, .outputs = 1}; }

// Null where the circuit does not have it.
std::int32_t* input_of(const Plan& plan, std::string_view name) {
  return reinterpret_cast<std::int32_t*>(plan.tensor(name).data());
}

// Which pages the runs' sequences hold, as the steps of a plan read it. Null where the circuit does not have it.
struct PageTables {
  std::int32_t* of_sequences;
  std::int32_t* of_runs;
  std::int32_t* of_tokens;
};

// Tokens of the runs at the beginning that a plan decodes one by one; the others it reads run by run.
std::int64_t decoded_tokens(const Plan& plan) {
  const CircuitTensor* lengths = plan.circuit().find(pass_inputs::lengths);
  return lengths == nullptr ? 0 : lengths->shape[0];
}

void fill_tables(const PagedCache& cache, std::span<const TokenRun> runs, std::int64_t row_length, std::int64_t decoded,
                 PageTables tables) {
  if (tables.of_sequences == nullptr) return;
  for (const TokenRun& run : runs) {
    const std::span row(tables.of_sequences + run.sequence * row_length, static_cast<std::size_t>(row_length));
    cache.write_table(run.sequence, row);
    if (decoded <= 0) {
      tables.of_runs = std::copy(row.begin(), row.end(), tables.of_runs);
      continue;
    }
    decoded -= static_cast<std::int64_t>(run.tokens.size());
    for (std::size_t token = 0; token < run.tokens.size(); ++token) {
      tables.of_tokens = std::copy(row.begin(), row.end(), tables.of_tokens);
    }
  }
}

std::int64_t outputs_of(const TokenRun& run) {
  if (run.wanted == Wanted::all) return static_cast<std::int64_t>(run.tokens.size());
  return run.wanted == Wanted::last && !run.tokens.empty() ? 1 : 0;
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

Result<void> Session::start() {
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
  context_ = TRY(context_of(model_->facts(), options_.context));
  const Machine machine = Machine::detect();
  table_ = std::make_unique<KernelTable>(
      TRY(KernelTable::select(all_operations(), machine.features, options_.forced, neighbours())));
  workers_ = TRY(Workers::create({.threads = options_.threads}));
  TRY(choose_geometry());
  TRY(pack());
  const SharingOptions sharing = TRY(share_memory());
  const Circuit circuit = TRY(rewritten_circuit(shortest_pass()));
  memory_ = std::make_unique<SequenceMemory>(TRY(SequenceMemory::create(circuit, geometry_, sharing)));
  return {};
}

Result<void> Session::pack() {
  if (options_.packing == WeightPacking::never) return {};
  const bool always = options_.packing == WeightPacking::always;
  const Circuit plain = TRY(plain_circuit(shortest_pass()));
  const FeatureSet features = Machine::detect().features;
  const std::vector<int> wanted = find_packable_weights(
      plain, [&](DType dtype) { return always || packing_pays(dtype, features, options_.sequences, neighbours()); });
  // A mapped file can be larger than memory, what is packed cannot.
  const Bytes memory = usable_memory();
  if (!always && memory.count() != 0 && packed_bytes(plain, wanted) > memory.count() / 5 * 4) return {};
  const auto is_packed = [](const Step& step) { return step.integer("layout") != 0; };
  if (always && wanted.empty() && std::ranges::none_of(plain.steps, is_packed)) {
    return Error::of(ErrorCode::unsupported,
                     "packing: expected products with weights of type q4_0, q8_0, q5_0, q4_k or ",
                     "q6_k in whole eights of rows, found none in this model");
  }
  Context context{*workers_, {}};
  packed_ = TRY(pack_weights(plain, wanted, *table_, context,
                             [this](std::span<const std::byte> part) { model_->file().forget(part); }));
  return {};
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
  if (window == 0) return {};
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
  return SharingOptions{.secret = any_number(), .checkpoints = shares.checkpoints};
}

Result<Circuit> Session::plain_circuit(const PassShape& pass) const {
  CircuitBuilder builder(model_->weights(), pass, {.longest = geometry_.longest_sequence()});
  model_->form().emit(builder);
  return builder.finish();
}

Result<Circuit> Session::rewritten_circuit(const PassShape& pass) const {
  Circuit circuit = TRY(plain_circuit(pass));
  const Fusion fusion = options_.rewrites ? Fusion::all : Fusion::none;
  TRY(apply_rewrites(circuit, {.cache = &geometry_, .packed = &packed_, .fusion = fusion, .neighbours = neighbours()}));
  return circuit;
}

Result<void> Session::bind(Plan& plan) {
  return plan.bind(arena_.data(), [this](const CircuitTensor& tensor) {
    if (tensor.storage == Storage::cache) return memory_->cache(tensor);
    const auto run = static_cast<std::size_t>(tensor.run);
    // A plan may be looked at before it runs: then its states are nobody's.
    return run < sequences_of_runs_.size() ? memory_->state(tensor, sequences_of_runs_[run]) : arena_.data();
  });
}

PassShape Session::planned_shape(const PassShape& pass) const {
  // A state is read and written by its own run's steps, and without a cache attention is its own run's too.
  if (memory_ == nullptr || memory_->has_states() || model_->facts().makes_embeddings) return pass;
  const auto long_run =
      std::ranges::find_if(pass.runs, [&](std::int64_t tokens) { return is_prefill_run(tokens, neighbours()); });
  const std::int64_t decoded = std::accumulate(pass.runs.begin(), long_run, std::int64_t{0});
  PassShape shape{.runs = std::vector<std::int64_t>(static_cast<std::size_t>(decoded), 1), .outputs = pass.outputs};
  if (long_run == pass.runs.end()) return shape;
  shape.runs.push_back(std::accumulate(long_run, pass.runs.end(), std::int64_t{0}) - (pass.runs.end() - long_run - 1));
  shape.runs.insert(shape.runs.end(), static_cast<std::size_t>(pass.runs.end() - long_run - 1), 1);
  return shape;
}

Result<Plan*> Session::plan_for(const PassShape& asked) {
  const PassShape pass = planned_shape(asked);
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const CachedPlan& cached) { return cached.pass == pass; });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
    return plans_.front().plan.get();
  }
  const auto begin = std::chrono::steady_clock::now();
  Circuit circuit = TRY(rewritten_circuit(pass));
  auto plan = std::make_unique<Plan>(TRY(Plan::create(std::move(circuit), *table_, workers_->count())));
  if (scratch_.size() < plan->scratch_bytes()) scratch_ = TRY(Memory::allocate(Bytes(plan->scratch_bytes())));
  const auto needed = static_cast<std::size_t>(plan->arena_bytes());
  if (arena_.size() < needed) {
    arena_ = TRY(Memory::allocate(Bytes(needed)));
    for (CachedPlan& cached : plans_) TRY(bind(*cached.plan));
  }
  TRY(bind(*plan));
  if (plans_.size() == most_plans) plans_.pop_back();
  plans_.push_front({pass, std::move(plan)});
  planning_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plans_.front().plan.get();
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
  TRY(check(runs));
  outputs_.clear();
  planning_seconds_ = 0;
  std::int64_t tokens = 0;
  for (const TokenRun& run : runs) tokens += static_cast<std::int64_t>(run.tokens.size());
  tokens_done_ = 0;
  tokens_wanted_ = tokens;
  const bool splits = tokens > options_.chunk && !model_->facts().makes_embeddings;
  const bool is_one_each = tokens == static_cast<std::int64_t>(runs.size());
  if (options_.deterministic && memory_->has_states() && !is_one_each) {
    TRY(run_token_by_token(runs));
  } else if (!splits) {
    TRY(run_pass(runs, outputs_));
  } else {
    for (const TokenRun& run : runs) {
      for (std::size_t begin = 0; begin < run.tokens.size(); begin += static_cast<std::size_t>(options_.chunk)) {
        TokenRun part = run;
        part.tokens =
            run.tokens.subspan(begin, std::min(static_cast<std::size_t>(options_.chunk), run.tokens.size() - begin));
        const bool is_last = begin + part.tokens.size() == run.tokens.size();
        if (run.wanted == Wanted::last && !is_last) part.wanted = Wanted::none;
        TRY(run_pass(std::span(&part, 1), outputs_));
      }
    }
  }
  const ModelFacts& facts = model_->facts();
  const std::int64_t width = facts.makes_embeddings ? facts.width : facts.vocabulary;
  return View<const float>(outputs_.data(), {static_cast<std::int64_t>(outputs_.size()) / width, width});
}

// A state that goes on by one token is summed in one order; over several, variants cut them in ways of their own.
Result<void> Session::run_token_by_token(std::span<const TokenRun> runs) {
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
  for (const std::vector<float>& of_run : outputs) outputs_.insert(outputs_.end(), of_run.begin(), of_run.end());
  return {};
}

Result<void> Session::run_pass(std::span<const TokenRun> runs, std::vector<float>& outputs) {
  PassShape pass{.runs = {}, .outputs = 0};
  for (const TokenRun& run : runs) {
    TRY(memory_->reserve(run.sequence, static_cast<std::int64_t>(run.tokens.size())));
    pass.runs.push_back(static_cast<std::int64_t>(run.tokens.size()));
    pass.outputs += outputs_of(run);
  }
  sequences_of_runs_.clear();
  for (const TokenRun& run : runs) sequences_of_runs_.push_back(run.sequence);
  Plan& plan = *TRY(plan_for(pass));
  TRY(plan.bind_states([this](const CircuitTensor& tensor) {
    return memory_->state(tensor, sequences_of_runs_[static_cast<std::size_t>(tensor.run)]);
  }));
  fill_inputs(plan, runs);
  TRY(run_plan(plan, pass.tokens()));
  tokens_done_ += pass.tokens();
  // A model that makes embeddings remembers nothing.
  if (!model_->facts().makes_embeddings) {
    for (const TokenRun& run : runs) memory_->advance(run.sequence, static_cast<std::int64_t>(run.tokens.size()));
  }
  const AnyView result = plan.tensor(pass_inputs::result);
  const auto* data = reinterpret_cast<const float*>(result.data());
  outputs.insert(outputs.end(), data, data + result.count());
  return {};
}

Result<void> Session::run_plan(Plan& plan, std::int64_t tokens) {
  Context context{*workers_, scratch_.bytes()};
  if (!progress_ || tokens_wanted_ < 2) return plan.run(context, observer_ ? &observer_ : nullptr);
  const auto steps = static_cast<std::int64_t>(plan.circuit().steps.size());
  const Plan::Observer follower = [&](std::size_t step) {
    if (observer_) observer_(step);
    progress_(tokens_done_ + tokens * static_cast<std::int64_t>(step + 1) / steps, tokens_wanted_);
  };
  return plan.run(context, &follower);
}

void Session::fill_inputs(const Plan& plan, std::span<const TokenRun> runs) {
  std::int32_t* tokens = input_of(plan, pass_inputs::tokens);
  std::int32_t* positions = input_of(plan, pass_inputs::positions);
  std::int32_t* sequences = input_of(plan, pass_inputs::sequences);  // null, as what follows, without a cache
  std::int32_t* lengths = input_of(plan, pass_inputs::lengths);
  std::int32_t* run_begins = input_of(plan, pass_inputs::run_begins);
  std::int32_t* run_lengths = input_of(plan, pass_inputs::run_lengths);
  std::int32_t* wanted = input_of(plan, pass_inputs::wanted);
  const auto decoded = static_cast<std::int32_t>(decoded_tokens(plan));
  std::int32_t token = 0;
  for (const TokenRun& run : runs) {
    const bool is_decoded = token < decoded;
    if (!is_decoded && run_begins != nullptr) *run_begins++ = token - decoded;
    for (std::size_t index = 0; index < run.tokens.size(); ++index, ++token) {
      const auto position = static_cast<std::int32_t>(memory_->length(run.sequence)) + static_cast<std::int32_t>(index);
      tokens[token] = run.tokens[index];
      positions[token] = position;
      if (sequences != nullptr) sequences[token] = run.sequence;
      if (is_decoded) lengths[token] = position + 1;
      const bool is_wanted =
          run.wanted == Wanted::all || (run.wanted == Wanted::last && index + 1 == run.tokens.size());
      if (is_wanted) *wanted++ = token;
    }
    if (!is_decoded && run_lengths != nullptr) *run_lengths++ = positions[token - 1] + 1;
  }
  if (run_begins != nullptr) *run_begins = token - decoded;
  const std::int64_t row = geometry_.pages_per_sequence;
  fill_tables(memory_->whole(), runs, row, decoded,
              {input_of(plan, pass_inputs::pages), input_of(plan, pass_inputs::run_pages),
               input_of(plan, pass_inputs::token_pages)});
  fill_tables(memory_->rings(), runs, row, decoded,
              {input_of(plan, pass_inputs::ring_pages), input_of(plan, pass_inputs::run_ring_pages),
               input_of(plan, pass_inputs::token_ring_pages)});
}

std::size_t Session::working_bytes() const {
  return memory_->bytes() + arena_.size() + scratch_.size() + static_cast<std::size_t>(packed_.bytes());
}

}  // namespace ingot
