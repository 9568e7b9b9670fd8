// Session: sequences of tokens in progress on one model, with the memory, threads and plans to continue them. No
// globals: a program may hold any number of sessions on any number of models, each used by one thread at a time.
#pragma once

#include <optional>

#include "engine/adapter.h"
#include "engine/device_side.h"
#include "engine/model.h"
#include "engine/plan_cache.h"
#include "engine/sequence_memory.h"
#include "engine/token_choice.h"
#include "kernels/contract/table.h"
#include "machine/workers.h"
#include "model/plan/plan.h"
#include "model/plan/rewrite.h"

namespace ingot {

// Whether weights are held as products read them fastest (model/plan/packed_weights.h), instead of the file's pages.
enum class WeightPacking : std::uint8_t {
  where_it_pays,  // formats that this machine multiplies faster, if memory can hold them without the file
  always,         // every format that has the layout; an error where there is none
  never,
};

struct SessionOptions {
  int threads = 1;
  DType cache = DType::f16;  // or f32, q8_0
  std::int64_t context = 0;  // tokens a sequence may have; 0: the model's, at most default_context
  int sequences = 1;         // at once
  std::int64_t pages = 0;    // of the cache, which all sequences share; 0: enough for the whole context of each
  Bytes cache_memory{0};     // for pages, rings, states and checkpoints together; 0: as `pages` and `checkpoints` say
  std::int64_t page_length = 64;
  // Of models with windows or states, so that texts which begin alike share them (engine/sequence_memory.h); 0: as many
  // as whole contexts of all sequences have. Memory is taken for those only that are made.
  std::int64_t checkpoints = 0;
  std::int64_t checkpoint_distance = 256;  // tokens between two of one text, at most; in whole pages
  std::int64_t chunk = 256;                // most tokens of one pass: longer prompts go through in several
  bool rewrites = true;                    // fuse operations (see model/plan/rewrite.h); a cache is kept all the same
  WeightPacking packing = WeightPacking::where_it_pays;
  // What a sequence yields is the same to the bit whatever else a pass computes, however its tokens are divided into
  // passes, and whether its pages were computed for it or found: docs/decisions/032-deterministic.md says at what
  // price.
  bool deterministic = false;
  std::vector<ForcedVariant> forced = {};
  // Where passes run; null: on the host. Precondition: it is of the session's model.
  std::shared_ptr<const DeviceModel> device = nullptr;
  // That sequences can have, by number, and how much each counts where nobody says (use_adapters). Precondition: they
  // are of the session's model.
  std::vector<std::shared_ptr<const Adapter>> adapters = {};
  AdapterScales adapter_scales = {};
};

inline constexpr std::int64_t default_context = 4096;
// SessionOptions::chunk where a device computes passes: 128 rows by 128 tokens are what a block of it multiplies, and
// with fewer tokens narrow products have fewer blocks than it has multiprocessors.
inline constexpr std::int64_t device_chunk = 512;

// Bytes of a device's memory.
struct DeviceNeeds {
  std::size_t weights = 0;
  std::size_t cache = 0;   // pages, rings and states
  std::size_t passes = 0;  // arena and scratch of the largest one
  std::size_t page = 0;    // of the cache, of which there are `pages`
  std::int64_t pages = 0;
  std::int64_t page_length = 0;  // tokens
  std::int64_t sequences = 0;
  std::int64_t layers = 0;
  std::int64_t host_layers = 0;  // of these, which take nothing of it
  bool can_be_split = true;

  std::size_t total() const { return weights + cache + passes; }
};

// Which tokens of a run yield an output.
enum class Wanted : std::uint8_t { none, last, all };

// New tokens of one sequence.
struct TokenRun {
  int sequence = 0;
  std::span<const std::int32_t> tokens;
  Wanted wanted = Wanted::last;
};

inline std::int64_t outputs_of(const TokenRun& run) {
  if (run.wanted == Wanted::all) return static_cast<std::int64_t>(run.tokens.size());
  return run.wanted == Wanted::last && !run.tokens.empty() ? 1 : 0;
}

// A run from whose last output a token may be chosen.
struct ChosenRun {
  int sequence = 0;
  std::span<const std::int32_t> tokens = {};
  std::optional<TokenChoice> choice = TokenChoice();
  bool goes_on = false;  // with the token that the last pass chose for it, instead of `tokens`
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const Model> model, SessionOptions options);
  ~Session();  // waits for what a device still does of it
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What a session with these options would take of such a device, if so many of the first layers stayed on the host.
  // Asked before anything is uploaded: `options.device` is not looked at.
  static Result<DeviceNeeds> needs_on(const DeviceInformation& device, std::shared_ptr<const Model> model,
                                      SessionOptions options, std::int64_t host_layers = 0);
  // How the weights of a session with these options come to lie there.
  static DeviceModel::Use use_of(const DeviceInformation& device, const SessionOptions& options,
                                 std::int64_t host_layers = 0);

  const Model& model() const { return *model_; }
  const SessionOptions& options() const { return options_; }
  SequenceMemory& sequences() { return *memory_; }
  std::int64_t context() const { return context_; }
  // Numbers of one output: logits, or what a model that makes embeddings has for a token.
  std::int64_t output_width() const {
    return model_->facts().makes_embeddings ? model_->facts().width : model_->facts().vocabulary;
  }
  const CacheGeometry& geometry() const { return geometry_; }
  // As asked for, in whole pages.
  std::int64_t checkpoint_distance() const {
    return divide_rounding_up(options_.checkpoint_distance, geometry_.page_length) * geometry_.page_length;
  }

  // Changes how much each adapter counts in what the sequence computes from now on. Where that is another set than it
  // has, what it holds was computed with, it is emptied: its length is 0, and its text has to be computed again. A new
  // sequence has the session's scales, a fork those of its origin. No pass may be under way.
  Result<void> use_adapters(int sequence, std::span<const float> scales);

  // Appends the runs to their sequences and computes the outputs that are wanted, in the order of runs and tokens:
  // logits [outputs, vocabulary], valid until the next call. Several runs go through in one pass where they fit a
  // chunk and have the same adapters; those of each other set have a pass of their own. Runs name distinct sequences.
  // On an error of the caller's (unknown sequence, token out of range, no room) no sequence is longer; where pages are
  // missing, some may hold those that they will need.
  Result<View<const float>> forward(std::span<const TokenRun> runs);
  Result<View<const float>> forward(const TokenRun& run) { return forward(std::span(&run, 1)); }
  // The outputs of the last forward(), for whoever keeps them longer: what that returned is a view of them.
  std::vector<float> take_outputs() { return std::move(outputs_); }

  // Where passes run on a device, tokens are chosen there too: what comes back is a number a run, and the next pass can
  // begin before it is here. Begins a pass over the runs. Those that go on with what was chosen do so all together and
  // in the order of the last pass, whose tokens need not have been asked for; before other passes, and forward(), all
  // have to be. Precondition: chooses_tokens().
  bool chooses_tokens() const { return device_ && !model_->facts().makes_embeddings; }
  // Whether it pays to begin a pass before the token of the last one is known: not where that could not be taken back,
  // nor where the host has to know it first.
  bool goes_ahead() const { return !memory_->has_states() && host_layers_ == 0; }
  Result<void> begin_choosing(std::span<const ChosenRun> runs);
  // The tokens of the first pass that is under way, in the order of its runs that chose; sampling::no_token for one
  // without a number among its logits. Valid until the pass after the next begins. Precondition: one is under way.
  Result<std::span<const std::int32_t>> chosen();
  int passes_under_way() const { return static_cast<int>(turns_under_way_.size()); }

  // Of the last forward(), the time that went into plans: once for each shape, so it says nothing of the next pass.
  double planning_seconds() const { return planning_seconds_; }

  // What forward() would refuse to begin.
  Result<void> check(std::span<const TokenRun> runs) const;
  // Whether the sequence can take that many tokens more; else an error that says how much it can, and what to do.
  Result<void> require_room(int sequence, std::int64_t tokens) const;

  // The plan that a pass of this shape runs with the session's adapters, for those who explain or measure it.
  Result<Plan*> plan_for(PassShape asked);
  // Called after every step of every pass.
  void observe(Plan::Observer observer) { observer_ = std::move(observer); }
  // Called after every step of a forward() of more than one token: how many of its tokens are through. A pass that is
  // under way counts by the share of its steps that are done.
  using Progress = std::function<void(std::int64_t done, std::int64_t tokens)>;
  void follow(Progress progress) { progress_ = std::move(progress); }

  // Variants of the host, for kernels that are not part of a pass; and those that passes choose among.
  const KernelTable& table() const { return *table_; }
  const KernelTable& pass_table() const { return device_table_ ? *device_table_ : *table_; }
  // Workers and scratch for kernels that are not part of a pass, such as sampling. The scratch is good until the next
  // pass or plan, which may need more and replace it: ask again after each.
  Context context_for_kernels() { return {*workers_, scratch_.bytes()}; }
  // Where passes run; null: on the host.
  const DeviceSide* device_side() const { return device_ ? &*device_ : nullptr; }
  // Of the first layers, those that run on the host all the same.
  std::int64_t host_layers() const { return host_layers_; }

  // Bytes held beside the weights of the file: cache, states, activations, scratch, packed weights.
  std::size_t working_bytes() const;
  // All that the session and its weights hold of the device's memory; 0 where there is none.
  std::size_t device_bytes() const;
  // That went into recording passes of a device.
  double recording_seconds() const { return device_ ? device_->recordings().seconds() : 0; }

 private:
  Session(std::shared_ptr<const Model> model, SessionOptions options)
      : model_(std::move(model)), options_(std::move(options)) {}
  Result<void> start();
  // What needs no memory of a device: checks, tables, workers, the cache's geometry.
  Result<void> prepare();
  Result<void> choose_device_rows(const DeviceInformation& device);
  Result<void> pack();
  // Fails where all weights were to be packed and none can be.
  Result<void> require_packable(const Circuit& plain, bool found_some) const;
  // Runs of one set of adapters; `outputs` receives their rows.
  Result<void> compute(std::span<const TokenRun> runs, std::vector<float>& outputs);
  // Set by set; the rows stand in the order of the runs all the same.
  Result<void> compute_sets(std::span<const TokenRun> runs, std::vector<float>& outputs);
  const AdapterScales& adapters_of(const TokenRun& run) const { return memory_->adapters(run.sequence); }
  bool have_same_adapters(std::span<const TokenRun> runs) const;
  Result<Plan*> plan_with_adapters(const PassShape& asked);
  // Room, plan and inputs of a pass over runs that fit a chunk; and what follows when it was given to run.
  Result<Plan*> prepare_pass(std::span<const TokenRun> runs);
  void finish_pass(std::span<const TokenRun> runs);
  // One pass; `outputs` receives its rows.
  Result<void> run_pass(std::span<const TokenRun> runs, std::vector<float>& outputs);
  // The runs a token at a time, all of them together: for each run the next token of those that are left.
  Result<void> run_token_by_token(std::span<const TokenRun> runs, std::vector<float>& outputs);
  Result<void> run_plan(Plan& plan, std::int64_t tokens);
  // What goes before the device's steps.
  Result<void> run_host_steps(Plan& plan, const Plan::Observer* observer);
  // On a device: step by step, or as it was recorded.
  Result<void> run_on_device(Plan& plan, PassKind kind);
  // All but the last token of each run, at most so many at once. What is left of them is `rest`.
  Result<void> run_beginnings(std::span<const ChosenRun> runs, std::int64_t most_tokens, std::vector<TokenRun>& rest);
  Result<void> run_choosing(std::span<const TokenRun> runs, std::span<const TokenChoice> choices, bool continues);
  Context context_of_passes();
  void fill_inputs(const Plan& plan, std::span<const TokenRun> runs);
  Result<void> choose_geometry();
  // As many pages and checkpoints as were asked for, or as the memory has room for.
  Result<SharingOptions> share_memory();
  // What stands for all passes that the same plan runs: where nothing but attention looks from token to token, how many
  // are decoded and how many are read in how many runs, and not which run is how long.
  PassShape planned_shape(const PassShape& pass) const;
  // As the template writes it, and as the session runs it.
  Result<Circuit> plain_circuit(const PassShape& pass) const;
  Result<Circuit> rewritten_circuit(const PassShape& pass) const;
  RewriteContext rewrites_of_host(const FindAdapters* adapters) const;
  RewriteContext rewrites_of_device(const FindAdapters* adapters) const;
  Result<void> bind(Plan& plan);
  // Where a device found no memory for what was asked, it has given back what plans were bound to.
  void forget_plans();
  // A place for the plan's arena and scratch; all plans are bound to it.
  Result<void> make_room(Plan& plan);
  // Where an input of the pass is written to; null: the plan has none of that name.
  std::int32_t* input_of(const Plan& plan, std::string_view name);
  Neighbours neighbours() const { return options_.deterministic ? Neighbours::never_show : Neighbours::may_show; }

  std::shared_ptr<const Model> model_;
  SessionOptions options_;
  std::int64_t context_ = 0;
  CacheGeometry geometry_;
  std::unique_ptr<KernelTable> table_;
  std::optional<DeviceSide> device_;  // outlives what lies on the device
  std::int64_t host_layers_ = 0;      // that run on the host where the others run on a device
  std::unique_ptr<KernelTable> device_table_;
  std::unique_ptr<Workers> workers_;
  Weights packed_;  // see SessionOptions::packing
  std::unique_ptr<SequenceMemory> memory_;
  PlanCache plans_;
  Memory arena_;
  Memory scratch_;
  std::vector<int> sequences_of_runs_;  // of the pass under way
  std::vector<float> outputs_;
  Plan::Observer observer_;
  Progress progress_;
  std::int64_t tokens_done_ = 0;  // of the forward() under way
  std::int64_t tokens_wanted_ = 0;
  double planning_seconds_ = 0;
  std::vector<int> turns_under_way_;   // of passes whose tokens were not asked for, the first first
  std::vector<int> runs_with_tokens_;  // sequences of the last pass that chose, if no other came since
  int last_turn_ = 0;                  // of that pass
};

}  // namespace ingot
