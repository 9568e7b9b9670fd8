#include "cli/cast_options.h"

#include <algorithm>
#include <utility>

#include "machine/features.h"

namespace ingot::cast_command {
namespace {

// Serve takes these once, and would say so when the machine has booted.
Result<void> check_server_arguments(const Options& options) {
  const ServedModels& served = options.served;
  const std::pair<std::string, bool> given[] = {{"--host", true},
                                                {"--port", served.port.has_value()},
                                                {"--api-key-file", !served.key_file.empty()},
                                                {"--certificate", !served.certificate.empty()},
                                                {"--private-key", !served.private_key.empty()}};
  for (const auto& [name, is_given] : given) {
    const auto is_it = [&](const std::string& word) { return word == name || word.starts_with(name + '='); };
    if (!is_given || std::ranges::none_of(options.arguments, is_it)) continue;
    return Error::of(ErrorCode::invalid_argument, "--arg: expected words of serve that cast does not give it, found ",
                     std::string_view(name), ": leave it out");
  }
  return {};
}

// They are found out when the machine has booted otherwise, or the container started.
Result<void> check_engine_arguments(const Options& options) {
  if (!options.program.empty() || !options.oci.empty() || options.arguments.empty()) return {};
  std::vector<std::string> words = options.arguments;
  if (options.serves && options.format != "oci") words.insert(words.begin(), "serve");
  const Result<void> known = check_engine_words(words);
  return known.ok() ? Result<void>() : known.error().within("--arg");
}

// Who is served is said of a server alone, and an address is for who may use a network.
Result<void> check_server_options(const Options& options) {
  const bool serves = options.serves || options.format == "oci";
  const ServedModels& served = options.served;
  if (!serves && served.models.size() > 1) {
    return Error::of(ErrorCode::invalid_argument, "expected one MODEL, or several with --serve, found ",
                     served.models.size());
  }
  if (!serves && served.has_options()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --port, --api-key-file, --certificate and --private-key with --serve or --format oci, "
                     "found them without");
  }
  if (!options.addresses.empty() && !options.serves &&
      std::ranges::find(options.rights, "network") == options.rights.end()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --address with --serve or --grant network, found it without");
  }
  const Result<NetworkSettings> settings = settings_of(options.addresses);
  if (!settings.ok()) return settings.error().within("--address");
  if (options.serves && options.format != "oci") TRY(check_server_arguments(options));
  if (serves) TRY(check_served_models(served));
  // The one that is built beside a program for another architecture.
  const bool has_foreign_engine = options.products.engine.empty() && built_architecture != Architecture::x86_64;
  if (options.serves && options.format != "oci" && has_foreign_engine && !served.certificate.empty()) {
    return Error::of(ErrorCode::invalid_argument,
                     "--certificate: expected an engine with TLS, found the one that was built on ",
                     name_of(built_architecture),
                     ", which has none: name one that was built on x86_64 by --engine, or "
                     "put a proxy in front of the machine");
  }
  return {};
}

// What only images of some formats have.
Result<void> check_format_options(const Options& options) {
  if (!options.kernel_options.empty() && options.format == "elf") {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --option with --format disk or iso, found an elf: its loader brings the command line, "
                     "so give it to ingot boot --option");
  }
  if (!options.products.loader.empty() && options.format != "disk") {
    return Error::of(ErrorCode::invalid_argument, "expected --loader with --format disk, found ",
                     std::string_view(options.format), ", which another loader boots: leave it out");
  }
  return {};
}

// Of what only a machine of Ingot's own has, and of other programs than the server.
Result<void> check_container_options(const Options& options) {
  if (options.format != "oci") return {};
  const std::pair<const char*, bool> of_machines[] = {{"--program", !options.program.empty()},
                                                      {"--oci", !options.oci.empty()},
                                                      {"--root", !options.root.empty()},
                                                      {"--memory", options.memory.has_value()},
                                                      {"--heap", options.heap.has_value()},
                                                      {"--limit", options.limit.has_value()},
                                                      {"--tmpfs", options.tmpfs.has_value()},
                                                      {"--descriptors", options.descriptors.has_value()},
                                                      {"--cpus", options.cpus.has_value()},
                                                      {"--consume", !options.consumed.empty()},
                                                      {"--grant", !options.rights.empty()},
                                                      {"--address", !options.addresses.empty()},
                                                      {"--trace", options.traces},
                                                      {"--option", !options.kernel_options.empty()},
                                                      {"--kernel", !options.products.kernel.empty()},
                                                      {"--loader", !options.products.loader.empty()}};
  std::string names;
  for (const auto& [name, is_given] : of_machines) {
    if (is_given) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  if (names.empty()) return {};
  return Error::of(
      ErrorCode::invalid_argument,
      "--format oci: expected models, --engine, --file, --env, --directory, --arg and what serve reads alone, found ",
      std::string_view(names), ": an image for containers holds the server, and no kernel or machine");
}

}  // namespace

Result<void> check_usage(const Options& options) {
  TRY(check_container_options(options));
  TRY(check_server_options(options));
  TRY(check_engine_arguments(options));
  return check_format_options(options);
}

Result<NetworkSettings> settings_of(const std::vector<std::string>& addresses) {
  NetworkSettings settings;
  for (const std::string& address : addresses) TRY(settings.add(address));
  return settings;
}

}  // namespace ingot::cast_command
