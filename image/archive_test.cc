#include <gtest/gtest.h>

#include "base/image/image_table.h"
#include "base/random.h"
#include "image/cpio_writer.h"
#include "image/fake_files.h"
#include "image/oci_layer.h"
#include "image/sha256.h"
#include "image/tar_reader.h"

namespace ingot::image {
namespace {

std::string text_at(const FileTree& tree, std::string_view path) {
  const FileNode* node = tree.at(path);
  if (node == nullptr) return "(nothing)";
  if (node->kind == FileNode::Kind::directory) return "(directory)";
  return node->kind == FileNode::Kind::symbolic_link ? "-> " + node->target : node->content.read(1 << 20).value();
}

Result<void> try_layer(FileTree& tree, const std::string& tar) {
  return LayerReader(LayerLimits()).apply({Content::of_bytes(tar), Packing::none, digest_of(tar)}, tree);
}

void apply(FileTree& tree, const std::vector<TarMember>& members) {
  const Result<void> applied = try_layer(tree, fake_tar(members));
  ASSERT_TRUE(applied.ok()) << applied.error().text();
}

TEST(FileTree, PathsAreNormal) {
  EXPECT_EQ(normal_path("a//./b/").value(), "/a/b");
  EXPECT_EQ(normal_path("").value(), "/");
  EXPECT_FALSE(normal_path("/a/../b").ok());
  EXPECT_FALSE(normal_path(std::string("a\0b", 3)).ok());
  EXPECT_FALSE(normal_path(std::string(5000, 'a')).ok());
}

TEST(FileTree, LinksAreFollowedInside) {
  FileTree tree;
  apply(tree, {{"usr/bin", '5', ""},
               {"bin", '2', "usr/bin"},
               {"bin/sh", '0', "shell"},
               {"etc/up", '2', "../../../usr"},
               {"round", '2', "/round"}});
  EXPECT_EQ(text_at(tree, "/usr/bin/sh"), "shell");
  EXPECT_EQ(tree.resolve("/etc/up/bin/sh").value(), "/usr/bin/sh");
  EXPECT_EQ(tree.resolve("/bin/none").error().code(), ErrorCode::not_found);
  EXPECT_EQ(tree.resolve("/round").error().code(), ErrorCode::corrupt);
}

TEST(Layer, WhiteoutsRemoveWhatIsBelow) {
  FileTree tree;
  apply(tree, {{"etc/a", '0', "1"}, {"etc/b", '0', "2"}, {"var/deep/x", '0', "3"}, {"opt/old", '0', "4"}});
  apply(tree, {{"etc/.wh.a", '0', ""}, {"opt/new", '0', "5"}, {"opt/.wh..wh..opq", '0', ""}, {".wh.var", '0', ""}});
  EXPECT_EQ(text_at(tree, "/etc/a"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/etc/b"), "2");
  EXPECT_EQ(text_at(tree, "/var/deep/x"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/opt/old"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/opt/new"), "5");
}

TEST(Layer, KindsReplaceEachOther) {
  FileTree tree;
  apply(tree, {{"x/y", '0', "1"}, {"z", '0', "2"}, {"h", '1', "z"}, {"dev/null", '3', ""}});
  EXPECT_EQ(text_at(tree, "/h"), "2");
  EXPECT_EQ(text_at(tree, "/dev/null"), "(nothing)");
  apply(tree, {{"x", '0', "file now"}, {"z", '5', ""}});
  EXPECT_EQ(text_at(tree, "/x"), "file now");
  EXPECT_EQ(text_at(tree, "/x/y"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/z"), "(directory)");
}

TEST(Layer, NamesThatLeaveTheRootAreErrors) {
  FileTree tree;
  EXPECT_FALSE(try_layer(tree, fake_tar({{"../etc/passwd", '0', "x"}})).ok());
  EXPECT_FALSE(try_layer(tree, fake_tar({{"h", '1', "../../etc/passwd"}})).ok());
}

TEST(Layer, HardLinksLeadToFilesOfTheImage) {
  FileTree tree;
  apply(tree, {{"usr/bin/one", '0', "1"}, {"bin", '2', "usr/bin"}, {"two", '1', "bin/one"}});
  EXPECT_EQ(text_at(tree, "/two"), "1") << "links above the last name are followed";
  for (const char* target : {"none", "/etc/passwd", "usr", ""}) {
    const Result<void> applied = try_layer(tree, fake_tar({{"h", '1', target}}));
    ASSERT_FALSE(applied.ok()) << target;
    EXPECT_NE(applied.error().text().find("expected a hard link to a file of the layer"), std::string::npos);
  }
}

TEST(Layer, WhiteoutsFollowLinksToFolders) {
  FileTree tree;
  apply(tree, {{"usr/bin/sh", '0', "1"}, {"usr/lib/x/y", '0', "2"}, {"bin", '2', "usr/bin"}, {"lib", '2', "usr/lib"}});
  apply(tree, {{"bin/.wh.sh", '0', ""}, {"lib/.wh..wh..opq", '0', ""}});
  EXPECT_EQ(text_at(tree, "/usr/bin/sh"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/usr/lib/x/y"), "(nothing)");
  EXPECT_EQ(text_at(tree, "/usr/lib"), "(directory)");
  apply(tree, {{".wh.bin", '0', ""}});
  EXPECT_EQ(text_at(tree, "/bin"), "(nothing)") << "the link itself, and not where it leads";
  EXPECT_EQ(text_at(tree, "/usr/bin"), "(directory)");
}

TEST(Layer, WhiteoutsOfNothingAreErrors) {
  for (const char* name : {"a/.wh.", "a/.wh..", "a/.wh..."}) {
    FileTree tree;
    EXPECT_FALSE(try_layer(tree, fake_tar({{name, '0', ""}})).ok()) << name;
  }
}

// Or a few short entries would make paths that take seconds to follow.
TEST(Layer, LinksCannotMakePathsLongerThanPathsAre) {
  FileTree tree;
  std::string deep = "d";
  while (deep.size() + 90 < 4000) deep += "/" + std::string(88, 'd');
  ASSERT_TRUE(tree.put("/a", {FileNode::Kind::symbolic_link, 0777, {}, deep}).ok());
  EXPECT_TRUE(tree.put_file("/a/x", 0644, {}).ok());
  ASSERT_TRUE(tree.put("/" + deep + "/b", {FileNode::Kind::symbolic_link, 0777, {}, deep}).ok());
  EXPECT_EQ(tree.put_file("/a/b/x", 0644, {}).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(tree.put("/c", {FileNode::Kind::symbolic_link, 0777, {}, std::string(5000, 'c')}).error().code(),
            ErrorCode::corrupt);
}

TEST(Layer, FilesLinksAndFoldersAreCounted) {
  FileTree tree;
  const std::string tar = fake_tar({{"a/b/c/d", '0', ""}});
  EXPECT_EQ(
      LayerReader({.nodes = 3}).apply({Content::of_bytes(tar), Packing::none, digest_of(tar)}, tree).error().text(),
      "expected at most 3 files, links and folders in all layers, found more");
  EXPECT_TRUE(LayerReader({.nodes = 4}).apply({Content::of_bytes(tar), Packing::none, digest_of(tar)}, tree).ok());
}

TEST(Tar, StreamsAndContentsSayTheSame) {
  const std::string tar = fake_tar(
      {{"a", '0', std::string(300000, 'a')}, {"g", 'g', "for all"}, {"l", '2', "a"}, {"d", '5', ""}, {"b", '0', "b"}});
  // Whole, and cut at every place that is another for the reader.
  for (const std::size_t length : {tar.size(), tar.size() - 1024, tar.size() - 1100, std::size_t{100000},
                                   std::size_t{512}, std::size_t{511}, std::size_t{0}}) {
    const Content content = Content::of_bytes(tar.substr(0, length));
    const Result<std::vector<TarEntry>> parts = read_tar(content);
    const std::unique_ptr<ByteStream> stream = content.open().value();
    const Result<std::vector<TarEntry>> streamed = read_tar(*stream);
    ASSERT_EQ(parts.ok(), streamed.ok()) << length;
    EXPECT_EQ(parts.ok(), length == 0 || length + 1024 >= tar.size()) << length;
    if (!parts.ok()) continue;
    ASSERT_EQ(parts.value().size(), streamed.value().size());
    for (std::size_t index = 0; index < parts.value().size(); ++index) {
      EXPECT_EQ(parts.value()[index].path, streamed.value()[index].path);
      EXPECT_EQ(parts.value()[index].content.read(1 << 20).value(),
                streamed.value()[index].content.read(1 << 20).value());
    }
  }
}

TEST(Tar, KindsThatWouldBeLostAreErrors) {
  const Result<std::vector<TarEntry>> read = read_tar(Content::of_bytes(fake_tar({{"sparse", 'S', "x"}})));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().text(), "tar, entry 1: expected an entry of a known type, found type 83");
  const std::string record = "22 GNU.sparse.major=1\n";
  const Result<std::vector<TarEntry>> by_pax =
      read_tar(Content::of_bytes(fake_tar({{"pax", 'x', record}, {"sparse", '0', "x"}})));
  ASSERT_FALSE(by_pax.ok());
  EXPECT_EQ(by_pax.error().text(),
            "tar, entry 1: expected a file with all its bytes, found a sparse one (GNU.sparse.major)");
}

TEST(Tar, LongNamesOfPaxAndGnu) {
  const std::string long_name = std::string(150, 'n') + "/file";
  const std::string record = " path=" + long_name + "\n";
  const std::string tar = fake_tar({{"pax", 'x', std::to_string(record.size() + 3) + record},
                                    {"short", '0', "by pax"},
                                    {"@LongLink", 'L', long_name + "2"},
                                    {"short", '0', "by gnu"},
                                    {"short", '0', "neither"}});
  const std::vector<TarEntry> entries = read_tar(Content::of_bytes(tar)).value();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].path, long_name);
  EXPECT_EQ(entries[1].path, long_name + "2");
  EXPECT_EQ(entries[2].path, "short");
  EXPECT_EQ(entries[1].content.read(100).value(), "by gnu");
}

TEST(Tar, DamageIsSurvived) {
  const std::string whole = fake_tar({{"pax", 'x', "19 path=somewhere0\n"}, {"a", '0', "text"}, {"b", '2', "a"}});
  RandomNumbers numbers(11);
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (std::uint64_t count = 1 + numbers.below(4); count > 0; --count) {
      damaged[numbers.below(damaged.size())] = static_cast<char>(numbers.next());
    }
    damaged.resize(numbers.below(damaged.size() + 1));
    FileTree tree;
    const Result<void> applied = try_layer(tree, damaged);
    EXPECT_TRUE(applied.ok() || !applied.error().text().empty());
  }
}

TEST(Bundle, IsAnArchiveWithTheManifestFirst) {
  FileTree tree;
  ASSERT_TRUE(tree.put_file("/a/large", 0644, Content::of_bytes("not inside")).ok());
  ASSERT_TRUE(tree.put_file("/a/small", 0755, Content::of_bytes("xyz")).ok());
  ASSERT_TRUE(tree.put("/link", {FileNode::Kind::symbolic_link, 0777, {}, "a/small"}).ok());
  const std::string bundle =
      write_bundle("the manifest", tree, [](const std::string& path) { return path != "/a/large"; }).value();
  EXPECT_EQ(first_member(bundle, ImageTable::manifest_path).value(), "the manifest");
  EXPECT_FALSE(first_member(bundle, "other").ok());
  EXPECT_FALSE(first_member(bundle.substr(0, 100), ImageTable::manifest_path).ok());
  EXPECT_EQ(bundle.find("not inside"), std::string::npos);
  // The entry of /a/small, field by field: third inode, mode 0100755, one link, no time, three bytes.
  const std::size_t at = bundle.find("07070100000003000081ed0000000000000000000000010000000000000003");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(bundle.substr(at + 110, 12), std::string("a/small\0\0\0xyz", 13).substr(0, 12));
  EXPECT_EQ(bundle.size() % 4, 0u);
}

}  // namespace
}  // namespace ingot::image
