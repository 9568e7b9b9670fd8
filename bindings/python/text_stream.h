// TextStream: a generation as Python sees it, an iterator of pieces of text.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/python/open_session.h"
#include "engine/generator.h"
#include "engine/sampler.h"
#include "engine/stop_text.h"
#include "model/grammar/grammar_source.h"

namespace ingot::python {

// Left out: as the model's file advises, else as SamplerOptions has it.
struct SamplingArguments {
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<std::int64_t> top_k;
  double presence_penalty = 0;
  double frequency_penalty = 0;
  std::uint64_t seed = 0;
};

struct GenerationArguments {
  std::vector<std::int32_t> prompt;
  std::int64_t most_tokens = 256;
  SamplingArguments sampling = {};
  std::vector<std::string> stops = {};
  std::optional<std::string> load_file = {};  // the prompt follows what it holds (engine/sequence_file.h)
  std::optional<std::string> save_file = {};  // written when the text has ended
  std::optional<grammar::GrammarSource> shape = {};
  AdapterScales adapter_scales = {};
};

class TextStream {
 public:
  TextStream(std::shared_ptr<OpenSession> session, GenerationArguments arguments);
  ~TextStream();
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // The next piece that is not empty; nothing at the end. Runs without the interpreter's lock, and looks for Ctrl-C
  // between passes.
  std::optional<std::string> next();
  // All that is left. Where it fails or is interrupted, the stream is closed.
  std::string rest();
  // Gives its sequence back; nothing comes any more. Precondition: a turn, or nobody else has it.
  void close();
  // So far. Precondition: a turn.
  const GenerationReport& report() const { return generator_ ? generator_->report() : report_; }
  OpenSession& session() { return *session_; }

 private:
  std::optional<std::string> next_shown();
  void save();
  void require_whole() const;

  std::shared_ptr<OpenSession> session_;
  std::optional<Sampler> sampler_;
  int sequence_ = 0;
  StopText text_;
  std::unique_ptr<Generator> generator_;  // null once it is closed
  GenerationReport report_;
  std::optional<std::string> save_file_;
  std::vector<std::int32_t> saved_;  // what it will hold, but for what is generated
  bool is_held_ = false;
};

void add_text_stream(pybind11::module_& module);

}  // namespace ingot::python
