#include "model/plan/cache_lowering.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "kernels/attention/visibility.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

bool is_causal_attention(const Step& step) {
  return step.operation->name == "attention.sdpa" &&
         step.integer("mask_kind") == static_cast<std::int64_t>(MaskKind::causal);
}

// What attention over a cache has no word for, and what one call for all runs cannot tell apart.
Result<void> require_lowerable(const Step& step, const Step& first) {
  for (const std::string_view field : {"mask", "log_sum_exp"}) {
    if (step.find(field) == nullptr) continue;
    return Error::of(ErrorCode::unsupported, step.name, ": expected attention without ", field,
                     " where keys and values are kept, found one with it");
  }
  if (const std::int64_t offset = step.integer("query_offset"); offset != 0) {
    return Error::of(ErrorCode::unsupported, step.name,
                     ": expected queries from position 0 on where keys and values are kept, found an offset of ",
                     offset);
  }
  for (const std::string_view field : {"alibi_slopes", "sinks"}) {
    const Operand* operand = step.find(field);
    const Operand* of_first = first.find(field);
    const bool is_same = operand == nullptr || of_first == nullptr ? operand == of_first : *operand == *of_first;
    if (is_same) continue;
    return Error::of(ErrorCode::invalid_argument, step.name, ": expected the ", field,
                     " of the runs before, found others");
  }
  if (step.attributes == first.attributes) return {};
  return Error::of(ErrorCode::invalid_argument, step.name,
                   ": expected the attributes of the runs before, found others");
}

// The steps of one layer see parts [sequences, heads, time, dimensions] of one tensor each for q, k, v and y. This is
// what the parts make up: [tokens, heads, dimensions].
Result<Operand> joined(std::span<const Step> steps, std::string_view field, std::int64_t tokens) {
  Operand whole;
  std::int64_t begin = 0;
  for (const Step& step : steps) {
    const Operand* part = step.find(field);
    const Operand* queries = step.find("q");
    if (part == nullptr || queries == nullptr || part->shape.rank() != 4 || queries->shape.rank() != 4) {
      return Error::of(ErrorCode::invalid_argument, step.name, ": expected ", field, " of four axes, found another");
    }
    const Shape& shape = part->shape;
    const Strides& strides = part->byte_strides;
    if (!whole.is_present()) {
      whole = {part->tensor, {tokens, shape[1], shape[3]}, {strides[2], strides[1], strides[3]}, part->byte_offset};
    }
    const bool is_of_same_runs = shape[0] == queries->shape[0] && shape[2] == queries->shape[2];
    const bool is_alike = part->tensor == whole.tensor && shape[1] == whole.shape[1] && shape[3] == whole.shape[2] &&
                          strides[2] == whole.byte_strides[0] && strides[1] == whole.byte_strides[1] &&
                          strides[3] == whole.byte_strides[2];
    const bool follows = part->byte_offset == whole.byte_offset + begin * whole.byte_strides[0] &&
                         (shape[0] == 1 || strides[0] == shape[2] * strides[2]);
    if (!is_of_same_runs || !is_alike || !follows) {
      return Error::of(ErrorCode::invalid_argument, step.name, ": expected ", field,
                       " that continues the one of the runs before, found ", shape, " from byte ", part->byte_offset,
                       " on");
    }
    begin += shape[0] * shape[2];
  }
  if (begin == tokens) return whole;
  return Error::of(ErrorCode::invalid_argument, steps[0].name, ": expected attention over all ", tokens,
                   " tokens of the pass, found ", field, " of ", begin);
}

// How one layer's attention is divided: runs at the beginning that are short are decoded token by token, the rest is
// read run by run.
struct Division {
  std::int64_t decoded_tokens = 0;
  std::int64_t prefill_runs = 0;
};

Division division_of(std::span<const Step> steps, Neighbours neighbours) {
  Division division;
  for (const Step& step : steps) {
    const Shape& queries = step.find("q")->shape;  // [runs of one length, heads, tokens, dimensions]
    if (division.prefill_runs == 0 && !is_prefill_run(queries[2], neighbours)) {
      division.decoded_tokens += queries[0] * queries[2];
    } else {
      division.prefill_runs += queries[0];
    }
  }
  return division;
}

// Tokens `begin` to `end` of an operand whose first axis they are.
Operand tokens_of(Operand all, std::int64_t begin, std::int64_t end) {
  all.byte_offset += begin * all.byte_strides[0];
  all.shape[0] = end - begin;
  return all;
}

class CacheLowering {
 public:
  CacheLowering(Circuit& circuit, const CacheGeometry& geometry, Neighbours neighbours)
      : circuit_(circuit), geometry_(geometry), neighbours_(neighbours) {}

  Result<int> run() {
    const std::vector<Step> steps = std::exchange(circuit_.steps, {});
    for (auto step = steps.begin(); step != steps.end();) {
      if (!is_causal_attention(*step)) {
        circuit_.steps.push_back(*step++);
        continue;
      }
      const auto end = std::find_if_not(
          step, steps.end(), [&](const Step& other) { return is_causal_attention(other) && other.name == step->name; });
      TRY(lower(std::span(step, end)));
      step = end;
    }
    return static_cast<int>(lowered_.size());
  }

 private:
  // One layer's attention.
  Result<void> lower(std::span<const Step> steps) {
    const Step& first = steps[0];
    for (const Step& step : steps) TRY(require_lowerable(step, first));
    const CircuitTensor* positions = circuit_.find(pass_inputs::positions);
    if (positions == nullptr || positions->shape.rank() != 1) {
      return Error::of(ErrorCode::not_found, first.name, ": expected the pass's positions, found none");
    }
    if (!lowered_.insert(first.layer).second) {
      return Error::of(ErrorCode::unsupported, first.name, ": expected one attention a layer, found another");
    }
    const std::int64_t tokens = positions->shape[0];
    const Operand q = TRY(joined(steps, "q", tokens));
    const Operand k = TRY(joined(steps, "k", tokens));
    const Operand v = TRY(joined(steps, "v", tokens));
    const Operand y = TRY(joined(steps, "y", tokens));

    const std::int64_t window = first.integer("window");
    const bool in_ring = geometry_.keeps_in_ring(window);
    const Shape tables = {geometry_.sequences, geometry_.pages_per_sequence};
    const Operand table = input(in_ring ? pass_inputs::ring_pages : pass_inputs::pages, tables);
    const Operand key_pages = store(first, "cache_k", k, window, table);
    const Operand value_pages = store(first, "cache_v", v, window, table);

    const Division division = division_of(steps, neighbours_);
    const auto attend = [&](std::string_view operation, std::int64_t begin, std::int64_t end) {
      Step attention = Step::of(operation, first.name, first.layer);
      attention.bind("q", tokens_of(q, begin, end));
      attention.bind("k_pages", key_pages);
      attention.bind("v_pages", value_pages);
      if (division.prefill_runs > 0 && end == tokens) {
        bind_runs(attention, division.prefill_runs, in_ring);
      } else {
        bind_tokens(attention, end - begin, in_ring);
      }
      for (const std::string_view field : {"alibi_slopes", "sinks"}) {
        if (const Operand* operand = first.find(field)) attention.bind(field, *operand);
      }
      attention.bind("y", tokens_of(y, begin, end));
      for (const std::string_view field : {"scale", "window", "softcap"}) {
        if (const AttributeValue* value = first.find_attribute(field)) attention.set(field, *value);
      }
      circuit_.steps.push_back(std::move(attention));
    };
    if (division.decoded_tokens > 0) attend("attention.decode", 0, division.decoded_tokens);
    if (division.prefill_runs > 0) attend("attention.prefill", division.decoded_tokens, tokens);
    return {};
  }

  // Where the sequences lie that a prefill sees, one a run.
  void bind_runs(Step& prefill, std::int64_t runs, bool in_ring) {
    const Shape tables = {runs, geometry_.pages_per_sequence};
    prefill.bind("block_table", input(in_ring ? pass_inputs::run_ring_pages : pass_inputs::run_pages, tables));
    prefill.bind("lengths", input(pass_inputs::run_lengths, {runs}));
    prefill.bind("run_begins", input(pass_inputs::run_begins, {runs + 1}));
  }

  // The same for a decode, which takes every token as the last of a sequence.
  void bind_tokens(Step& decode, std::int64_t tokens, bool in_ring) {
    const Shape tables = {tokens, geometry_.pages_per_sequence};
    decode.bind("block_table", input(in_ring ? pass_inputs::token_ring_pages : pass_inputs::token_pages, tables));
    decode.bind("lengths", input(pass_inputs::lengths, {tokens}));
  }

  // Adds the cache and the step that fills it with x [tokens, heads, dimensions]. Where a layer before keeps the same
  // rows in the same way, its cache is read.
  Operand store(const Step& attention, std::string_view name, const Operand& x, std::int64_t window,
                const Operand& table) {
    const auto same = std::ranges::find_if(kept_, [&](const Kept& one) { return one.x == x && one.window == window; });
    if (same != kept_.end()) return same->cache;
    const std::int64_t pages =
        geometry_.keeps_in_ring(window) ? geometry_.ring_pages * geometry_.sequences : geometry_.pages;
    const Operand cache = circuit_.add({.name = layer_prefix(attention.layer) + std::string(name),
                                        .storage = Storage::cache,
                                        .dtype = geometry_.dtype,
                                        .shape = {pages, x.shape[1], geometry_.page_length, x.shape[2]},
                                        .window = window});
    Step step = Step::of("cache.store_paged", circuit_.tensors.back().name, attention.layer);
    step.bind("x", x);
    step.bind("sequences", input(pass_inputs::sequences, {x.shape[0]}));
    step.bind("positions", input(pass_inputs::positions, {x.shape[0]}));
    step.bind("block_table", table);
    step.bind("pages", cache);
    circuit_.steps.push_back(std::move(step));
    kept_.push_back({x, window, cache});
    return cache;
  }

  // An input of the pass, added where no layer before asked for it.
  Operand input(std::string_view name, const Shape& shape) {
    if (const auto known = inputs_.find(name); known != inputs_.end()) return known->second;
    const auto found = std::ranges::find(circuit_.tensors, name, &CircuitTensor::name);
    const Operand operand =
        found != circuit_.tensors.end()
            ? circuit_.whole(static_cast<int>(found - circuit_.tensors.begin()))
            : circuit_.add({.name = std::string(name), .storage = Storage::input, .dtype = DType::i32, .shape = shape});
    inputs_.emplace(name, operand);
    return operand;
  }

  Circuit& circuit_;
  const CacheGeometry& geometry_;
  const Neighbours neighbours_;
  std::map<std::string_view, Operand> inputs_;
  std::set<int> lowered_;  // layers
  struct Kept {
    Operand x;
    std::int64_t window;
    Operand cache;
  };
  std::vector<Kept> kept_;
};

}  // namespace

std::int64_t largest_window(const Circuit& circuit) {
  std::int64_t largest = 0;
  for (const Step& step : circuit.steps) {
    if (is_causal_attention(step)) largest = std::max(largest, step.integer("window"));
  }
  return largest;
}

Result<int> lower_to_cache(Circuit& circuit, const CacheGeometry& geometry, Neighbours neighbours) {
  return CacheLowering(circuit, geometry, neighbours).run();
}

}  // namespace ingot
