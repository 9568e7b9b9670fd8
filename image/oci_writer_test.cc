#include "image/oci_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "image/fake_files.h"
#include "image/output_file.h"
#include "image/sha256.h"
#include "image/tar_reader.h"

namespace ingot::image {
namespace {

using Json = nlohmann::json;

// A static program and a model in a file, as `cast --format oci` has them.
struct Container {
  TestFolder folder;
  OciRequest request;

  explicit Container(std::uint16_t machine = elf_x86_64) {
    request.output = folder.path("server.tar");
    request.name = "server:latest";
    request.ports = {8080};
    request.labels = {{"title", "a server"}};
    OciImage& image = request.image;
    image.entrypoint = {"/bin/program"};
    image.command = {"serve", "--host", "0.0.0.0"};
    image.environment = {"HOME=/", "GREET=two words"};
    put("/bin/program", Content::of_bytes(fake_program("x", 5000, machine)));
    put("/model", Content::of_file(folder.put("weights", std::string((3 << 20) + 17, 'w'))).value());
  }
  void put(const std::string& path, const Content& content) {
    EXPECT_TRUE(request.image.root.put_file(path, 0755, content).ok());
  }
  std::string complaint() const {
    const Result<OciReport> report = write_oci_image(request);
    return report.ok() ? "" : std::string(report.error().text());
  }
};

std::map<std::string, std::string> members_of(const std::string& path) {
  std::map<std::string, std::string> members;
  const std::vector<TarEntry> entries = read_tar(Content::of_file(path).value()).value();
  for (const TarEntry& entry : entries) {
    members[entry.path] = entry.content.read(1 << 30).value();
  }
  return members;
}

TEST(OciWriter, ThePartsAreWhatTheirDigestsAndSizesSay) {
  const Container container(elf_aarch64);
  const Result<OciReport> report = write_oci_image(container.request);
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_EQ(report.value().architecture, "arm64");
  EXPECT_EQ(report.value().file_bytes, container.folder.get("server.tar").size());

  std::map<std::string, std::string> members = members_of(container.request.output);
  const auto blob = [&](const Json& descriptor) {
    const std::string digest = descriptor.at("digest").get<std::string>().substr(7);
    const std::string content = members["blobs/sha256/" + digest];
    EXPECT_EQ(digest_of(content), digest);
    EXPECT_EQ(content.size(), descriptor.at("size").get<std::uint64_t>());
    return content;
  };
  const Json index = Json::parse(members["index.json"]).at("manifests").at(0);
  EXPECT_EQ(index.at("platform"), Json::parse(R"({"architecture":"arm64","os":"linux","variant":"v8"})"));
  EXPECT_EQ(index.at("digest"), "sha256:" + report.value().digest);
  EXPECT_EQ(index.at("annotations").at("io.containerd.image.name"), "docker.io/library/server:latest");
  EXPECT_EQ(index.at("annotations").at("org.opencontainers.image.ref.name"), "latest");
  const Json manifest = Json::parse(blob(index));
  const std::string layer = blob(manifest.at("layers").at(0));
  EXPECT_EQ(layer.size(), report.value().layer_bytes);
  const Json config = Json::parse(blob(manifest.at("config")));
  EXPECT_EQ(config.at("rootfs").at("diff_ids"), Json::array({"sha256:" + digest_of(layer)}));
  EXPECT_EQ(config.at("config"), Json::parse(R"({"Entrypoint":["/bin/program"],"Cmd":["serve","--host","0.0.0.0"],
      "Env":["HOME=/","GREET=two words"],"WorkingDir":"/","ExposedPorts":{"8080/tcp":{}},
      "Labels":{"title":"a server"}})"));
  EXPECT_FALSE(config.contains("created"));
  const Json for_docker = Json::parse(members["manifest.json"]).at(0);
  EXPECT_EQ(for_docker.at("RepoTags"), Json::array({"server:latest"}));
  for (const Json& path : {for_docker.at("Config"), for_docker.at("Layers").at(0)}) {
    EXPECT_TRUE(members.contains(path.get<std::string>())) << path;
  }
  EXPECT_EQ(Json::parse(members["oci-layout"]), Json::parse(R"({"imageLayoutVersion":"1.0.0"})"));
}

TEST(OciWriter, WhatIsWrittenIsReadAgain) {
  const Container container;
  ASSERT_EQ(container.complaint(), "");
  const Result<OciImage> read = read_oci_image(container.request.output);
  ASSERT_TRUE(read.ok()) << read.error().text();
  const OciImage &expected = container.request.image, &found = read.value();
  EXPECT_EQ(found.entrypoint, expected.entrypoint);
  EXPECT_EQ(found.command, expected.command);
  EXPECT_EQ(found.environment, expected.environment);
  EXPECT_EQ(found.directory, "/");
  ASSERT_EQ(found.root.nodes().size(), expected.root.nodes().size());
  for (const auto& [path, node] : expected.root.nodes()) {
    ASSERT_NE(found.root.at(path), nullptr) << path;
    EXPECT_EQ(found.root.at(path)->mode, node.mode) << path;
    EXPECT_EQ(found.root.at(path)->content.read(1 << 30).value(), node.content.read(1 << 30).value()) << path;
  }
}

TEST(OciWriter, EqualInputsGiveEqualBytes) {
  const Container first, second;
  ASSERT_EQ(first.complaint(), "");
  ASSERT_EQ(second.complaint(), "");
  EXPECT_TRUE(first.folder.get("server.tar") == second.folder.get("server.tar"));
}

TEST(OciWriter, ACheckWritesNothingAndKnowsTheSize) {
  Container container;
  std::uint64_t done = 0, total = 0;
  container.request.progress = [&](std::uint64_t written, std::uint64_t all) { done = written, total = all; };
  const OciReport checked = check_oci_image(container.request).value();
  EXPECT_FALSE(std::filesystem::exists(container.request.output));
  EXPECT_EQ(checked.digest, "");
  const OciReport written = write_oci_image(container.request).value();
  EXPECT_EQ(written.file_bytes, checked.file_bytes);
  EXPECT_EQ(written.digest.size(), 64u);
  EXPECT_EQ(done, written.file_bytes);
  EXPECT_EQ(total, written.file_bytes);
}

TEST(OciWriter, RefusalsNameTheReasonAndLeaveNothing) {
  Container container;
  OciImage& image = container.request.image;
  image.entrypoint = {"/model"};
  EXPECT_EQ(container.complaint(),
            "program '" + container.folder.path("weights") + "': expected an ELF file, found another beginning");
  image.entrypoint = {"/none"};
  EXPECT_NE(container.complaint().find("'/none'"), std::string::npos) << container.complaint();
  image.entrypoint = {"/bin"};
  EXPECT_NE(container.complaint(), "");
  image.entrypoint = {};
  EXPECT_EQ(container.complaint(), "expected an entrypoint for the image, found none");
  image.entrypoint = {"/dynamic"};
  container.put("/dynamic", Content::of_bytes(fake_dynamic({.interpreter = "/lib/loader"})));
  EXPECT_EQ(container.complaint(), "expected a static program, found one that needs '/lib/loader' at '/dynamic'");
  image.entrypoint = {"/foreign"};
  container.put("/foreign", Content::of_bytes(fake_program("x", 0, 8)));
  EXPECT_NE(container.complaint().find("expected a program for x86_64 or aarch64"), std::string::npos);
  image.entrypoint = {"/bin/program"};
  image.environment = {"NAME=\xff"};
  EXPECT_NE(container.complaint().find("expected UTF-8"), std::string::npos);
  image.environment = {};
  image.directory = "/../x";
  EXPECT_NE(container.complaint(), "");
  image.directory = "/";
  container.request.output = container.folder.path("weights");
  EXPECT_NE(container.complaint().find("output: expected another file than what is read"), std::string::npos);
  container.request.output = container.folder.path("server.tar");
  std::filesystem::resize_file(container.folder.path("weights"), 1000);
  EXPECT_NE(container.complaint().find("it has become shorter"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(container.request.output));
  const std::filesystem::directory_iterator left(container.folder.path(""));
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);  // the weights
}

TEST(OutputFile, BytesAreReplacedInsideWhatIsWritten) {
  const TestFolder folder;
  OutputFile file = OutputFile::create(folder.path("file"), 8).value();
  ASSERT_TRUE(file.write("abcdef").ok());
  EXPECT_TRUE(file.replace(2, "XY").ok());
  EXPECT_FALSE(file.replace(5, "XY").ok());
  EXPECT_FALSE(file.replace(7, "").ok());
  ASSERT_TRUE(file.write("g").ok());  // goes on where it was
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(folder.get("file"), "abXYefg");
}

}  // namespace
}  // namespace ingot::image
