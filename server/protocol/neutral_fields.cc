#include "server/protocol/neutral_fields.h"

#include <array>

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

std::optional<double> number_of(const Value& value) {
  if (!value.is(Kind::integer) && !value.is(Kind::floating)) return std::nullopt;
  return value.number_value();
}

// What a value must be so that nothing is asked for.
struct Off {
  std::string_view spelled;
  bool (*holds)(const Value& value);
};

constexpr Off zero = {"0", [](const Value& value) { return number_of(value) == 0.0; }};
constexpr Off at_most_zero = {"0 or less", [](const Value& value) { return number_of(value).value_or(1) <= 0; }};
constexpr Off below_zero = {"less than 0", [](const Value& value) { return number_of(value).value_or(0) < 0; }};
constexpr Off at_least_one = {"1 or more", [](const Value& value) { return number_of(value).value_or(0) >= 1; }};
constexpr Off zero_or_one = {"0 or 1",
                             [](const Value& value) { return number_of(value) == 0.0 || number_of(value) == 1.0; }};
constexpr Off no = {"false", [](const Value& value) { return value.is(Kind::boolean) && !value.as_boolean(); }};
constexpr Off empty_list = {"an empty list",
                            [](const Value& value) { return value.is(Kind::sequence) && value.items().empty(); }};

struct Row {
  std::string_view name;
  Off off;
};

constexpr std::array rows = {
    // Samplers.
    Row{"mirostat", zero},
    Row{"typical_p", at_least_one},
    Row{"tfs_z", at_least_one},
    Row{"top_n_sigma", at_most_zero},
    Row{"xtc_probability", at_most_zero},
    Row{"dynatemp_range", at_most_zero},
    Row{"dry_multiplier", zero},
    Row{"adaptive_target", below_zero},
    Row{"min_keep", zero_or_one},  // the last token is never taken away
    Row{"penalize_nl", no},
    Row{"backend_sampling", no},
    Row{"grammar_lazy", no},
    Row{"grammar_triggers", empty_list},
    Row{"preserved_tokens", empty_list},
    // What is generated, and when it ends.
    Row{"image_data", empty_list},
    Row{"n_indent", zero},
    Row{"t_max_prompt_ms", at_most_zero},
    Row{"t_max_predict_ms", at_most_zero},
    Row{"n_cache_reuse", zero},
    // What is answered.
    Row{"post_sampling_probs", no},
    Row{"response_fields", empty_list},
};

// Numbers that say how, of what is off; of a context that is shifted, which never happens; and of drafts, which change
// no answer.
constexpr std::array<std::string_view, 13> details = {"mirostat_tau",      "mirostat_eta",       "xtc_threshold",
                                                      "dynatemp_exponent", "dry_base",           "dry_allowed_length",
                                                      "adaptive_decay",    "dry_penalty_last_n", "n_keep",
                                                      "n_discard",         "speculative.n_min",  "speculative.n_max",
                                                      "speculative.p_min"};

}  // namespace

void read_neutral_fields(FieldReader& reader) {
  for (const Row& row : rows) {
    const Value* found = reader.partly_refused(row.name);
    if (found == nullptr || row.off.holds(*found)) continue;
    const std::string name(row.name);
    reader.fail(not_served_yet(name, name + " other than " + std::string(row.off.spelled)));
  }
  for (const std::string_view name : details) {
    const Value* found = reader.partly_refused(name);
    if (found != nullptr && !number_of(*found)) reader.fail(name, "a number", *found);
  }
  reader.harmless("dry_sequence_breakers", Kind::sequence);
}

}  // namespace ingot::protocol
