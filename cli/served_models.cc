#include "cli/served_models.h"

#include <filesystem>
#include <set>

#include "cli/image_options.h"
#include "model/files/gguf_pieces.h"
#include "server/api_keys.h"
#include "server/http/tls.h"

namespace ingot {
namespace {

constexpr const char* keys_path = "/etc/ingot/api-keys";
constexpr const char* certificate_path = "/etc/ingot/certificate.pem";
constexpr const char* private_key_path = "/etc/ingot/private-key.pem";

Result<void> add_file(const std::string& source, const char* path, std::uint32_t mode, std::string_view what,
                      image::FileTree& root) {
  image::Content content = TRY(image::Content::of_file(source));
  return root.put_new_file(path, mode, std::move(content), what);
}

}  // namespace

std::string place_of_model(const std::string& model, std::size_t count) {
  if (count == 1) return model_path;
  const std::string name = std::filesystem::path(model).filename().string();
  const std::optional<GgufPieceName> piece = gguf_piece_name(name);
  return "/models/" + (piece ? piece->path_of_whole() : name);
}

void add_served_options(const Command& command, ServedModels& served) {
  command.add_option("--port", served.port, "that a server listens on; else " + std::to_string(default_served_port))
      .check(between(1, 65535));
  command
      .add_option("--api-key-file", served.key_file,
                  "keys that may ask a server, one a line: whoever has the image has them")
      .check(as_file());
  const Option certificate = command
                                 .add_option("--certificate", served.certificate,
                                             "a server's, a PEM file with those that vouch for it: TLS 1.3")
                                 .check(as_file());
  const Option private_key =
      command.add_option("--private-key", served.private_key, "its key: whoever has the image has it")
          .check(as_file())
          .needs(certificate);
  certificate.needs(private_key);
}

Result<void> check_served_models(const ServedModels& served) {
  std::set<std::string> places;
  for (const std::string& model : served.models) {
    if (places.insert(place_of_model(model, served.models.size())).second) continue;
    return Error::of(ErrorCode::invalid_argument, "expected models whose files have different names, found two of '",
                     std::string_view(model), "': rename one");
  }
  if (!served.key_file.empty()) {
    const Result<ApiKeys> keys = ApiKeys::read(served.key_file);
    if (!keys.ok()) return keys.error().within("--api-key-file");
  }
  if (served.certificate.empty()) return {};
  const Result<std::shared_ptr<http::Tls>> tls = http::Tls::create(served.certificate, served.private_key);
  if (!tls.ok()) return tls.error().within("--certificate and --private-key");
  return {};
}

Result<std::vector<std::string>> add_served_models(const ServedModels& served, image::FileTree& root) {
  constexpr std::uint32_t for_all = 0644, for_its_owner = 0600;
  std::vector<std::string> words = {"serve"};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  for (const std::string& model : served.models) {
    const std::string place = place_of_model(model, served.models.size());
    TRY(add_model(model, place, root));
    add({place});
  }
  add({"--host", served.host});
  if (served.port.value_or(default_served_port) != default_served_port) add({"--port", std::to_string(*served.port)});
  if (!served.key_file.empty()) {
    TRY(add_file(served.key_file, keys_path, for_its_owner, "the keys", root));
    add({"--api-key-file", keys_path});
  }
  if (!served.certificate.empty()) {
    TRY(add_file(served.certificate, certificate_path, for_all, "the certificate", root));
    TRY(add_file(served.private_key, private_key_path, for_its_owner, "the private key", root));
    add({"--certificate", certificate_path, "--private-key", private_key_path});
  }
  return words;
}

}  // namespace ingot
