#include "bindings/python/text_stream.h"

#include <chrono>

#include <pybind11/stl.h>

#include "engine/sampling_advice.h"

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

// A new sequence that has room for the prompt: asked before the first of its passes computes anything.
Result<int> begin(Session& session, const std::vector<std::int32_t>& prompt) {
  if (prompt.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected a prompt of at least one token, found none");
  }
  const std::int64_t vocabulary = session.model().facts().vocabulary;
  for (const std::int32_t token : prompt) {
    if (token >= 0 && token < vocabulary) continue;
    return Error::of(ErrorCode::out_of_range, "expected tokens from 0 to ", vocabulary - 1, ", found ", token);
  }
  const int sequence = TRY(session.sequences().add());
  const Result<void> has_room = session.require_room(sequence, std::ssize(prompt));
  if (has_room.ok()) return sequence;
  session.sequences().remove(sequence);
  return has_room.error();
}

// Signals of Python's are handled by its main thread, with the lock. Often enough for whoever waits, and seldom enough
// for a thread of Python's that is busy meanwhile.
class InterruptCheck {
 public:
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    const py::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

}  // namespace

TextStream::TextStream(std::shared_ptr<OpenSession> session, GenerationArguments arguments)
    : session_(std::move(session)),
      text_(std::make_shared<const StopStrings>(arguments.stops)),
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
  sequence_ = or_throw(begin(engine, arguments.prompt));
  generator_ = std::make_unique<Generator>(engine, session_->tokenizer(), *sampler_, sequence_,
                                           Generator::Request{.prompt = std::move(arguments.prompt),
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
  while (const std::optional<std::string> piece = next_shown()) {
    text += *piece;
    interrupts.look();
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
