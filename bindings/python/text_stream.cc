#include "bindings/python/text_stream.h"

#include <pybind11/stl.h>

#include "bindings/python/interrupt_check.h"
#include "engine/sampling_advice.h"
#include "engine/sequence_file.h"

namespace ingot::python {
namespace {

namespace py = pybind11;

SamplerOptions sampler_options(const Model& model, const SamplingArguments& given) {
  SamplerOptions options;
  follow(or_throw(read_sampling_advice(model.metadata())), options);
  options.temperature = given.temperature.value_or(options.temperature);
  options.top_k = given.top_k.value_or(options.top_k);
  options.top_p = given.top_p.value_or(options.top_p);
  options.min_p = given.min_p.value_or(options.min_p);
  options.repetition = given.repetition_penalty.value_or(options.repetition);
  options.presence = given.presence_penalty;
  options.frequency = given.frequency_penalty;
  options.seed = given.seed;
  return options;
}

// What a new sequence begins with: what a file has of it, and a prompt behind that.
struct Beginning {
  std::vector<std::int32_t> held = {};    // by the sequence already
  std::vector<std::int32_t> prompt = {};  // those of the file that no pass has seen, and the caller's
};

Result<Beginning> begin(Session& session, int sequence, GenerationArguments& arguments) {
  TRY(session.use_adapters(sequence, arguments.adapter_scales));
  Beginning beginning{.prompt = std::move(arguments.prompt)};
  if (arguments.load_file) {
    beginning.held = TRY(read_sequence(session, sequence, *arguments.load_file));
    const auto held_end = beginning.held.begin() + session.sequences().length(sequence);
    beginning.prompt.insert(beginning.prompt.begin(), held_end, beginning.held.end());
    beginning.held.erase(held_end, beginning.held.end());
  }
  // Before the first of its passes computes anything.
  const TokenRun run{sequence, beginning.prompt, Wanted::last};
  TRY(session.check(std::span(&run, 1)));
  return beginning;
}

}  // namespace

TextStream::TextStream(std::shared_ptr<OpenSession> session, GenerationArguments arguments)
    : session_(std::move(session)),
      text_(std::make_shared<const StopStrings>(arguments.stops)),
      save_file_(std::move(arguments.save_file)),
      is_held_(arguments.shape.has_value()) {
  if (arguments.most_tokens < 1) {
    throw Failure{
        Error::of(ErrorCode::out_of_range, "expected max_tokens of 1 or more, found ", arguments.most_tokens)};
  }
  const OneThread::Turn turn = session_->take_turn();
  Session& engine = session_->session();
  sampler_.emplace(or_throw(Sampler::create(engine.table(), sampler_options(session_->model(), arguments.sampling))));
  std::shared_ptr<const grammar::Constraint> constraint;
  if (arguments.shape) constraint = or_throw(session_->constraints().of(*arguments.shape));
  sequence_ = or_throw(engine.sequences().add());
  Result<Beginning> begun = begin(engine, sequence_, arguments);
  if (!begun.ok()) {
    engine.sequences().remove(sequence_);
    throw Failure{begun.error()};
  }
  Beginning beginning = std::move(begun).value();
  sampler_->remember(beginning.held);
  if (save_file_) {
    saved_ = std::move(beginning.held);
    saved_.insert(saved_.end(), beginning.prompt.begin(), beginning.prompt.end());
  }
  generator_ = std::make_unique<Generator>(engine, session_->tokenizer(), *sampler_, sequence_,
                                           Generator::Request{.prompt = std::move(beginning.prompt),
                                                              .most_tokens = arguments.most_tokens,
                                                              .constraint = std::move(constraint),
                                                              .prompt_steps = Generator::PromptSteps::passes});
}

TextStream::~TextStream() { close(); }

void TextStream::close() {
  if (!generator_) return;
  report_ = generator_->report();
  generator_.reset();
  session_->give_back(sequence_);
}

std::optional<std::string> TextStream::next_shown() {
  if (!generator_) return {};
  try {
    const std::optional<std::string> piece = or_throw(generator_->next());
    if (!piece) {
      std::string waiting = text_.finish();
      save();
      close();
      require_whole();
      if (waiting.empty()) return {};
      return waiting;
    }
    std::string shown = text_.push(*piece);
    if (text_.is_stopped()) generator_->stop();
    return shown;
  } catch (...) {
    close();
    throw;
  }
}

void TextStream::save() {
  if (!save_file_) return;
  const std::vector<std::int32_t>& generated = generator_->report().tokens;
  saved_.insert(saved_.end(), generated.begin(), generated.end());
  or_throw(write_sequence(session_->session(), sequence_, saved_, *save_file_));
}

// Whoever asks for a shape gets it, or an error.
void TextStream::require_whole() const {
  if (!is_held_ || report_.is_complete || text_.is_stopped()) return;
  const bool is_limit = report_.reason == StopReason::token_limit;
  throw Failure{Error::of(ErrorCode::out_of_range, "expected a whole answer, found it cut by the ",
                          name_of(report_.reason),
                          is_limit ? ": a larger max_tokens lets it go on" : ": a larger context may hold it")};
}

std::optional<std::string> TextStream::next() {
  const py::gil_scoped_release free;
  const OneThread::Turn turn = session_->take_turn();
  InterruptCheck interrupts;
  while (std::optional<std::string> piece = next_shown()) {
    if (!piece->empty()) return piece;
    interrupts.look();
  }
  return {};
}

std::string TextStream::rest() {
  const py::gil_scoped_release free;
  const OneThread::Turn turn = session_->take_turn();
  InterruptCheck interrupts;
  std::string text;
  try {
    while (const std::optional<std::string> piece = next_shown()) {
      text += *piece;
      interrupts.look();
    }
  } catch (...) {
    close();  // Python keeps the stream for as long as somebody may look at the error: not its sequence as well
    throw;
  }
  return text;
}

void add_text_stream(py::module_& module) {
  py::class_<TextStream>(module, "TextStream", "An iterator of pieces of text, as the model writes them.")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__",
           [](TextStream& stream) {
             std::optional<std::string> piece = stream.next();
             if (!piece) throw py::stop_iteration();
             return std::move(*piece);
           })
      .def("rest", &TextStream::rest, "All that is left, as one text.")
      .def(
          "close",
          [](TextStream& stream) {
            const OneThread::Turn turn = stream.session().take_turn();
            stream.close();
          },
          "Ends it: nothing comes any more, and its sequence is free.")
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__",
           [](TextStream& stream, const py::args&) {
             const OneThread::Turn turn = stream.session().take_turn();
             stream.close();
           })
      .def_property_readonly(
          "report",
          [](TextStream& stream) {
            const OneThread::Turn turn = stream.session().take_turn();
            const GenerationReport& report = stream.report();
            py::dict made;
            made["prompt_tokens"] = report.prompt_tokens;
            made["tokens"] = py::cast(report.tokens);
            made["reason"] = name_of(report.reason);
            made["prefill_seconds"] = report.prefill_seconds;
            made["decode_seconds"] = report.decode_seconds;
            return made;
          },
          "What was generated so far, why it ended and how long it took.");
}

}  // namespace ingot::python
