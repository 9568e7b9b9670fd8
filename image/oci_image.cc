#include "image/oci_image.h"

#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>

#include "image/bytes.h"
#include "image/inflate.h"
#include "image/sha256.h"
#include "image/tar_reader.h"

namespace ingot::image {

namespace {

using Json = nlohmann::json;
constexpr std::uint64_t longest_document = 4 << 20;
constexpr std::uint64_t largest_layer = std::uint64_t{4} << 30;  // unpacked, in memory
constexpr int deepest_index = 4;

// The layout's files by their names, from a folder or from a tar.
class Layout {
 public:
  static Result<Layout> open(const std::string& path) {
    Layout layout;
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      layout.folder_ = path;
      return layout;
    }
    const Content tar = TRY(Content::of_file(path));
    std::vector<TarEntry> entries = TRY(read_tar(tar));
    for (TarEntry& entry : entries) {
      if (entry.kind != TarEntry::Kind::file) continue;
      const std::string name = TRY(normal_path(entry.path));
      layout.members_[name.substr(1)] = std::move(entry.content);
    }
    return layout;
  }

  Result<Content> file(const std::string& name) const {
    if (!folder_.empty()) return Content::of_file(folder_ + '/' + name);
    const auto found = members_.find(name);
    if (found != members_.end()) return Content(found->second);
    return Error::of(ErrorCode::not_found, "expected '", shortened(name), "' in the archive, found no such member");
  }

  // The blob that a descriptor names, checked against its digest and size.
  Result<Content> blob(const Json& descriptor) const {
    const std::string digest = text_of(descriptor, "digest");
    constexpr std::string_view prefix = "sha256:";
    const std::string hexadecimal = digest.substr(std::min(digest.size(), prefix.size()));
    if (!digest.starts_with(prefix) || hexadecimal.size() != 64 ||
        hexadecimal.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return Error::of(ErrorCode::unsupported, "expected a digest 'sha256:' and 64 hexadecimal digits, found '",
                       shortened(digest), "'");
    }
    const Content content = TRY(file("blobs/sha256/" + hexadecimal));
    Sha256 sum;
    TRY(content.each_piece([&](std::string_view piece) -> Result<void> {
      sum.add(piece);
      return {};
    }));
    const std::string found = sum.finish();
    if (found == hexadecimal) return content;
    return Error::of(ErrorCode::corrupt, "expected content with the digest sha256:", hexadecimal,
                     ", found sha256:", found);
  }

  Result<Json> document(const Content& content, std::string_view what) const {
    const std::string text = TRY(content.read(longest_document));
    Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_object()) return parsed;
    return Error::of(ErrorCode::corrupt, "expected a JSON object as ", what, ", found something else");
  }

  static std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

 private:
  std::string folder_;
  std::map<std::string, Content> members_;
};

// The texts of an array; nothing where there is none.
Result<std::vector<std::string>> texts_of(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return texts;
  if (!found->is_array()) return Error::of(ErrorCode::corrupt, "expected a list as '", key, "', found another value");
  for (const Json& item : *found) {
    if (!item.is_string()) {
      return Error::of(ErrorCode::corrupt, "expected texts in '", key, "', found another value");
    }
    texts.push_back(item.get<std::string>());
    if (texts.back().find('\0') != std::string::npos) {
      return Error::of(ErrorCode::corrupt, "expected texts without zeros in '", key, "', found one");
    }
  }
  return texts;
}

bool is_ours(const Json& descriptor) {
  const auto platform = descriptor.find("platform");
  if (platform == descriptor.end() || !platform->is_object()) return true;  // an index of one image says nothing
  return Layout::text_of(*platform, "os") == "linux" && Layout::text_of(*platform, "architecture") == "amd64";
}

// From an index to the manifest of the image for our platform; an index may name indexes.
Result<Json> find_manifest(const Layout& layout, const Json& index, int depth) {
  const auto list = index.find("manifests");
  if (list == index.end() || !list->is_array() || depth == deepest_index) {
    return Error::of(ErrorCode::corrupt, "expected 'manifests' in the index, found none, or indexes without end");
  }
  for (const Json& descriptor : *list) {
    if (!descriptor.is_object() || !is_ours(descriptor)) continue;
    const Content content = TRY(layout.blob(descriptor));
    Json document = TRY(layout.document(content, "manifest"));
    if (document.contains("manifests")) return find_manifest(layout, document, depth + 1);
    return document;
  }
  return Error::of(ErrorCode::not_found, "expected an image for linux/amd64 among ", list->size(), ", found none");
}

Result<void> read_layers(const Layout& layout, const Json& manifest, FileTree& root) {
  const auto layers = manifest.find("layers");
  if (layers == manifest.end() || !layers->is_array()) {
    return Error::of(ErrorCode::corrupt, "expected 'layers' in the image's manifest, found none");
  }
  for (const Json& descriptor : *layers) {
    if (!descriptor.is_object()) return Error::of(ErrorCode::corrupt, "expected an object as a layer, found another");
    const std::string type = Layout::text_of(descriptor, "mediaType");
    Content content = TRY(layout.blob(descriptor));
    if (type.ends_with("+zstd")) {
      return Error::of(ErrorCode::unsupported, "expected a layer as tar or tar+gzip, found '", shortened(type), "'");
    }
    if (type.ends_with("gzip")) {
      const std::string packed = TRY(content.read(largest_layer));
      content = Content::of_bytes(TRY(unpack_gzip(packed, largest_layer)));
    }
    TRY(apply_layer(content, root));
  }
  return {};
}

}  // namespace

Result<OciImage> read_oci_image(const std::string& path) {
  const Layout layout = TRY(Layout::open(path));
  const Result<Content> found = layout.file("index.json");
  if (!found.ok()) {
    return Error::of(found.error().code(), "expected an OCI layout (a folder or tar with index.json), found none in '",
                     shortened(path), "'");
  }
  const Json index = TRY(layout.document(found.value(), "index.json"));
  const Json manifest = TRY(find_manifest(layout, index, 0));
  const auto described = manifest.find("config");
  if (described == manifest.end() || !described->is_object()) {
    return Error::of(ErrorCode::corrupt, "expected 'config' in the image's manifest, found none");
  }
  const Content config_content = TRY(layout.blob(*described));
  const Json config = TRY(layout.document(config_content, "config"));
  const std::string architecture = Layout::text_of(config, "architecture");
  if (!architecture.empty() && architecture != "amd64") {
    return Error::of(ErrorCode::unsupported, "expected an image for amd64, found one for ", shortened(architecture));
  }
  OciImage image;
  TRY(read_layers(layout, manifest, image.root));
  const auto settings = config.find("config");
  if (settings == config.end() || !settings->is_object()) return image;
  image.entrypoint = TRY(texts_of(*settings, "Entrypoint"));
  image.command = TRY(texts_of(*settings, "Cmd"));
  image.environment = TRY(texts_of(*settings, "Env"));
  const std::string directory = Layout::text_of(*settings, "WorkingDir");
  if (!directory.empty()) image.directory = TRY(normal_path(directory));
  return image;
}

}  // namespace ingot::image
