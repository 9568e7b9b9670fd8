// Any bytes are a manifest or an error; and a command line's arguments or an error. What parses can be read again
// without an error, and its counts are those of its lines; what is read of its network lines holds together.
#include <cstdlib>

#include "base/image/boot_arguments.h"
#include "base/image/image_manifest.h"
#include "base/image/network_settings.h"

using namespace ingot;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void read_network(const Manifest& manifest) {
  const Result<NetworkSettings> read = network_settings_of(manifest);
  if (!read.ok()) return require(!read.error().text().empty());
  for (const AddressSettings& settings : {read.value().version_4, read.value().version_6}) {
    if (settings.source != AddressSettings::Source::fixed) continue;
    require(settings.prefix > 0 && settings.prefix <= 8 * settings.address.count);
    require(settings.gateway.count == settings.address.count && !(settings.gateway == settings.address));
    for (const InternetAddress& server : settings.servers()) require(server.is_version_4() || server.is_version_6());
  }
}

void read_manifest(std::string_view text) {
  const Result<Manifest> parsed = Manifest::parse(text);
  if (!parsed.ok()) return require(!parsed.error().text().empty());
  const Manifest& manifest = parsed.value();
  std::size_t counts[manifest_key_count] = {};
  ManifestReader reader = manifest.entries();
  while (const auto entry = reader.next().value()) {
    ++counts[static_cast<std::size_t>(entry->key)];
    require(entry->text.size() <= entry->text.spelled().size());
  }
  require(counts[static_cast<std::size_t>(ManifestKey::program)] == 1);
  require(counts[static_cast<std::size_t>(ManifestKey::argument)] == manifest.arguments);
  require(counts[static_cast<std::size_t>(ManifestKey::default_argument)] == manifest.default_arguments);
  require(counts[static_cast<std::size_t>(ManifestKey::environment)] == manifest.environment);
  require(counts[static_cast<std::size_t>(ManifestKey::file)] == manifest.files);
  (void)manifest.grants("writable-executable");
  read_network(manifest);
}

void read_arguments(std::string_view line) {
  BootArguments reader(line);
  for (std::size_t count = 0;; ++count) {
    require(count <= line.size());
    const Result<std::optional<EncodedArgument>> next = reader.next();
    if (!next.ok() || !next.value()) return;
    require(next.value()->size() <= line.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_manifest(text);
  read_arguments(text);
  return 0;
}
