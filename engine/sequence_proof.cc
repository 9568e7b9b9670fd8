#include "engine/sequence_proof.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/measure.h"
#include "engine/session_guards.h"

namespace ingot {
namespace {

using Tokens = std::vector<std::int32_t>;

// A text, and its logits where nobody else is computed with it: behind its prompt, and behind each token that follows.
struct Text {
  Tokens tokens;
  std::size_t prompt = 0;
  std::vector<std::vector<float>> logits = {};
};

class SequenceProof {
 public:
  SequenceProof(Session& session, const SequenceProofOptions& options)
      : session_(session), options_(options), texts_(static_cast<std::size_t>(options.sequences())) {
    for (std::size_t index = 0; index < texts_.size(); ++index) {
      // The first is the longest; of the others hardly two are equally long.
      const auto shorter = static_cast<std::int64_t>(index) * 37 % std::max<std::int64_t>(options.prompt / 2, 1);
      texts_[index].prompt = static_cast<std::size_t>(options.prompt - shorter);
      texts_[index].tokens = arbitrary_tokens(options.prompt - shorter + options.generate,
                                              session.model().facts().vocabulary, 100 + index);
    }
  }

  Result<void> read_alone() {
    for (Text& text : texts_) {
      OwnSequences own(session_);
      const int sequence = TRY(own.add());
      TRY(keep(text, {sequence, prompt_of(text), Wanted::last}));
      for (std::int64_t step = 0; step < options_.generate; ++step) {
        TRY(keep(text, {sequence, token_of(text, step), Wanted::last}));
      }
    }
    return {};
  }

  Result<SequenceProofRow> cut_by(std::int64_t length) {
    begin_row("prompt cut by " + std::to_string(length));
    const Text& text = texts_[0];
    OwnSequences own(session_);
    const int sequence = TRY(own.add());
    const std::span<const std::int32_t> prompt = prompt_of(text);
    for (std::size_t begin = 0; begin < prompt.size(); begin += static_cast<std::size_t>(length)) {
      const std::size_t count = std::min(static_cast<std::size_t>(length), prompt.size() - begin);
      const bool is_last = begin + count == prompt.size();
      const View<const float> logits =
          TRY(session_.forward({sequence, prompt.subspan(begin, count), is_last ? Wanted::last : Wanted::none}));
      if (is_last) compare(logits, 0, 0, 0);
    }
    TRY(go_on(own.numbers()));
    return row_;
  }

  Result<SequenceProofRow> together(std::int64_t count) {
    begin_row(std::to_string(count) + " sequences go on together");
    OwnSequences own(session_);
    for (std::size_t index = 0; index < static_cast<std::size_t>(count); ++index) {
      const int sequence = TRY(own.add());
      compare(TRY(session_.forward({sequence, prompt_of(texts_[index]), Wanted::last})), 0, index, 0);
    }
    TRY(go_on(own.numbers()));
    return row_;
  }

  // The first text's prompt is read in as many parts as the others have tokens to go on with.
  Result<SequenceProofRow> beside(std::int64_t others) {
    begin_row("prompt read beside " + std::to_string(others) + " sequences that go on");
    OwnSequences own(session_);
    for (std::size_t index = 0; index <= static_cast<std::size_t>(others); ++index) {
      const int sequence = TRY(own.add());
      if (index > 0) TRY(session_.forward({sequence, prompt_of(texts_[index]), Wanted::none}));
    }
    const std::span<const std::int32_t> prompt = prompt_of(texts_[0]);
    const auto steps = static_cast<std::size_t>(options_.generate);
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t begin = prompt.size() * step / steps;
      const std::size_t end = prompt.size() * (step + 1) / steps;
      std::vector<TokenRun> runs;
      for (std::size_t index = 1; index <= static_cast<std::size_t>(others); ++index) {
        runs.push_back({own.numbers()[index], token_of(texts_[index], static_cast<std::int64_t>(step)), Wanted::last});
      }
      const bool is_last = step + 1 == steps;
      if (end > begin) {
        runs.push_back({own.numbers()[0], prompt.subspan(begin, end - begin), is_last ? Wanted::last : Wanted::none});
      }
      const View<const float> logits = TRY(session_.forward(runs));
      for (std::int64_t other = 0; other < others; ++other) {
        compare(logits, other, static_cast<std::size_t>(other) + 1, step + 1);
      }
      if (is_last) compare(logits, others, 0, 0);
    }
    TRY(go_on(own.numbers().first(1)));
    return row_;
  }

 private:
  static std::span<const std::int32_t> prompt_of(const Text& text) { return std::span(text.tokens).first(text.prompt); }
  static std::span<const std::int32_t> token_of(const Text& text, std::int64_t step) {
    return std::span(text.tokens).subspan(text.prompt + static_cast<std::size_t>(step), 1);
  }

  Result<void> keep(Text& text, const TokenRun& run) {
    const View<const float> logits = TRY(session_.forward(run));
    const std::span<const float> row(logits.data(), static_cast<std::size_t>(logits.count()));
    if (!std::ranges::all_of(row, [](float value) { return std::isfinite(value); })) {
      return Error::of(ErrorCode::corrupt, "expected logits that are numbers, found others behind token ",
                       text.prompt + text.logits.size() - 1, " of a text");
    }
    text.logits.emplace_back(row.begin(), row.end());
    return {};
  }

  // One token of each after the other: of the first texts, as many as there are sequences.
  Result<void> go_on(std::span<const int> sequences) {
    for (std::int64_t step = 0; step < options_.generate; ++step) {
      std::vector<TokenRun> runs;
      for (std::size_t index = 0; index < sequences.size(); ++index) {
        runs.push_back({sequences[index], token_of(texts_[index], step), Wanted::last});
      }
      const View<const float> logits = TRY(session_.forward(runs));
      for (std::size_t index = 0; index < sequences.size(); ++index) {
        compare(logits, static_cast<std::int64_t>(index), index, static_cast<std::size_t>(step) + 1);
      }
    }
    return {};
  }

  void begin_row(std::string what) { row_ = {.what = std::move(what)}; }
  void compare(const View<const float>& logits, std::int64_t row, std::size_t text, std::size_t step) {
    const std::vector<float>& wanted = texts_[text].logits[step];
    const float* const found = logits.data() + row * logits.size(1);
    ++row_.compared;
    if (std::memcmp(found, wanted.data(), wanted.size() * sizeof(float)) == 0) return;
    if (row_.different++ > 0) return;
    const auto at =
        static_cast<std::size_t>(std::ranges::mismatch(wanted, std::span(found, wanted.size())).in1 - wanted.begin());
    row_.first_difference = "text " + std::to_string(text) + ", " + std::to_string(step) +
                            " tokens behind its prompt of " + std::to_string(texts_[text].prompt) + ": logit " +
                            std::to_string(at) + " is " + std::to_string(found[at]) + ", alone " +
                            std::to_string(wanted[at]);
  }

  Session& session_;
  const SequenceProofOptions& options_;
  std::vector<Text> texts_;
  SequenceProofRow row_;
};

}  // namespace

std::int64_t SequenceProofOptions::sequences() const {
  return batches.empty() ? 1 : std::max<std::int64_t>(1, *std::ranges::max_element(batches));
}

Result<std::vector<SequenceProofRow>> prove_sequences(Session& session, const SequenceProofOptions& options,
                                                      const std::function<void()>& advanced) {
  SequenceProof proof(session, options);
  TRY(proof.read_alone());
  std::vector<SequenceProofRow> rows;
  const auto add = [&](SequenceProofRow row) {
    rows.push_back(std::move(row));
    if (advanced) advanced();
  };
  for (const std::int64_t length : options.cuts) add(TRY(proof.cut_by(length)));
  for (const std::int64_t count : options.batches) add(TRY(proof.together(count)));
  if (!options.cuts.empty() && options.sequences() > 1) add(TRY(proof.beside(options.sequences() - 1)));
  return rows;
}

}  // namespace ingot
