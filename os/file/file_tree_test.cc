#include "os/file/file_tree.h"

#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using Removes = Directory::Removes;

class FileTrees : public Files {
 protected:
  FileTrees() : tree(make_directory(make_volume(Volume::Writing::allowed)), names) {
    for (const char* path : {"/a", "/a/b", "/a/b/c"}) EXPECT_EQ(make(path, FileKind::directory), "ok") << path;
    EXPECT_EQ(put("/a/file", "content"), "ok");
  }

  static std::string told(const Answer<void>& answer) {
    return answer.ok() ? "ok" : std::string(name_of(answer.error()));
  }
  std::string make(std::string_view path, FileKind kind, std::string_view target = {}) {
    return told(tree.make(tree.root(), path, {kind, 0755, target}));
  }
  std::string link(std::string_view path, std::string_view target) {
    return make(path, FileKind::symbolic_link, target);
  }
  std::string put(std::string_view path, std::string_view text, std::uint32_t more = 0) {
    const std::uint32_t flags = open_flag::write_only | open_flag::create | open_flag::truncate | more;
    Answer<Reference<FileDescription>> file = tree.open(tree.root(), path, flags, 0644);
    if (!file.ok()) return std::string(name_of(file.error()));
    return write(*file.value(), text).ok() ? "ok" : "not written";
  }
  std::string get(std::string_view path, std::uint32_t flags = 0) {
    Answer<Reference<FileDescription>> file = tree.open(tree.root(), path, flags, 0);
    return file.ok() ? read_all(*file.value()) : std::string(name_of(file.error()));
  }
  std::string remove(std::string_view path, Removes removes = Removes::file) {
    return told(tree.remove(tree.root(), path, removes));
  }
  std::string rename(std::string_view from, std::string_view to, std::uint32_t flags = 0) {
    return told(tree.rename(tree.root(), from, tree.root(), to, flags));
  }
  std::string found(std::string_view path, LastLink last = LastLink::followed) {
    Answer<Reference<Node>> node = tree.find(tree.root(), path, last);
    if (!node.ok()) return std::string(name_of(node.error()));
    switch (node.value()->kind()) {
      case FileKind::directory: return "directory";
      case FileKind::symbolic_link: return "link";
      default: return "file";
    }
  }
  Reference<Node> node(std::string_view path) { return tree.find(tree.root(), path, LastLink::followed).value(); }

  FileTree tree;
};

TEST_F(FileTrees, PathsAreFollowedNameByName) {
  EXPECT_EQ(get("/a/file"), "content");
  EXPECT_EQ(get("a/file"), "content");
  EXPECT_EQ(get("//a///b/../file"), "content");
  EXPECT_EQ(get("./a/./b/c/.././../file"), "content");
  EXPECT_EQ(found("/"), "directory");
  EXPECT_EQ(found("/a/b/"), "directory");
  EXPECT_EQ(found("/a/b/."), "directory");
  EXPECT_EQ(found(""), "ENOENT");
  EXPECT_EQ(found("/none"), "ENOENT");
  EXPECT_EQ(found("/a/none/b"), "ENOENT");
  EXPECT_EQ(found("/a/file/"), "ENOTDIR");
  EXPECT_EQ(found("/a/file/x"), "ENOTDIR");
  EXPECT_EQ(found("/a/file/."), "ENOTDIR");
  EXPECT_EQ(found("/a/file/.."), "ENOTDIR");
}

TEST_F(FileTrees, TheParentOfTheRootIsTheRoot) {
  EXPECT_EQ(get("/../../../a/file"), "content");
  EXPECT_EQ(get("../../a/file"), "content");
  EXPECT_EQ(get("/a/b/c/../../../../../../a/file"), "content");
  EXPECT_EQ(link("/out", "../../../../a/file"), "ok");
  EXPECT_EQ(get("/out"), "content");
}

TEST_F(FileTrees, PathsStartWhereTheyAreSaidTo) {
  const Reference<Node> b = node("/a/b");
  EXPECT_TRUE(tree.find(*b->as_directory(), "../file", LastLink::followed).ok());
  EXPECT_TRUE(tree.find(*b->as_directory(), "c", LastLink::followed).ok());
  EXPECT_TRUE(tree.find(*b->as_directory(), "/a/file", LastLink::followed).ok());
  EXPECT_EQ(tree.find(*b->as_directory(), "file", LastLink::followed).error(), Errno::enoent);
}

TEST_F(FileTrees, LinksLeadOnFromWhereTheyAreOrFromTheRoot) {
  EXPECT_EQ(link("/a/b/near", "c"), "ok");
  EXPECT_EQ(link("/a/b/far", "/a/file"), "ok");
  EXPECT_EQ(link("/a/b/slash", "/a/"), "ok");
  EXPECT_EQ(found("/a/b/near"), "directory");
  EXPECT_EQ(found("/a/b/near", LastLink::kept), "link");
  EXPECT_EQ(found("/a/b/near/", LastLink::kept), "directory");
  EXPECT_EQ(get("/a/b/near/../../file"), "content");
  EXPECT_EQ(get("/a/b/far"), "content");
  EXPECT_EQ(get("/a/b/slash/file"), "content");
  EXPECT_EQ(found("/a/b/far/"), "ENOTDIR");
  EXPECT_EQ(get("/a/b/far", open_flag::no_follow), "ELOOP");
  EXPECT_EQ(link("/nothing", ""), "ENOENT");
  EXPECT_EQ(link("/dangling", "nowhere"), "ok");
  EXPECT_EQ(found("/dangling"), "ENOENT");
  EXPECT_EQ(found("/dangling", LastLink::kept), "link");
}

TEST_F(FileTrees, FortyLinksAreFollowedAndFortyOneAreNot) {
  EXPECT_EQ(link("/l0", "/a/file"), "ok");
  for (int i = 1; i <= 40; ++i) {
    EXPECT_EQ(link("/l" + std::to_string(i), "l" + std::to_string(i - 1)), "ok");
  }
  EXPECT_EQ(get("/l39"), "content");
  EXPECT_EQ(get("/l40"), "ELOOP");
  EXPECT_EQ(link("/self", "self"), "ok");
  EXPECT_EQ(found("/self"), "ELOOP");
  EXPECT_EQ(found("/self/x", LastLink::kept), "ELOOP");
}

TEST_F(FileTrees, NamesAndPathsHaveAMostLength) {
  EXPECT_EQ(found(std::string(255, 'x')), "ENOENT");
  EXPECT_EQ(found(std::string(256, 'x')), "ENAMETOOLONG");
  std::string path;
  while (path.size() < 4090) path += "/.";
  EXPECT_EQ(found(path.substr(0, 4090)), "directory");
  EXPECT_EQ(found(path + std::string(4096 - path.size(), '/')), "ENAMETOOLONG");
  EXPECT_EQ(link("/long", std::string(4000, '/')), "ok");
  EXPECT_EQ(found("/long"), "directory");
  EXPECT_EQ(found("/long/" + std::string(90, '/')), "directory");
  EXPECT_EQ(found("/long/" + std::string(95, '/')), "ENAMETOOLONG");
}

TEST_F(FileTrees, OpenCreatesAndRefusesAsAsked) {
  EXPECT_EQ(put("/new", "one"), "ok");
  EXPECT_EQ(put("/new", "2"), "ok");
  EXPECT_EQ(get("/new"), "2");
  EXPECT_EQ(put("/new", "3", open_flag::exclusive), "EEXIST");
  EXPECT_EQ(put("/a", "x"), "EISDIR");
  EXPECT_EQ(put("/x/", "x"), "EISDIR");
  EXPECT_EQ(put("/none/x", "x"), "ENOENT");
  EXPECT_EQ(put("/a/file/x", "x"), "ENOTDIR");
  EXPECT_EQ(put("/", "x"), "EISDIR");
  EXPECT_EQ(put("/a/..", "x"), "EISDIR");
  EXPECT_EQ(put("/a/.", "x", open_flag::exclusive), "EEXIST");
  EXPECT_EQ(get("/a/file", open_flag::directory), "ENOTDIR");
  EXPECT_EQ(get("/a"), "error EISDIR");
  EXPECT_EQ(link("/to", "made-by-link"), "ok");
  EXPECT_EQ(put("/to", "x", open_flag::exclusive), "EEXIST");
  EXPECT_EQ(put("/to", "x", open_flag::no_follow), "ELOOP");
  EXPECT_EQ(put("/to", "through"), "ok");
  EXPECT_EQ(get("/made-by-link"), "through");
}

TEST_F(FileTrees, RemovingWhatIsOpenLeavesItToItsHolders) {
  Reference<FileDescription> file = tree.open(tree.root(), "/a/file", open_flag::read_write, 0).value();
  EXPECT_EQ(file->status().value().links, 1u);
  EXPECT_EQ(remove("/a/file"), "ok");
  EXPECT_EQ(remove("/a/file"), "ENOENT");
  EXPECT_EQ(file->status().value().links, 0u);
  EXPECT_EQ(read_all(*file), "content");
  EXPECT_TRUE(write(*file, "more").ok());
  EXPECT_EQ(file->seek(0, Whence::begin).value(), 0u);
  EXPECT_EQ(read_all(*file), "contentmore");
}

TEST_F(FileTrees, FilesAndDirectoriesAreRemovedByTheirOwnCall) {
  EXPECT_EQ(remove("/a/b"), "EISDIR");
  EXPECT_EQ(remove("/a/file", Removes::directory), "ENOTDIR");
  EXPECT_EQ(remove("/a/b", Removes::directory), "ENOTEMPTY");
  EXPECT_EQ(remove("/", Removes::directory), "EBUSY");
  EXPECT_EQ(remove("/a/b/c/.", Removes::directory), "EINVAL");
  EXPECT_EQ(remove("/a/b/c/..", Removes::directory), "ENOTEMPTY");
  EXPECT_EQ(remove("/a/file/"), "ENOTDIR");
  EXPECT_EQ(remove("/a/b/c/", Removes::directory), "ok");
  EXPECT_EQ(link("/l", "a/file"), "ok");
  EXPECT_EQ(remove("/l"), "ok");
  EXPECT_EQ(get("/a/file"), "content");
}

TEST_F(FileTrees, ADirectoryThatWasRemovedTakesNoNames) {
  const Reference<Node> c = node("/a/b/c");
  EXPECT_EQ(remove("/a/b/c", Removes::directory), "ok");
  Directory& gone = *c->as_directory();
  EXPECT_EQ(tree.make(gone, "x", {FileKind::directory, 0755, {}}).error(), Errno::enoent);
  EXPECT_EQ(tree.find(gone, "..", LastLink::followed).error(), Errno::enoent);
  char room[10];
  EXPECT_EQ(tree.path_of(gone, room).error(), Errno::enoent);
  EXPECT_EQ(gone.status().links, 0u);
}

TEST_F(FileTrees, RenameReplacesWhatIsOfTheSameSort) {
  EXPECT_EQ(put("/other", "old"), "ok");
  EXPECT_EQ(rename("/a/file", "/other"), "ok");
  EXPECT_EQ(get("/other"), "content");
  EXPECT_EQ(found("/a/file"), "ENOENT");
  EXPECT_EQ(rename("/a/b", "/other"), "ENOTDIR");
  EXPECT_EQ(rename("/other", "/a/b"), "EISDIR");
  EXPECT_EQ(make("/d", FileKind::directory), "ok");
  EXPECT_EQ(rename("/d", "/a/b"), "ENOTEMPTY");
  EXPECT_EQ(rename("/a/b/c", "/d"), "ok");
  EXPECT_EQ(found("/a/b/c"), "ENOENT");
  EXPECT_EQ(put("/d/x", "x"), "ok");
  EXPECT_EQ(rename("/a", "/a/b/inside"), "EINVAL");
  EXPECT_EQ(rename("/a", "/a"), "ok");
  EXPECT_EQ(rename("/none", "/x"), "ENOENT");
  EXPECT_EQ(rename("/other", "/x/"), "ENOTDIR");
  EXPECT_EQ(rename("/other", "/d", rename_flag::keep_existing), "EEXIST");
  EXPECT_EQ(rename("/other", "/d", rename_flag::exchange), "EINVAL");
  EXPECT_EQ(rename("/d", "/a/moved/"), "ok");
  EXPECT_EQ(get("/a/moved/../moved/x"), "x");
}

TEST_F(FileTrees, HardLinksAreNamesOfOneFile) {
  const Reference<Node> file = node("/a/file");
  EXPECT_EQ(told(tree.link(*file, tree.root(), "/second")), "ok");
  EXPECT_EQ(told(tree.link(*file, tree.root(), "/second")), "EEXIST");
  EXPECT_EQ(file->status().links, 2u);
  EXPECT_EQ(rename("/second", "/a/file"), "ok");  // the same file: nothing happens
  EXPECT_EQ(get("/second"), "content");
  EXPECT_EQ(remove("/a/file"), "ok");
  EXPECT_EQ(get("/second"), "content");
  EXPECT_EQ(told(tree.link(*node("/a"), tree.root(), "/dir")), "EPERM");
}

TEST_F(FileTrees, ADirectoryKnowsItsPath) {
  char room[20];
  EXPECT_EQ(tree.path_of(*node("/a/b/c")->as_directory(), room).value(), "/a/b/c");
  EXPECT_EQ(tree.path_of(tree.root(), room).value(), "/");
  EXPECT_EQ(tree.path_of(*node("/a/b/c")->as_directory(), std::span(room).first(5)).error(), Errno::erange);
  EXPECT_EQ(tree.path_of(tree.root(), {}).error(), Errno::erange);
}

TEST_F(FileTrees, ListsGoOnWhereTheyStopped) {
  Reference<FileDescription> a = tree.open(tree.root(), "/a", 0, 0).value();
  ListingSink first;
  first.room = 2;
  ASSERT_TRUE(a->entries(first).ok());
  EXPECT_EQ(first.names, (std::vector<std::string>{".", ".."}));
  EXPECT_EQ(remove("/a/file"), "ok");
  EXPECT_EQ(put("/a/late", ""), "ok");
  ListingSink rest;
  ASSERT_TRUE(a->entries(rest).ok());
  EXPECT_EQ(rest.names, (std::vector<std::string>{"b", "late"}));
  ListingSink none;
  ASSERT_TRUE(a->entries(none).ok());
  EXPECT_TRUE(none.names.empty());
  EXPECT_EQ(a->seek(0, Whence::begin).value(), 0u);
  ListingSink again;
  ASSERT_TRUE(a->entries(again).ok());
  EXPECT_EQ(again.names, (std::vector<std::string>{".", "..", "b", "late"}));
  EXPECT_EQ(again.kinds[2], FileKind::directory);
}

TEST_F(FileTrees, AnotherTreeTakesTheNamesPlace) {
  Reference<MemoryDirectory> other = make_directory(make_volume(Volume::Writing::refused));
  ASSERT_TRUE(tree.mount("/mnt/deep/other", *other).ok());
  EXPECT_EQ(found("/mnt/deep/other/../../../a"), "directory");
  char room[30];
  EXPECT_EQ(tree.path_of(*other, room).value(), "/mnt/deep/other");
  EXPECT_EQ(put("/mnt/deep/other/x", "x"), "EROFS");
  EXPECT_EQ(make("/mnt/deep/other/x", FileKind::directory), "EROFS");
  EXPECT_EQ(remove("/mnt/deep/other", Removes::directory), "EBUSY");
  EXPECT_EQ(rename("/mnt/deep/other", "/x"), "EBUSY");
  EXPECT_EQ(rename("/a/file", "/mnt/deep/other/x"), "EXDEV");
  EXPECT_EQ(tree.mount("/", *other).error(), Errno::ebusy);
}

TEST_F(FileTrees, AFileWithoutANameGoesWithItsDescription) {
  Answer<Reference<FileDescription>> file =
      tree.open(tree.root(), "/a", open_flag::temporary | open_flag::read_write, 0600);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(write(*file.value(), "secret").ok());
  ListingSink sink;
  ASSERT_TRUE(tree.open(tree.root(), "/a", 0, 0).value()->entries(sink).ok());
  EXPECT_EQ(sink.names.size(), 4u);
}

TEST_F(FileTrees, APlaceCanBeNamedAndNotRead) {
  Reference<FileDescription> place = tree.open(tree.root(), "/a/file", open_flag::path, 0).value();
  EXPECT_EQ(read_all(*place), "error EBADF");
  EXPECT_EQ(place->status().value().bytes, 7u);
  EXPECT_EQ(link("/l", "a"), "ok");
  EXPECT_EQ(tree.open(tree.root(), "/l", open_flag::path | open_flag::no_follow, 0).value()->status().value().kind,
            FileKind::symbolic_link);
}

TEST_F(FileTrees, DeepTreesNeedNoStackToGo) {
  Reference<Node> here = node("/a/b/c");
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(tree.make(*here->as_directory(), "d", {FileKind::directory, 0755, {}}).ok());
    here = tree.find(*here->as_directory(), "d", LastLink::followed).value();
  }
}

TEST_F(FileTrees, WithoutMemoryNothingIsHalfDone) {
  for (int left = 0; left < 6; ++left) {
    heap.left = left;
    EXPECT_EQ(make("/m", FileKind::directory), left < 2 ? "ENOMEM" : "ok") << left;
    if (left >= 2) break;
  }
  heap.left = 1'000'000;
  EXPECT_EQ(found("/m"), "directory");
}

TEST_F(FileTrees, ALinkIsRefusedByWhatIsWrongWithIt) {
  const auto link_to = [&](Node& node, std::string_view path) { return told(tree.link(node, tree.root(), path)); };
  const Reference<Node> file = tree.find(tree.root(), "/a/file", LastLink::kept).value();
  const Reference<Node> directory = tree.find(tree.root(), "/a/b", LastLink::kept).value();
  EXPECT_EQ(link_to(*file, "/a/again"), "ok");
  EXPECT_EQ(link_to(*file, "/a/again"), "EEXIST");
  EXPECT_EQ(link_to(*directory, "/a/d"), "EPERM");
  const Reference<Volume> other = make_volume(Volume::Writing::refused);
  const Reference<MemoryDirectory> image = make_directory(other);
  ASSERT_TRUE(tree.mount("/image", *image).ok());
  EXPECT_EQ(link_to(*file, "/image/file"), "EXDEV");
  EXPECT_EQ(link_to(*image, "/a/image"), "EPERM");
  EXPECT_EQ(told(image->set_permissions(0700)), "EROFS");
  const Reference<MemoryDirectory> facts = make_directory(make_volume(Volume::Writing::facts));
  EXPECT_EQ(told(facts->set_permissions(0700)), "EPERM");
  EXPECT_EQ(told(facts->set_owner(0, 0)), "EPERM");
  EXPECT_EQ(facts->create("x", {}).error(), Errno::erofs);
}

TEST_F(FileTrees, AnotherRootHidesWhatIsOutside) {
  EXPECT_EQ(link("/a/b/up", "/c"), "ok");
  EXPECT_EQ(link("/a/b/out", "../file"), "ok");
  const Reference<Node> outside = node("/a/file");
  EXPECT_EQ(told(tree.set_root(*outside)), "ENOTDIR");
  EXPECT_EQ(told(tree.set_root(*node("/a/b"))), "ok");
  EXPECT_EQ(found("/c"), "directory");
  EXPECT_EQ(found("/../../c"), "directory");
  EXPECT_EQ(found("/up"), "directory");
  EXPECT_EQ(found("/out"), "ENOENT");
  EXPECT_EQ(found("/a"), "ENOENT");
  char room[16];
  EXPECT_EQ(tree.path_of(*node("/c"), room).value(), "/c");
  EXPECT_EQ(tree.path_of(*outside, room).error(), Errno::exdev);
  EXPECT_EQ(std::string_view(room, tree.copy_path(*outside, room).value()), "(unreachable)");
  EXPECT_TRUE(tree.find(tree.root(), "../../a/b/c", LastLink::followed).ok());  // who stands outside stays at the top
  EXPECT_EQ(remove("/c", Removes::directory), "ok");
  EXPECT_EQ(make("/new", FileKind::directory), "ok");
}

}  // namespace
}  // namespace ingot::os
