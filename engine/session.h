// Session: sequences of tokens in progress on one model, with the memory, threads and plans to continue them. No
// globals: a program may hold any number of sessions on any number of models, each used by one thread at a time.
#pragma once

#include <list>

#include "engine/model.h"
#include "engine/sequence_memory.h"
#include "kernels/contract/table.h"
#include "machine/workers.h"
#include "model/plan/plan.h"

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
};

inline constexpr std::int64_t default_context = 4096;

// Which tokens of a run yield an output.
enum class Wanted : std::uint8_t { none, last, all };

// New tokens of one sequence.
struct TokenRun {
  int sequence = 0;
  std::span<const std::int32_t> tokens;
  Wanted wanted = Wanted::last;
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const Model> model, SessionOptions options);

  const Model& model() const { return *model_; }
  const SessionOptions& options() const { return options_; }
  SequenceMemory& sequences() { return *memory_; }
  std::int64_t context() const { return context_; }
  const CacheGeometry& geometry() const { return geometry_; }
  // As asked for, in whole pages.
  std::int64_t checkpoint_distance() const {
    return divide_rounding_up(options_.checkpoint_distance, geometry_.page_length) * geometry_.page_length;
  }

  // Appends the runs to their sequences and computes the outputs that are wanted, in the order of runs and tokens:
  // logits [outputs, vocabulary], valid until the next call. Several runs go through in one pass where they fit a
  // chunk. Runs name distinct sequences. On an error of the caller's (unknown sequence, token out of range, no room)
  // no sequence is longer; where pages are missing, some may hold those that they will need.
  Result<View<const float>> forward(std::span<const TokenRun> runs);
  Result<View<const float>> forward(const TokenRun& run) { return forward(std::span(&run, 1)); }

  // Of the last forward(), the time that went into plans: once for each shape, so it says nothing of the next pass.
  double planning_seconds() const { return planning_seconds_; }

  // Whether the sequence can take that many tokens more; else an error that says how much it can, and what to do.
  Result<void> require_room(int sequence, std::int64_t tokens) const;

  // The plan that a pass of this shape runs, for those who explain or measure it.
  Result<Plan*> plan_for(const PassShape& asked);
  // Called after every step of every pass.
  void observe(Plan::Observer observer) { observer_ = std::move(observer); }
  // Called after every step of a forward() of more than one token: how many of its tokens are through. A pass that is
  // under way counts by the share of its steps that are done.
  using Progress = std::function<void(std::int64_t done, std::int64_t tokens)>;
  void follow(Progress progress) { progress_ = std::move(progress); }

  const KernelTable& table() const { return *table_; }
  // Workers and scratch for kernels that are not part of a pass, such as sampling. The scratch is good until the next
  // pass or plan, which may need more and replace it: ask again after each.
  Context context_for_kernels() { return {*workers_, scratch_.bytes()}; }

  // Bytes held beside the weights of the file: cache, states, activations, scratch, packed weights.
  std::size_t working_bytes() const;

 private:
  Session(std::shared_ptr<const Model> model, SessionOptions options)
      : model_(std::move(model)), options_(std::move(options)) {}
  Result<void> start();
  Result<void> pack();
  Result<void> check(std::span<const TokenRun> runs) const;
  // One pass over runs that fit a chunk; `outputs` receives its rows.
  Result<void> run_pass(std::span<const TokenRun> runs, std::vector<float>& outputs);
  // The runs a token at a time, all of them together: for each run the next token of those that are left.
  Result<void> run_token_by_token(std::span<const TokenRun> runs);
  Result<void> run_plan(Plan& plan, std::int64_t tokens);
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
  Result<void> bind(Plan& plan);
  Neighbours neighbours() const { return options_.deterministic ? Neighbours::never_show : Neighbours::may_show; }

  struct CachedPlan {
    PassShape pass;
    std::unique_ptr<Plan> plan;
  };

  std::shared_ptr<const Model> model_;
  SessionOptions options_;
  std::int64_t context_ = 0;
  CacheGeometry geometry_;
  std::unique_ptr<KernelTable> table_;
  std::unique_ptr<Workers> workers_;
  Weights packed_;  // see SessionOptions::packing
  std::unique_ptr<SequenceMemory> memory_;
  std::list<CachedPlan> plans_;  // the last used first
  Memory arena_;
  Memory scratch_;
  std::vector<int> sequences_of_runs_;  // of the pass under way
  std::vector<float> outputs_;
  Plan::Observer observer_;
  Progress progress_;
  std::int64_t tokens_done_ = 0;  // of the forward() under way
  std::int64_t tokens_wanted_ = 0;
  double planning_seconds_ = 0;
};

}  // namespace ingot
