#include "cli/server_image.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/image_options.h"
#include "cli/terminal.h"
#include "image/added_files.h"
#include "image/build_products.h"
#include "image/oci_writer.h"

namespace ingot {
namespace {

constexpr const char* engine_path = "/bin/ingot";

Result<image::OciRequest> server_request_of(const ServerImageOptions& options) {
  image::OciRequest request;
  request.output = options.output;
  request.name = "ingot-server:latest";
  request.ports = {static_cast<std::uint16_t>(options.served.port.value_or(default_served_port))};
  request.labels = {{"org.opencontainers.image.title", "ingot-server"},
                    {"org.opencontainers.image.description", "A language model behind OpenAI's protocol"}};
  request.progress = cast_progress();

  image::OciImage& server = request.image;
  image::AddedFiles files;
  for (const std::string& file : options.files) TRY(files.add(file, server.root));
  const std::string engine = options.engine.empty() ? TRY(image::running_program()) : options.engine;
  const image::Content program = TRY(image::Content::of_file(engine));
  TRY(server.root.put_new_file(engine_path, 0755, program, "the program"));
  server.entrypoint = {engine_path};
  server.command = TRY(add_served_models(options.served, server.root));
  if (!options.arguments.empty()) server.command = options.arguments;
  server.environment = with_variables({"HOME=/"}, options.environment);
  if (!options.directory.empty()) server.directory = options.directory;
  return request;
}

nlohmann::json server_json(const ServerImageOptions& options, const image::OciRequest& request,
                           const image::OciReport& report) {
  nlohmann::json document = {{"image", options.output},
                             {"format", "oci"},
                             {"name", request.name},
                             {"os", "linux"},
                             {"architecture", report.architecture},
                             {"bytes", report.file_bytes},
                             {"layer_bytes", report.layer_bytes},
                             {"digest", nullptr},  // of nothing that is not written
                             {"dry_run", options.dry_run},
                             {"entrypoint", request.image.entrypoint},
                             {"command", request.image.command},
                             {"environment", request.image.environment},
                             {"directory", request.image.directory},
                             {"files", nlohmann::json::array()}};
  if (!report.digest.empty()) document["digest"] = "sha256:" + report.digest;
  for (const auto& [path, node] : request.image.root.nodes()) {
    if (node.kind == image::FileNode::Kind::directory) continue;
    document["files"].push_back({{"path", path}, {"bytes", node.content.size()}});
  }
  return document;
}

void print_server_table(const ServerImageOptions& options, const image::OciRequest& request,
                        const image::OciReport& report) {
  std::printf("%-28s  %12s\n", "part", "bytes");
  for (const auto& [path, node] : request.image.root.nodes()) {
    if (node.kind == image::FileNode::Kind::directory) continue;
    std::printf("%-28s  %12llu\n", path.c_str(), static_cast<unsigned long long>(node.content.size()));
  }
  if (!report.digest.empty()) std::printf("%-28s  sha256:%s\n", "digest", report.digest.c_str());
  std::printf("%s: %.2f MiB%s, %s for linux/%s\n", options.output.c_str(), mebibytes(report.file_bytes),
              options.dry_run ? " (not written)" : "", request.name.c_str(), report.architecture.c_str());
}

}  // namespace

Result<void> cast_server_image(const ServerImageOptions& options) {
  const image::OciRequest request = TRY(server_request_of(options));
  const image::OciReport report =
      options.dry_run ? TRY(image::check_oci_image(request)) : TRY(image::write_oci_image(request));
  if (options.json) {
    const nlohmann::json document = server_json(options, request, report);
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    print_server_table(options, request, report);
  }
  return {};
}

}  // namespace ingot
