#include <nlohmann/json.hpp>

#include "cli/adapter_options.h"
#include "cli/gpu_program.h"
#include "cli/open_place.h"
#include "cli/session_options.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "engine/embedding.h"
#include "machine/limits.h"
#include "model/files/gguf_pieces.h"
#include "server/serving.h"

namespace ingot::serve_command {
namespace {

constexpr const char* examples =
    "Answers OpenAI's protocol for many clients at once: /v1/chat/completions, /v1/responses, /v1/completions,\n"
    "/v1/embeddings, /v1/models; Anthropic's: /v1/messages, /v1/messages/count_tokens; as llama-server: /completion,\n"
    "/tokenize, /detokenize, /apply-template, /props; and /health, /metrics, /explain. Docs: docs/server.md.\n"
    "SIGTERM or Ctrl-C: no new requests, those that run may end, then it exits; at once while it loads.\n"
    "\n"
    "Examples:\n"
    "  ingot serve                                  the model that the program carries, on 127.0.0.1:8080\n"
    "  ingot serve model.gguf --port 9000\n"
    "  ingot serve model.gguf --device cuda         on the first GPU\n"
    "  ingot serve chat.gguf embed.gguf --alias chat --alias embed\n"
    "  ingot serve --embeddings qwen3-embedding.gguf    vectors of texts, by a model that predicts tokens\n"
    "  ingot serve model.gguf --adapter poet=poet.gguf --adapter terse/:0.7    model:poet, model:terse\n"
    "  ingot serve model.gguf --host 0.0.0.0 --api-key-file keys.txt\n"
    "  ingot serve model.gguf --unix /run/ingot.sock --host none\n"
    "  curl localhost:8080/v1/completions -H 'Content-Type: application/json' \\\n"
    "       -d '{\"prompt\": \"Once upon a time\", \"max_tokens\": 32}'";

struct Options {
  std::vector<std::string> paths;      // of all models
  std::vector<std::string> embedders;  // at first; then the last of `paths`
  std::string pooling;
  std::string device = "cpu";
  std::string split = "none";
  std::vector<std::string> aliases;
  std::vector<std::string> adapters;
  ServingOptions serving;
  SessionOptions session;
  ServiceOptions service = {};
  std::string cache = "f16";
  std::uint64_t cache_memory = 0;
  std::string key_file;
  std::string template_file;
  std::string chat_template;
  std::optional<std::uint64_t> seed;
  std::string log = "text";
  double pass_milliseconds = 200;
  double deadline_seconds = 0;
  std::int64_t drain_seconds = 30;
  bool verbose = false;
  bool dry_run = false;
  bool json = false;
};

// What clients call a model, where nobody gave it another name: its file's or folder's, without the ending.
std::string id_of(const std::string& path) {
  if (path == default_model_name) return "tales";
  std::string name = path.substr(0, path.find_last_not_of('/') + 1);
  name = name.substr(name.find_last_of('/') + 1);
  if (const std::optional<GgufPieceName> piece = gguf_piece_name(name)) name = piece->path_of_whole();
  return name.ends_with(".gguf") ? name.substr(0, name.size() - 5) : name;
}

bool is_loopback(const std::string& host) { return host.starts_with("127.") || host == "::1"; }

nlohmann::json described(const HostedModel& model, const std::string& path) {
  const CacheGeometry& geometry = model.geometry();
  nlohmann::json adapters = nlohmann::json::array();
  for (const ServedAdapter& adapter : model.adapters()) {
    adapters.push_back({{"id", model.id() + ":" + adapter.name}, {"scale", adapter.scale}});
  }
  return {{"id", model.id()},
          {"path", path},
          {"adapters", std::move(adapters)},
          {"context", model.context()},
          {"makes_embeddings", model.embeddings() != nullptr},
          {"cache_pages", geometry.pages},
          {"page_tokens", geometry.page_length},
          {"cache_bytes", model.cache_bytes()}};
}

void print_model(const HostedModel& model) {
  const CacheGeometry& geometry = model.geometry();
  const std::int64_t tokens = geometry.pages * geometry.page_length;
  const std::string kind = model.embeddings() != nullptr ? ", makes embeddings" : "";
  std::fprintf(stderr, "%s: context %lld, cache of %.0f MiB for %lld tokens in at most %lld requests at once%s\n",
               coloured(model.id(), Colour::bold).c_str(), static_cast<long long>(model.context()),
               mebibytes(model.cache_bytes()), static_cast<long long>(tokens),
               static_cast<long long>(geometry.sequences), kind.c_str());
  if (model.context() == model.session_context()) return;
  const std::string warning = coloured("warning:", Colour::yellow);
  std::fprintf(stderr,
               "%s expected room for a context of %lld tokens, found a cache for %lld: more --cache-memory gives it\n",
               warning.c_str(), static_cast<long long>(model.session_context()), static_cast<long long>(tokens));
}

Result<std::vector<std::string>> ids_of(const Options& options) {
  std::vector<std::string> ids;
  for (std::size_t index = 0; index < options.paths.size(); ++index) {
    ids.push_back(index < options.aliases.size() ? options.aliases[index] : id_of(options.paths[index]));
    if (ids.back().empty()) return Error::of(ErrorCode::invalid_argument, "expected a name for --alias, found none");
    if (std::ranges::count(ids, ids.back()) > 1) {
      return Error::of(ErrorCode::invalid_argument, "expected models of different names, found two called ", ids.back(),
                       ": give each its own --alias");
    }
  }
  if (options.aliases.size() > options.paths.size()) {
    return Error::of(ErrorCode::invalid_argument, "expected at most one --alias for each of ", options.paths.size(),
                     " model(s), found ", options.aliases.size());
  }
  return ids;
}

// What the command line itself is to blame for, before a model is looked at.
Result<void> complete(Options& options) {
  if (options.paths.empty() && options.embedders.empty()) options.paths.emplace_back(default_model_name);
  options.paths.insert(options.paths.end(), options.embedders.begin(), options.embedders.end());
  TRY(ids_of(options));
  if (!options.adapters.empty() && options.paths.size() > 1) {
    return Error::of(ErrorCode::invalid_argument, "expected one model beside --adapter, found ", options.paths.size());
  }
  http::ServerOptions& http = options.serving.http;
  if (http.host == "none") http.host.clear();
  if (http.host.empty() && http.unix_path.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected an address to listen on, found --host none and no --unix");
  }
  if (!options.template_file.empty()) {
    options.chat_template = TRY(read_text_file(options.template_file, "a template"));
    const auto parsed = chat::ChatTemplate::parse(options.chat_template);
    if (!parsed.ok()) return parsed.error().within("--template ", options.template_file);
  }
  if (!options.key_file.empty()) options.serving.keys = TRY(ApiKeys::read(options.key_file));
  options.serving.log = options.log == "json" ? LogForm::json : options.log == "none" ? LogForm::none : LogForm::text;
  options.serving.drain = std::chrono::seconds(options.drain_seconds);
  if (options.deadline_seconds > 0) options.serving.deadline_seconds = options.deadline_seconds;
  options.service.pass_seconds = options.pass_milliseconds / 1000;
  options.session.cache = options.cache == "f32" ? DType::f32 : options.cache == "f16" ? DType::f16 : DType::q8_0;
  // A quarter of the memory, for all models together.
  const std::uint64_t memory = options.cache_memory > 0 ? options.cache_memory : usable_memory().count() / 4;
  options.session.cache_memory = Bytes(memory / options.paths.size());
  return {};
}

// The device of all models, and how much of it each may remember requests in; null: the host's memory is theirs.
Result<std::shared_ptr<Device>> open_device_for(Options& options) {
  TRY(require_device_for_split(options.device, options.split));
  if (options.device == "cpu") return std::shared_ptr<Device>();
  if (options.device == "accelerator" && options.paths.size() > 1) {
    return Error::of(ErrorCode::unsupported, "expected one model with --device accelerator, found ",
                     options.paths.size(),
                     ": a machine's accelerator has one ring, and each model a thread of its own");
  }
  std::shared_ptr<Device> device = TRY(open_place(options.device));
  if (options.cache_memory == 0) {
    const std::size_t memory = TRY(device->memory_state()).total_bytes / 4;
    options.session.cache_memory = Bytes(memory / options.paths.size());
  }
  return device;
}

Result<std::vector<ServedAdapter>> named_adapters(std::vector<std::string> names, const AdapterScales& scales) {
  std::vector<ServedAdapter> named;
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (std::ranges::find(named, names[index], &ServedAdapter::name) != named.end()) {
      return Error::of(ErrorCode::invalid_argument, "expected adapters of different names, found two called ",
                       std::string_view(names[index]), ": give each its own as NAME=FILE");
    }
    named.push_back({std::move(names[index]), scales[index]});
  }
  return named;
}

Result<void> load(Serving& serving, Options options, nlohmann::json& report) {
  const std::vector<std::string> ids = TRY(ids_of(options));
  std::shared_ptr<Device> device = TRY(open_device_for(options));
  for (std::size_t index = 0; index < options.paths.size(); ++index) {
    const std::string& path = options.paths[index];
    const bool embeds = index >= options.paths.size() - options.embedders.size();
    const ModelUse use = {.embeds = embeds, .pooling = pooling_by_name(options.pooling)};
    std::shared_ptr<const Model> opened = TRY(open_model_at(path, use));
    HostedModelOptions hosted = {.id = ids[index],
                                 .path = path,
                                 .session = options.session,
                                 .service = options.service,
                                 .chat_template = options.chat_template,
                                 .program = version_name(),
                                 .seed = options.seed,
                                 .tells_prompts = options.verbose};
    // One that has no more positions is served with those it has, beside others that have.
    const ModelFacts& facts = opened->facts();
    const bool is_beside_others = options.paths.size() > 1;
    if (is_beside_others && facts.has_position_table) {
      hosted.session.context = std::min(hosted.session.context, facts.context);
    }
    OpenedAdapters adapters = TRY(open_adapters(options.adapters, *opened));
    hosted.session.adapters = std::move(adapters.adapters);
    hosted.adapters = TRY(named_adapters(std::move(adapters.names), adapters.scales));
    // A client of an accelerator is one thread's, and each model has a thread of its own.
    if (device && device->information().takes_calls && index > 0) device = TRY(open_place(options.device));
    if (device) {
      hosted.session.chunk = chunk_for(*device, hosted.session.chunk);
      hosted.session.device = TRY(upload_model(opened, device, hosted.session, options.split));
    }
    const HostedModel& model = *TRY(serving.add(std::move(opened), hosted));
    report["models"].push_back(described(model, path));
    if (!options.json) print_model(model);
    warn_of_context(model.model(), model.context());
  }
  return {};
}

int run(Options options) {
  if (const Result<void> completed = complete(options); !completed.ok()) return refuse_usage(completed.error());
  Result<std::unique_ptr<Serving>> created = Serving::create(options.serving);
  if (!created.ok()) return refuse_usage(created.error());
  Serving& serving = *created.value();
  if (!serving.warning().empty()) print_warning(std::string(serving.warning()));
  const http::ServerOptions& http = options.serving.http;
  if (!http.host.empty() && !is_loopback(http.host) && !options.serving.keys.are_needed()) {
    print_warning("others can reach " + http.host + " and ask this server anything: give --api-key-file");
  }
  nlohmann::json report = {{"host", http.host}, {"port", serving.port()}, {"unix", http.unix_path}};
  if (const Result<void> loaded = load(serving, options, report); !loaded.ok()) return finish_command(loaded);
  if (options.dry_run) {
    if (options.json) std::printf("%s\n", report.dump(1).c_str());
    return exit_success;
  }
  if (!serving.open()) return exit_failure;  // a signal came, and ends the process with a code of its own
  if (options.json) {
    std::printf("%s\n", report.dump().c_str());
    std::fflush(stdout);
  } else {
    for (const std::string& address : serving.addresses()) std::fprintf(stderr, "listening on %s\n", address.c_str());
  }
  serving.run();
  return exit_success;
}

void add_models(const Command& command, Options& options) {
  command.add_option("MODEL", options.paths, "model files or folders; the one that the program carries without any");
  const Option embeddings = command.add_option(
      "--embeddings", options.embedders,
      "a model, beside others, that makes vectors of texts, though it may predict tokens; may be repeated");
  embeddings.one_word_each_time();
  command
      .add_option("--pooling", options.pooling,
                  "how vectors of its tokens become a text's: mean, first or last; without this, as the file says")
      .check(one_of({"mean", "first", "last"}))
      .needs(embeddings);
  add_place_option(command, options.device);
  add_split_option(command, options.split);
  command
      .add_option("--alias", options.aliases,
                  "what clients call a model, in the order of models, --embeddings last; may be repeated")
      .one_word_each_time();
  command.add_option("--template", options.template_file, "a file with a Jinja chat template, instead of the models'");
  add_adapter_option(command, options.adapters);
}

void add_addresses(const Command& command, Options& options) {
  http::ServerOptions& http = options.serving.http;
  command.add_option("--host", http.host, "address to listen on, of version 4 or 6; none: a Unix socket alone")
      .capture_default_str();
  command.add_option("--port", http.port, "0: any that is free").check(between(0, 65535)).capture_default_str();
  command.add_option("--unix", http.unix_path, "also listen on a Unix socket at this path");
  command
      .add_option("--api-key-file", options.key_file,
                  "keys that may ask, one a line; the file must be its owner's alone")
      .check(as_file());
  command
      .add_option("--allow-host", options.serving.hosts,
                  "a name, such as ingot.example.org, by which clients without a key may ask, beside addresses and "
                  "localhost; may be repeated")
      .check(accepted_by("", check_host_name))
      .one_word_each_time();
  command
      .add_option("--cors", options.serving.origins,
                  "an origin, such as https://example.org, whose pages may ask from a browser; localhost: all pages of "
                  "this machine; *: all; may be repeated")
      .check(accepted_by("", check_origin))
      .one_word_each_time();
  const Option certificate =
      command.add_option("--certificate", http.certificate, "a PEM file, with those that vouch for it: TLS 1.3")
          .check(as_file());
  command.add_option("--private-key", http.private_key, "its key, a PEM file that others cannot read")
      .check(as_file())
      .needs(certificate);
  command.add_flag("--no-page", options.serving.hides_page, "no page at /");
}

void add_sizes(const Command& command, Options& options) {
  command.add_option("--threads", options.session.threads, "worker threads")
      .check(between(1, 1024))
      .capture_default_str();
  command.add_option("--context", options.session.context, "most tokens of a request; 0: the model's, at most 4096")
      .check(tokens_from(0));
  command.add_option("--sequences", options.session.sequences, "requests that run at once")
      .check(between(1, 4096))
      .capture_default_str();
  command
      .add_option("--cache-memory", options.cache_memory,
                  "for what is remembered of all requests (keys, values, states), such as 4G; without this, a quarter "
                  "of the memory, or of the device's")
      .transform(as_bytes());
  command.add_option("--cache-type", options.cache, "how keys and values are kept: f32, f16 or q8_0")
      .check(one_of({"f32", "f16", "q8_0"}))
      .capture_default_str();
  command
      .add_option("--queue", options.service.queue,
                  "requests of one asker that wait, each choice for one; more are refused with 429")
      .check(between(1, 1 << 20))
      .capture_default_str();
  command
      .add_option("--pass-time", options.pass_milliseconds,
                  "milliseconds that a pass with prompts should take; four times that while nobody generates")
      .check(between(1.0, 60'000.0))
      .capture_default_str();
  command.add_flag("!--no-forced-tokens", options.service.forces_tokens,
                   "let the model choose every token of an answer in a shape, also where there is nothing to choose; "
                   "slower");
  command
      .add_option("--prompt-lookup", options.service.most_looked_up,
                  "tokens that followed the last three before, earlier in a text, and are tried in one pass; 0: none")
      .check(between(0, 256))
      .capture_default_str();
  command
      .add_option("--deadline", options.deadline_seconds, "seconds that a request may take, waiting included; 0: any")
      .check(between(0.0, 1e6));
  command.add_flag("--deterministic", options.session.deterministic,
                   "a request gets the same bits alone and among any others; slower (docs/decisions/032)");
  command.add_option("--body", options.serving.http.limits.body_bytes, "most bytes of a request; without this, 16M")
      .transform(as_bytes())
      .check(between(std::int64_t{1}, std::int64_t{1} << 40));
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  options->session.threads = usable_cpu_count();
  options->session.sequences = 64;
  const Command command = application.add_subcommand("serve", "answer many clients over HTTP");
  command.footer(examples);
  add_models(command, *options);
  add_addresses(command, *options);
  add_sizes(command, *options);
  command.add_option("--seed", options->seed, "by which requests draw that name none; without this, any")
      .check(between(std::int64_t{0}, std::int64_t{0xffffffff}));
  command.add_flag("--verbose", options->verbose, "answers of chats tell the prompt that the template made");
  const Option connections =
      command.add_option("--connections", options->serving.http.limits.connections, "open at once")
          .check(between(1, 1 << 20))
          .capture_default_str();
  command.add_option("--drain", options->drain_seconds, "seconds that running requests get to end after SIGTERM")
      .check(between(0, 86400))
      .capture_default_str();
  command.add_option("--log", options->log, "a line for each request but polls that go well: text, json or none")
      .check(one_of({"text", "json", "none"}))
      .capture_default_str();
  command.add_flag("--dry-run", options->dry_run, "listen, load and say what would be served; then exit");
  command.add_flag("--json", options->json, "what is served, machine-readable, on standard output");
  command.callback([options, connections, &exit_code] {
    options->serving.http.needs_all_connections = connections.is_given();
    exit_code = run(*options);
  });
}

}  // namespace ingot::serve_command
