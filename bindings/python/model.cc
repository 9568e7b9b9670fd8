#include "bindings/python/model.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/python/arrays.h"
#include "bindings/python/interrupt_check.h"
#include "bindings/python/text_stream.h"
#include "engine/chat_prompt.h"
#include "engine/default_model.h"
#include "engine/embedding.h"
#include "engine/sequence_file.h"
#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/files/quoted.h"

namespace ingot::python {
namespace {

namespace py = pybind11;
using Tokens = std::vector<std::int32_t>;

// It keeps the model that it belongs to, if there is one.
using SharedTokenizer = std::shared_ptr<const Tokenizer>;

std::shared_ptr<Model> open_model(const std::optional<std::string>& path, bool embeds,
                                  const std::optional<std::string>& pooling) {
  const py::gil_scoped_release free;
  ModelUse use = {.embeds = embeds, .pooling = {}};
  if (pooling) use.pooling = pooling_by_name(*pooling);
  if (pooling && !use.pooling) {
    throw Failure{Error::of(ErrorCode::invalid_argument, "expected pooling as mean, first, last or none, found ",
                            Quoted{*pooling})};
  }
  const bool is_built_in = !path || *path == default_model_name;
  return std::const_pointer_cast<Model>(or_throw(is_built_in ? Model::open_default(use) : Model::open(*path, use)));
}

SharedTokenizer tokenizer_of(const std::shared_ptr<const Model>& model) {
  const py::gil_scoped_release free;
  return {model, or_throw(model->tokenizer())};
}

SharedTokenizer tokenizer_at(const std::string& path) {
  const py::gil_scoped_release free;
  return std::make_shared<const Tokenizer>(or_throw(open_tokenizer(path)));
}

py::dict facts_of(const Model& model) {
  const ModelFacts& facts = model.facts();
  py::dict made;
  made["name"] = model.name();
  made["architecture"] = facts.architecture;
  made["vocabulary"] = facts.vocabulary;
  made["layers"] = facts.layers;
  made["width"] = facts.width;
  made["context"] = facts.context;
  made["makes_embeddings"] = facts.makes_embeddings;
  made["pools"] = facts.pooling != Pooling::none;
  made["chat_template"] = model.chat_template();
  return made;
}

std::optional<std::int32_t> token_or_none(TokenId token) {
  return token == no_token ? std::nullopt : std::optional(token);
}

void require_token(const Tokenizer& tokenizer, TokenId token) {
  if (tokenizer.is_token(token)) return;
  throw Failure{Error::of(ErrorCode::out_of_range, "expected tokens from 0 to ", tokenizer.vocabulary_size() - 1,
                          ", found ", token)};
}

Tokens encode(const Tokenizer& tokenizer, const std::string& text, bool adds_special, bool parses_special) {
  const py::gil_scoped_release free;
  return or_throw(
      tokenizer.encode(text, {.adds_special_tokens = adds_special, .parses_special_tokens = parses_special}));
}

py::bytes decode(const Tokenizer& tokenizer, const Tokens& tokens, bool keeps_special) {
  for (const TokenId token : tokens) require_token(tokenizer, token);
  return tokenizer.decode(tokens, {.keeps_special_tokens = keeps_special});
}

Result<std::vector<chat::Value>> list_from_json(std::string_view what, std::string_view json) {
  const chat::Value value = TRY(chat::value_from_json(json));
  if (value.is_list()) return value.items();
  return Error::of(ErrorCode::invalid_argument, "expected ", what, " as a list, found ", value.type_name());
}

struct ChatArguments {
  std::string messages;              // JSON
  std::optional<std::string> tools;  // JSON
  std::string variables;             // a JSON object
  bool adds_generation_prompt = true;
};

Result<chat::MarkedText> render(const Model& model, const ChatArguments& arguments) {
  std::string source = model.chat_template();
  if (source.empty()) {
    return Error::of(ErrorCode::not_found, Quoted{model.name()},
                     ": expected a model with a chat template, found none: use generate()");
  }
  const chat::ChatTemplate form = TRY(chat::ChatTemplate::parse(std::move(source)));
  chat::ChatRequest request;
  request.messages = TRY(list_from_json("messages", arguments.messages));
  if (arguments.tools) request.tools = chat::Value::list(TRY(list_from_json("tools", *arguments.tools)));
  const chat::Value variables = TRY(chat::value_from_json(arguments.variables));
  if (!variables.is(chat::Kind::dictionary)) {
    return Error::of(ErrorCode::invalid_argument, "expected variables as an object, found ", variables.type_name());
  }
  for (const auto& [name, value] : variables.as_dictionary().entries()) {
    request.variables.emplace_back(name.bytes(), chat::marked(value));
  }
  request.add_generation_prompt = arguments.adds_generation_prompt;
  return render_chat(form, *TRY(model.tokenizer()), std::move(request));
}

std::string chat_text(const Model& model, const ChatArguments& arguments) {
  const py::gil_scoped_release free;
  return or_throw(render(model, arguments)).bytes;
}

Tokens chat_tokens(const Model& model, const ChatArguments& arguments) {
  const py::gil_scoped_release free;
  return or_throw(encode_chat(*or_throw(model.tokenizer()), or_throw(render(model, arguments))));
}

Wanted wanted_named(const std::string& name) {
  if (name == "none") return Wanted::none;
  if (name == "last") return Wanted::last;
  if (name == "all") return Wanted::all;
  throw Failure{
      Error::of(ErrorCode::invalid_argument, "expected outputs as 'last', 'all' or 'none', found '", name, "'")};
}

// Many tokens in the passes that a session makes of them anyway, so that Ctrl-C is seen between two.
Floats forward(OpenSession& open, const Tokens& tokens, int sequence, const std::string& wanted) {
  const Wanted outputs = wanted_named(wanted);
  const py::gil_scoped_release free;
  const OneThread::Turn turn = open.take_turn();
  Session& session = open.session();
  const TokenRun all{sequence, tokens, outputs};
  or_throw(session.check(std::span(&all, 1)));
  InterruptCheck interrupts;
  std::vector<float> earlier;  // rows of passes before the last one
  TokenRun rest = all;
  const auto chunk = static_cast<std::size_t>(session.options().chunk);
  while (rest.tokens.size() > chunk && !session.model().facts().sees_the_future) {
    or_throw(
        session.forward({sequence, rest.tokens.first(chunk), outputs == Wanted::all ? Wanted::all : Wanted::none}));
    const std::vector<float> rows = session.take_outputs();
    earlier.insert(earlier.end(), rows.begin(), rows.end());
    rest.tokens = rest.tokens.subspan(chunk);
    interrupts.look();
  }
  or_throw(session.forward(rest));
  std::vector<float> rows = session.take_outputs();
  if (!earlier.empty()) {
    earlier.insert(earlier.end(), rows.begin(), rows.end());
    rows = std::move(earlier);
  }
  const std::int64_t width = session.output_width(), count = std::ssize(rows) / width;
  return {std::move(rows), count, width};
}

// Vectors of one text: one, or one a token.
Floats embed(OpenSession& open, const Tokens& tokens) {
  const py::gil_scoped_release free;
  const OneThread::Turn turn = open.take_turn();
  std::vector<std::vector<float>> vectors = or_throw(embeddings_of(open.session(), tokens));
  const auto rows = std::ssize(vectors);
  const auto columns = std::ssize(vectors.front());
  if (rows == 1) return {std::move(vectors.front()), rows, columns};
  std::vector<float> joined;
  for (const std::vector<float>& vector : vectors) joined.insert(joined.end(), vector.begin(), vector.end());
  return {std::move(joined), rows, columns};
}

// With the sequence there, and a turn.
template <class Action>
auto with_sequence(OpenSession& open, int sequence, Action&& action) {
  const py::gil_scoped_release free;
  const OneThread::Turn turn = open.take_turn();
  SequenceMemory& memory = open.session().sequences();
  if (!memory.has(sequence)) {
    throw Failure{Error::of(ErrorCode::not_found, "expected a sequence that exists, found ", sequence)};
  }
  return action(memory);
}

int add_sequence(OpenSession& open) {
  const OneThread::Turn turn = open.take_turn();
  return or_throw(open.session().sequences().add());
}

std::optional<grammar::GrammarSource> shape_of(const std::optional<std::string>& kind, const std::string& text,
                                               std::vector<std::string> choices) {
  using Kind = grammar::GrammarSource::Kind;
  if (!kind) return {};
  const Kind known = *kind == "schema"    ? Kind::json_schema
                     : *kind == "grammar" ? Kind::gbnf
                     : *kind == "regex"   ? Kind::regular_expression
                                          : Kind::choices;
  return grammar::GrammarSource{.kind = known, .text = text, .choices = std::move(choices)};
}

void add_tokenizer(py::module_& module) {
  py::class_<Tokenizer, std::shared_ptr<Tokenizer>>(module, "Tokenizer",
                                                    "Text to tokens and back. Never changes; any thread may use it.")
      .def("encode", encode, py::arg("text"), py::arg("add_special"), py::arg("parse_special"))
      .def("decode_bytes", decode, py::arg("tokens"), py::arg("keep_special"))
      .def(
          "piece",
          [](const Tokenizer& tokenizer, TokenId token) {
            require_token(tokenizer, token);
            return py::bytes(std::string(tokenizer.piece(token)));
          },
          py::arg("token"))
      .def(
          "find",
          [](const Tokenizer& tokenizer, const std::string& text) { return token_or_none(tokenizer.find(text)); },
          py::arg("text"))
      .def(
          "is_special",
          [](const Tokenizer& tokenizer, TokenId token) {
            require_token(tokenizer, token);
            return tokenizer.is_special(token);
          },
          py::arg("token"))
      .def(
          "is_end_of_generation",
          [](const Tokenizer& tokenizer, TokenId token) {
            require_token(tokenizer, token);
            return tokenizer.is_end_of_generation(token);
          },
          py::arg("token"))
      .def_property_readonly("vocabulary_size", &Tokenizer::vocabulary_size)
      .def_property_readonly("bos", [](const Tokenizer& tokenizer) { return token_or_none(tokenizer.bos()); })
      .def_property_readonly("eos", [](const Tokenizer& tokenizer) { return token_or_none(tokenizer.eos()); })
      .def_property_readonly("unknown", [](const Tokenizer& tokenizer) { return token_or_none(tokenizer.unknown()); })
      .def_property_readonly("padding", [](const Tokenizer& tokenizer) { return token_or_none(tokenizer.padding()); });
  module.def(
      "open_tokenizer", [](const std::string& path) { return std::const_pointer_cast<Tokenizer>(tokenizer_at(path)); },
      py::arg("path"));
}

void add_session(py::module_& module) {
  py::class_<OpenSession, std::shared_ptr<OpenSession>>(module, "Session",
                                                        "Sequences in progress; one thread at a time.")
      .def("add", add_sequence)
      .def(
          "fork",
          [](OpenSession& open, int from) {
            return with_sequence(open, from, [&](SequenceMemory& memory) { return or_throw(memory.fork(from)); });
          },
          py::arg("sequence"))
      .def(
          "remove",
          [](OpenSession& open, int number) {
            with_sequence(open, number, [&](SequenceMemory& memory) { memory.remove(number); });
          },
          py::arg("sequence"))
      .def(
          "length",
          [](OpenSession& open, int number) {
            return with_sequence(open, number, [&](SequenceMemory& memory) { return memory.length(number); });
          },
          py::arg("sequence"))
      .def(
          "truncate",
          [](OpenSession& open, int number, std::int64_t length) {
            with_sequence(open, number, [&](SequenceMemory& memory) { or_throw(memory.truncate(number, length)); });
          },
          py::arg("sequence"), py::arg("length"))
      .def("forward", forward, py::arg("tokens"), py::arg("sequence"), py::arg("outputs"))
      .def("embed", embed, py::arg("tokens"))
      .def(
          "generate",
          [](std::shared_ptr<OpenSession> open, Tokens prompt, std::int64_t most_tokens,
             std::optional<double> temperature, std::optional<std::int64_t> top_k, std::optional<double> top_p,
             std::optional<double> min_p, std::optional<double> repetition_penalty, double presence_penalty,
             double frequency_penalty, std::uint64_t seed, std::vector<std::string> stops,
             const std::optional<std::string>& shape_kind, const std::string& shape, std::vector<std::string> choices,
             std::optional<std::string> load_file, std::optional<std::string> save_file,
             std::vector<float> adapter_scales) {
            GenerationArguments arguments = {.prompt = std::move(prompt),
                                             .most_tokens = most_tokens,
                                             .sampling = {.temperature = temperature,
                                                          .top_p = top_p,
                                                          .min_p = min_p,
                                                          .repetition_penalty = repetition_penalty,
                                                          .top_k = top_k,
                                                          .presence_penalty = presence_penalty,
                                                          .frequency_penalty = frequency_penalty,
                                                          .seed = seed},
                                             .stops = std::move(stops),
                                             .load_file = std::move(load_file),
                                             .save_file = std::move(save_file),
                                             .shape = shape_of(shape_kind, shape, std::move(choices)),
                                             .adapter_scales = std::move(adapter_scales)};
            const py::gil_scoped_release free;
            return std::make_unique<TextStream>(std::move(open), std::move(arguments));
          },
          py::kw_only(), py::arg("prompt"), py::arg("max_tokens"), py::arg("temperature"), py::arg("top_k"),
          py::arg("top_p"), py::arg("min_p"), py::arg("repetition_penalty"), py::arg("presence_penalty"),
          py::arg("frequency_penalty"), py::arg("seed"), py::arg("stop"), py::arg("shape_kind"), py::arg("shape"),
          py::arg("choices"), py::arg("load_session"), py::arg("save_session"), py::arg("adapter_scales"))
      .def(
          "save",
          [](OpenSession& open, int number, const Tokens& tokens, const std::string& path) {
            with_sequence(open, number,
                          [&](SequenceMemory&) { or_throw(write_sequence(open.session(), number, tokens, path)); });
          },
          py::arg("sequence"), py::arg("tokens"), py::arg("path"))
      .def(
          "load",
          [](OpenSession& open, int number, const std::string& path) {
            return with_sequence(
                open, number, [&](SequenceMemory&) { return or_throw(read_sequence(open.session(), number, path)); });
          },
          py::arg("sequence"), py::arg("path"))
      .def(
          "use_adapters",
          [](OpenSession& open, int number, const std::vector<float>& scales) {
            with_sequence(open, number,
                          [&](SequenceMemory&) { or_throw(open.session().use_adapters(number, scales)); });
          },
          py::arg("sequence"), py::arg("scales"))
      .def_property_readonly("context", [](OpenSession& open) { return open.session().context(); })
      .def_property_readonly("threads", [](OpenSession& open) { return open.session().options().threads; });
}

}  // namespace

void add_models(py::module_& module) {
  add_tokenizer(module);
  py::class_<FittedAdapter>(module, "Adapter", "A LoRA adapter that fits a model; it knows which.");
  add_session(module);
  py::class_<Model, std::shared_ptr<Model>>(module, "Model",
                                            "An opened model file. Never changes; any thread may use it.")
      .def(py::init(&open_model), py::arg("path"), py::arg("embeddings"), py::arg("pooling"))
      .def("tokenizer",
           [](const std::shared_ptr<Model>& model) { return std::const_pointer_cast<Tokenizer>(tokenizer_of(model)); })
      .def("facts", facts_of)
      .def(
          "session",
          [](const std::shared_ptr<Model>& model, int threads, std::int64_t context, int sequences,
             const std::string& cache, bool deterministic, std::vector<FittedAdapter> adapters) {
            const py::gil_scoped_release free;
            return std::make_shared<OpenSession>(
                model, SessionArguments{threads, context, sequences, cache, deterministic, std::move(adapters)});
          },
          py::arg("threads"), py::arg("context"), py::arg("sequences"), py::arg("cache"), py::arg("deterministic"),
          py::arg("adapters"))
      .def(
          "adapter",
          [](const std::shared_ptr<Model>& model, const std::string& path) {
            const py::gil_scoped_release free;
            return FittedAdapter{model, or_throw(Adapter::open(path, *model))};
          },
          py::arg("path"))
      .def(
          "chat_text",
          [](const Model& model, std::string messages, std::optional<std::string> tools, std::string variables,
             bool adds_generation_prompt) {
            return chat_text(model,
                             {std::move(messages), std::move(tools), std::move(variables), adds_generation_prompt});
          },
          py::arg("messages"), py::arg("tools"), py::arg("variables"), py::arg("add_generation_prompt"))
      .def(
          "chat_tokens",
          [](const Model& model, std::string messages, std::optional<std::string> tools, std::string variables,
             bool adds_generation_prompt) {
            return chat_tokens(model,
                               {std::move(messages), std::move(tools), std::move(variables), adds_generation_prompt});
          },
          py::arg("messages"), py::arg("tools"), py::arg("variables"), py::arg("add_generation_prompt"));
}

}  // namespace ingot::python
