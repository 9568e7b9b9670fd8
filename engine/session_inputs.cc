// What a session tells a pass: tokens, their places, and which pages hold what came before.
#include <algorithm>

#include "engine/session.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

// Which pages the runs' sequences hold, as the steps of a plan read it. Null where the circuit does not have it.
struct PageTables {
  std::int32_t* of_sequences;
  std::int32_t* of_runs;
  std::int32_t* of_tokens;
};

// Tokens of the runs at the beginning that a plan decodes one by one; the others it reads run by run.
std::int64_t decoded_tokens(const Plan& plan) {
  const AnyView lengths = plan.tensor(pass_inputs::lengths);
  return is_present(lengths) ? lengths.size(0) : 0;
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

}  // namespace

std::int32_t* Session::input_of(const Plan& plan, std::string_view name) {
  return reinterpret_cast<std::int32_t*>(device_ ? device_->input(plan, name) : plan.tensor(name).data());
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

}  // namespace ingot
