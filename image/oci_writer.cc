#include "image/oci_writer.h"

#include <nlohmann/json.hpp>
#include <set>

#include "image/bytes.h"
#include "image/cast_checks.h"
#include "image/elf_file.h"
#include "image/output_file.h"
#include "image/sha256.h"
#include "image/tar_writer.h"

namespace ingot::image {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t largest_elf_to_look_at = std::uint64_t{2} << 30;
constexpr const char* manifest_type = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* config_type = "application/vnd.oci.image.config.v1+json";
// Not packed: weights hardly shrink, registries pack what they are sent, and so the layer's digest is that of its
// files, its bytes do not hang on a library's version, and `ingot cast --oci` takes large files from where they lie.
constexpr const char* layer_type = "application/vnd.oci.image.layer.v1.tar";

struct Platform {
  std::string architecture, variant;
};

// That of the program, which nothing else in the image could start.
Result<Platform> platform_of(const OciImage& image) {
  if (image.entrypoint.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected an entrypoint for the image, found none");
  }
  const std::string& program = image.entrypoint.front();
  const std::string path = TRY(image.root.resolve(program));
  const Content& content = image.root.at(path)->content;
  // As whoever casts knows it.
  const std::string& name = content.host_path().empty() ? program : content.host_path();
  const std::string bytes = TRY(content.read(largest_elf_to_look_at));
  Result<ElfFile> parsed = ElfFile::parse(bytes);
  if (!parsed.ok()) return parsed.error().within("program '", shortened(name), "'");
  const std::optional<std::string> interpreter = TRY(parsed.value().interpreter());
  if (interpreter) {
    return Error::of(ErrorCode::unsupported, "expected a static program, found one that needs '",
                     shortened(*interpreter), "' at '", shortened(name), "'");
  }
  const std::uint16_t machine = parsed.value().machine();
  if (machine == elf_x86_64) return Platform{"amd64", ""};
  if (machine == elf_aarch64) return Platform{"arm64", "v8"};
  return Error::of(ErrorCode::unsupported, "expected a program for x86_64 or aarch64, found one for ",
                   std::string_view(machine_name(machine)), " at '", shortened(name), "'");
}

Json platform_json(const Platform& platform) {
  Json json = {{"architecture", platform.architecture}, {"os", "linux"}};
  if (!platform.variant.empty()) json["variant"] = platform.variant;
  return json;
}

// Keys in order, no blanks. JSON is UTF-8, and an environment need not be.
Result<std::string> json_text(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::type_error&) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected UTF-8 in an image's words and names, as its JSON has them, found other bytes");
  }
}

// A part of the layout, by what names it.
struct Blob {
  std::string digest, content;

  explicit Blob(std::string bytes) : digest(digest_of(bytes)), content(std::move(bytes)) {}
  Json descriptor(const char* type) const {
    return {{"mediaType", type}, {"digest", "sha256:" + digest}, {"size", content.size()}};
  }
};

std::string blob_path(const std::string& digest) { return "blobs/sha256/" + digest; }

TarEntry file_entry(std::string path, std::string content) {
  return {TarEntry::Kind::file, std::move(path), {}, 0644, Content::of_bytes(std::move(content))};
}

Result<Json> config_of(const OciRequest& request, const Platform& platform, const std::string& layer_digest) {
  Json labels = Json::object(), ports = Json::object();
  for (const auto& [key, value] : request.labels) labels[key] = value;
  for (const std::uint16_t port : request.ports) ports[std::to_string(port) + "/tcp"] = Json::object();
  // Not in the list below: what a list holds already would not be freed where this returns.
  const std::string directory = TRY(normal_path(request.image.directory));
  Json config = platform_json(platform);
  config["config"] = {{"Entrypoint", request.image.entrypoint},
                      {"Cmd", request.image.command},
                      {"Env", request.image.environment},
                      {"WorkingDir", directory},
                      {"ExposedPorts", ports},
                      {"Labels", labels}};
  config["rootfs"] = {{"type", "layers"}, {"diff_ids", {"sha256:" + layer_digest}}};
  config["history"] = {{{"created_by", "ingot cast --format oci"}}};
  return config;
}

struct Documents {
  std::vector<TarEntry> entries;
  std::string manifest_digest;
};

// All that follows the layer in the archive. Its length does not depend on the digest.
Result<Documents> documents_of(const OciRequest& request, const Platform& platform, std::uint64_t layer_bytes,
                               const std::string& layer_digest) {
  const Json layer = {{"mediaType", layer_type}, {"digest", "sha256:" + layer_digest}, {"size", layer_bytes}};
  const Json config_json = TRY(config_of(request, platform, layer_digest));
  const Blob config(TRY(json_text(config_json)));
  const Blob manifest(TRY(json_text({{"schemaVersion", 2},
                                     {"mediaType", manifest_type},
                                     {"config", config.descriptor(config_type)},
                                     {"layers", {layer}}})));
  Json described = manifest.descriptor(manifest_type);
  described["platform"] = platform_json(platform);
  // The first is what containerd, Docker and Podman call it by, the second is the specification's.
  described["annotations"] = {{"io.containerd.image.name", "docker.io/library/" + request.name},
                              {"org.opencontainers.image.ref.name", request.name.substr(request.name.find(':') + 1)}};
  const Json index = {
      {"schemaVersion", 2}, {"mediaType", "application/vnd.oci.image.index.v1+json"}, {"manifests", {described}}};
  const Json for_docker = Json::array(
      {{{"Config", blob_path(config.digest)}, {"RepoTags", {request.name}}, {"Layers", {blob_path(layer_digest)}}}});
  const std::string index_text = TRY(json_text(index)), docker_text = TRY(json_text(for_docker));
  Documents documents;
  documents.manifest_digest = manifest.digest;
  documents.entries = {file_entry(blob_path(config.digest), config.content),
                       file_entry(blob_path(manifest.digest), manifest.content), file_entry("index.json", index_text),
                       file_entry("manifest.json", docker_text),
                       file_entry("oci-layout", R"({"imageLayoutVersion":"1.0.0"})")};
  return documents;
}

std::string folders_in_front() {
  std::string headers;
  for (const char* path : {"blobs/", "blobs/sha256/"}) {
    headers += tar_header({TarEntry::Kind::directory, path, {}, 0755, {}}, 0);
  }
  return headers;
}

std::string layer_header(const std::string& digest, std::uint64_t bytes) {
  return tar_header(file_entry(blob_path(digest), {}), bytes);
}

struct OciPlan {
  Platform platform;
  std::vector<TarEntry> layer;
  OciReport report;
};

Result<OciPlan> plan_of(const OciRequest& request) {
  std::set<std::string> read;
  for (const auto& [path, node] : request.image.root.nodes()) read.insert(node.content.host_path());
  TRY(check_output(request.output, read));
  OciPlan plan;
  plan.platform = TRY(platform_of(request.image));
  plan.layer = tar_entries_of(request.image.root);
  plan.report.architecture = plan.platform.architecture;
  std::uint64_t& layer_bytes = plan.report.layer_bytes;
  for (const TarEntry& entry : plan.layer) layer_bytes += tar_entry_bytes(entry);
  layer_bytes += tar_end().size();
  const std::string any_digest(64, '0');
  const Documents documents = TRY(documents_of(request, plan.platform, layer_bytes, any_digest));
  std::uint64_t& bytes = plan.report.file_bytes;
  bytes = folders_in_front().size() + layer_header(any_digest, layer_bytes).size() + layer_bytes;
  bytes += tar_padding(layer_bytes).size();
  for (const TarEntry& entry : documents.entries) bytes += tar_entry_bytes(entry);
  bytes += tar_end().size();
  return plan;
}

// What is summed is what is written, whoever changes files meanwhile. Says the digest.
Result<std::string> write_layer(const OciPlan& plan, OutputFile& file) {
  Sha256 sum;
  const auto write = [&](std::string_view bytes) {
    sum.add(bytes);
    return file.write(bytes);
  };
  for (const TarEntry& entry : plan.layer) TRY(write_tar_entry(entry, write));
  TRY(write(tar_end()));
  return sum.finish();
}

}  // namespace

Result<OciReport> check_oci_image(const OciRequest& request) {
  OciPlan plan = TRY(plan_of(request));
  return std::move(plan.report);
}

Result<OciReport> write_oci_image(const OciRequest& request) {
  OciPlan plan = TRY(plan_of(request));
  OciReport& report = plan.report;
  OutputFile file = TRY(OutputFile::create(request.output, report.file_bytes));
  if (request.progress) file.watch([&](std::uint64_t done) { request.progress(done, report.file_bytes); });
  TRY(file.write(folders_in_front()));
  // A part is named by its digest, which is known behind it: a model is read once, and its name is filled in then.
  const std::uint64_t name_at = file.written();
  TRY(file.write(layer_header(std::string(64, '0'), report.layer_bytes)));
  const std::string layer_digest = TRY(write_layer(plan, file));
  TRY(file.write(tar_padding(report.layer_bytes)));
  TRY(file.replace(name_at, layer_header(layer_digest, report.layer_bytes)));
  const Documents documents = TRY(documents_of(request, plan.platform, report.layer_bytes, layer_digest));
  const auto write = [&](std::string_view bytes) { return file.write(bytes); };
  for (const TarEntry& entry : documents.entries) TRY(write_tar_entry(entry, write));
  TRY(file.write(tar_end()));
  if (file.written() != report.file_bytes) {
    return Error::of(ErrorCode::corrupt, "expected ", report.file_bytes, " bytes as planned, found ", file.written());
  }
  TRY(file.commit());
  report.digest = documents.manifest_digest;
  return std::move(report);
}

}  // namespace ingot::image
