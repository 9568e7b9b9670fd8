#include "cli/served_models.h"

#include <filesystem>

#include "cli/image_options.h"
#include "server/api_keys.h"
#include "server/http/tls.h"

namespace ingot {
namespace {

constexpr const char* keys_path = "/etc/ingot/api-keys";
constexpr const char* certificate_path = "/etc/ingot/certificate.pem";
constexpr const char* private_key_path = "/etc/ingot/private-key.pem";

// By its own name among several: that is what clients call it.
std::string place_of_model(const std::string& model, std::size_t count) {
  return count == 1 ? model_path : "/models/" + std::filesystem::path(model).filename().string();
}

Result<void> add_file(const std::string& source, const char* path, std::uint32_t mode, std::string_view what,
                      image::FileTree& root) {
  image::Content content = TRY(image::Content::of_file(source));
  return root.put_new_file(path, mode, std::move(content), what);
}

}  // namespace

void add_served_options(const Command& command, ServedModels& served) {
  command.add_option("--port", served.port, "that a server listens on").check(between(1, 65535)).capture_default_str();
  command
      .add_option("--api-key-file", served.key_file,
                  "keys that may ask a server, one a line: whoever has the image has them")
      .check(as_file());
  const Option certificate = command
                                 .add_option("--certificate", served.certificate,
                                             "a server's, a PEM file with those that vouch for it: TLS 1.3")
                                 .check(as_file());
  command.add_option("--private-key", served.private_key, "its key: whoever has the image has it")
      .check(as_file())
      .needs(certificate);
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
  if (served.port != default_served_port) add({"--port", std::to_string(served.port)});
  if (!served.key_file.empty()) {
    TRY(ApiKeys::read(served.key_file));
    TRY(add_file(served.key_file, keys_path, for_its_owner, "the keys", root));
    add({"--api-key-file", keys_path});
  }
  if (!served.certificate.empty() || !served.private_key.empty()) {
    TRY(http::Tls::create(served.certificate, served.private_key));
    TRY(add_file(served.certificate, certificate_path, for_all, "the certificate", root));
    TRY(add_file(served.private_key, private_key_path, for_its_owner, "the private key", root));
    add({"--certificate", certificate_path, "--private-key", private_key_path});
  }
  return words;
}

}  // namespace ingot
