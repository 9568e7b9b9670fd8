#include "model/files/gguf_pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "model/files/gguf_writer.h"
#include "model/files/model_file.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

struct PieceTensor {
  std::string name;
  float value;
};

// A piece as other tools write it, but for what a test changes.
struct Piece {
  std::uint16_t number = 0;
  std::uint16_t count = 3;
  std::int32_t tensors_in_all = 4;
  std::vector<PieceTensor> tensors;
  Metadata more = {};  // takes the place of what is said above
  std::vector<std::string> left_out = {};
};

void write_piece(const std::string& path, const Piece& piece) {
  Metadata all;
  if (piece.number == 0) {
    all.set_text("general.architecture", "llama");
    all.set_text("general.name", "tiny");
  }
  all.set_scalar("split.no", piece.number);
  all.set_scalar("split.count", piece.count);
  all.set_scalar("split.tensors.count", piece.tensors_in_all);
  Metadata written;
  for (const Metadata* from : std::initializer_list<const Metadata*>{&all, &piece.more}) {
    for (const Metadata::Entry& entry : from->entries()) {
      const bool is_changed = from == &all && piece.more.has(entry.key);
      if (is_changed || std::ranges::count(piece.left_out, entry.key) > 0) continue;
      ASSERT_TRUE(written.add_view(entry.key, entry.value).ok());
    }
  }
  std::vector<TensorToWrite> tensors;
  for (const PieceTensor& tensor : piece.tensors) {
    tensors.push_back(tensor_to_write(tensor.name, DType::f32, {1}, std::as_bytes(std::span(&tensor.value, 1))));
  }
  ASSERT_TRUE(write_gguf(path, written, tensors).ok());
}

std::vector<Piece> three_pieces() {
  return {{.number = 0, .tensors = {{"a", 1}}},
          {.number = 1, .tensors = {{"b", 2}, {"c", 3}}},
          {.number = 2, .tensors = {{"d", 4}}}};
}

std::string name_of_piece(int number, int count = 3) {
  char name[40];
  std::snprintf(name, sizeof(name), "m-%05d-of-%05d.gguf", number, count);
  return name;
}

void write_all(const TemporaryFolder& folder, const std::vector<Piece>& pieces) {
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    write_piece(folder.file(name_of_piece(static_cast<int>(index) + 1)), pieces[index]);
  }
}

// One line that names the file and says what was expected and found.
void expect_one_error(const std::string& path, std::string_view file, std::string_view part) {
  const Result<ModelFile> model = ModelFile::open(path);
  ASSERT_FALSE(model.ok()) << "expected an error with: " << part;
  const std::string_view text = model.error().text();
  EXPECT_NE(text.find(file), std::string_view::npos) << text;
  EXPECT_NE(text.find(part), std::string_view::npos) << text;
  EXPECT_NE(text.find("expected"), std::string_view::npos) << text;
  EXPECT_NE(text.find("found"), std::string_view::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
}

TEST(GgufPieces, NamesAreReadAsTheyAreWritten) {
  const std::optional<GgufPieceName> name = gguf_piece_name("folder/m-x-00002-of-00010.gguf");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->number, 2u);
  EXPECT_EQ(name->count, 10u);
  EXPECT_EQ(name->path_of(10), "folder/m-x-00010-of-00010.gguf");
  EXPECT_EQ(name->path_of_whole(), "folder/m-x.gguf");
  EXPECT_EQ(gguf_piece_name("m-123456-of-123456.gguf")->path_of(1), "m-00001-of-123456.gguf");
  for (const std::string_view other :
       {"m.gguf", "m-00001-of-00002", "m-1-of-2.gguf", "m-00000-of-00002.gguf", "m-00003-of-00002.gguf",
        "m-000001-of-00002.gguf", "m00001-of-00002.gguf", "m-00001of-00002.gguf", "m-00001-of-.gguf", "-of-00002.gguf",
        "m-00001-of-99999999999999999999.gguf", "m-0000a-of-00002.gguf", ".gguf", ""}) {
    EXPECT_FALSE(gguf_piece_name(other).has_value()) << other;
  }
}

TEST(GgufPieces, AnyPieceOpensTheWholeModel) {
  const TemporaryFolder folder;
  write_all(folder, three_pieces());
  for (const std::string& path :
       {folder.file(name_of_piece(1)), folder.file(name_of_piece(2)), folder.file(name_of_piece(3)), folder.path()}) {
    const Result<ModelFile> opened = ModelFile::open(path);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    const ModelFile& model = opened.value();
    EXPECT_EQ(model.metadata().text("general.name").value(), "tiny");
    for (const Metadata::Entry& entry : model.metadata().entries()) {
      EXPECT_FALSE(entry.key.starts_with("split.")) << "what is written of it would say that it is a piece";
    }
    ASSERT_EQ(model.tensors().size(), 4u);
    float value = 0;
    for (const char* name : {"a", "b", "c", "d"}) {
      const StoredTensor* tensor = model.find(name);
      ASSERT_NE(tensor, nullptr) << name;
      EXPECT_EQ(tensor->view.as<const float>()(0), ++value);
      float read = 0;
      const std::span<const std::byte> bytes(tensor->view.data(), sizeof(float));
      ASSERT_TRUE(model.read(bytes, reinterpret_cast<std::byte*>(&read)).ok());
      EXPECT_EQ(read, value);
      model.forget(bytes);
    }
    EXPECT_EQ(open_first_gguf_piece(folder.file(name_of_piece(3))).value().metadata().text("general.name").value(),
              "tiny");
  }
}

TEST(GgufPieces, AFirstPieceMayHoldNoTensors) {
  const TemporaryFolder folder;
  std::vector<Piece> pieces = three_pieces();
  pieces[0].tensors.clear();
  for (Piece& piece : pieces) piece.tensors_in_all = 3;
  write_all(folder, pieces);
  EXPECT_EQ(ModelFile::open(folder.file(name_of_piece(1))).value().tensors().size(), 3u);
}

TEST(GgufPieces, WhatSaysThatItIsWholeIsOne) {
  for (const std::uint16_t count : {std::uint16_t{0}, std::uint16_t{1}}) {
    const TemporaryFolder folder;
    write_piece(folder.file("merged.gguf"), {.count = count, .tensors_in_all = 7, .tensors = {{"a", 1}}});
    EXPECT_EQ(ModelFile::open(folder.file("merged.gguf")).value().tensors().size(), 1u);
  }
}

TEST(GgufPieces, AFolderWithTwoModelsInPiecesIsNotGuessedAt) {
  const TemporaryFolder folder;
  write_all(folder, three_pieces());
  write_piece(folder.file("n-00001-of-00002.gguf"), {.count = 2, .tensors = {{"a", 1}}});
  expect_one_error(folder.path(), name_of_piece(1), "found 2");
  for (const int piece : {1, 2}) write_piece(folder.file(name_of_piece(piece, 2)), {.count = 2, .tensors = {}});
  expect_one_error(folder.path(), "m-00001-of-0000", "found 3");
}

// What was done to a piece, which file the error names, and what it says.
struct Mutation {
  int piece;
  std::function<void(Piece&)> change;
  std::string_view part;
};

template <class Value>
std::function<void(Piece&)> with(std::string_view key, Value value) {
  return [=](Piece& piece) {
    if constexpr (std::is_same_v<Value, const char*>) {
      piece.more.set_text(key, value);
    } else {
      piece.more.set_scalar(key, value);
    }
  };
}

std::function<void(Piece&)> without(const char* key) {
  return [=](Piece& piece) { piece.left_out.emplace_back(key); };
}

std::function<void(Piece&)> with_tensor(const char* name) {
  return [=](Piece& piece) { piece.tensors.push_back({name, 9}); };
}

TEST(GgufPieces, WhatEachPieceSaysIsHeldAgainstTheOthers) {
  using u16 = std::uint16_t;
  const std::vector<Mutation> mutations = {
      {1, with("split.no", u16{1}), "split.no"},
      {1, with("split.no", u16{3}), "split.no"},
      {1, with("split.no", u16{65535}), "split.no"},
      {1, with("split.no", std::int32_t{-1}), "split.no"},
      {1, with("split.no", "0"), "split.no"},
      {1, with("split.no", 0.0f), "split.no"},
      {1, without("split.no"), "split.no"},
      {1, with("split.count", u16{2}), "split.count"},
      {1, with("split.count", u16{4}), "split.count"},
      {1, with("split.count", std::uint32_t{4000000000}), "at most 65535"},
      {1, with("split.count", ~std::uint64_t{0}), "split.count"},
      {1, with("split.count", "3"), "split.count"},
      {1, with("split.tensors.count", std::int32_t{3}), "split.tensors.count: expected 3"},
      {1, with("split.tensors.count", std::int32_t{5}), "split.tensors.count: expected 5"},
      {1, with("split.tensors.count", std::int32_t{-4}), "split.tensors.count"},
      {1, with("split.tensors.count", std::int64_t{1} << 62), "split.tensors.count"},
      {1, with("split.tensors.count", "4"), "split.tensors.count"},
      {1, without("split.tensors.count"), "split.tensors.count"},
      {2, with("split.no", u16{0}), "split.no: expected 1, found 0"},
      {2, with("split.no", u16{2}), "split.no: expected 1, found 2"},
      {2, with("split.no", "1"), "split.no"},
      {2, without("split.no"), "split.no"},
      {2, with("split.count", u16{0}), "a file that is no piece"},
      {2, with("split.count", u16{1}), "a file that is no piece"},
      {2, with("split.count", u16{2}), "split.count: expected 3, found 2"},
      {2, with("split.count", u16{4}), "split.count: expected 3, found 4"},
      {2, with("split.count", "3"), "split.count"},
      {2, without("split.count"), "a file that is no piece"},
      {2, with("split.tensors.count", std::int32_t{5}), "split.tensors.count: expected 4, found 5"},
      {2, with("split.tensors.count", true), "split.tensors.count"},
      {2, without("split.tensors.count"), "split.tensors.count"},
      {2, with("general.architecture", "gpt2"), "another model's"},
      {2, with("general.name", "small"), "'general.name'"},
      {2, with("general.name", 4.0f), "'general.name'"},
      {2, with_tensor("a"), "found 'a' in 'm-00001-of-00003.gguf' as well"},
      {3, with_tensor("b"), "found 'b' in 'm-00002-of-00003.gguf' as well"},
      {3, with("split.no", u16{1}), "split.no: expected 2, found 1"},
      {3, with("split.count", u16{3000}), "split.count: expected 3, found 3000"},
      {3, with("split.tensors.count", std::int32_t{0}), "split.tensors.count: expected 4, found 0"},
      {3, with("general.architecture", "qwen2"), "'general.architecture'"},
  };
  for (const Mutation& mutation : mutations) {
    SCOPED_TRACE(std::string(mutation.part) + " of piece " + std::to_string(mutation.piece));
    const TemporaryFolder folder;
    std::vector<Piece> pieces = three_pieces();
    mutation.change(pieces[static_cast<std::size_t>(mutation.piece) - 1]);
    write_all(folder, pieces);
    expect_one_error(folder.file(name_of_piece(1)), name_of_piece(mutation.piece), mutation.part);
  }
}

TEST(GgufPieces, TensorsAreCountedOverAllPieces) {
  for (const int piece : {0, 1, 2}) {
    const TemporaryFolder more, fewer;
    std::vector<Piece> pieces = three_pieces();
    with_tensor("e")(pieces[static_cast<std::size_t>(piece)]);
    write_all(more, pieces);
    expect_one_error(more.file(name_of_piece(2)), name_of_piece(1), "expected 4 tensors in all 3 pieces, found 5");
    pieces = three_pieces();
    pieces[static_cast<std::size_t>(piece)].tensors.pop_back();
    write_all(fewer, pieces);
    expect_one_error(fewer.file(name_of_piece(3)), name_of_piece(1), "expected 4 tensors in all 3 pieces, found 3");
  }
}

TEST(GgufPieces, GapsAreToldByName) {
  for (const int missing : {1, 2, 3}) {
    const TemporaryFolder folder;
    write_all(folder, three_pieces());
    std::filesystem::remove(folder.file(name_of_piece(missing)));
    expect_one_error(folder.file(name_of_piece(missing == 3 ? 1 : 3)), name_of_piece(missing), "found 2: missing");
    expect_one_error(folder.path(), name_of_piece(missing), "found 2: missing");
  }
  const TemporaryFolder folder;
  write_piece(folder.file(name_of_piece(7, 9)), {.number = 6, .count = 9, .tensors = {{"a", 1}}});
  expect_one_error(folder.file(name_of_piece(7, 9)), name_of_piece(1, 9), "found 1: missing");
  expect_one_error(folder.file(name_of_piece(7, 9)), name_of_piece(3, 9) + ", ...", "expected all 9 pieces");
}

TEST(GgufPieces, FilesUnderAnotherNameAreRefused) {
  const TemporaryFolder folder;
  write_all(folder, three_pieces());
  const auto renamed = [&](std::string_view name) {
    std::filesystem::copy_file(folder.file(name_of_piece(1)), folder.file(name));
    return folder.file(name);
  };
  expect_one_error(renamed("first.gguf"), "first.gguf", "expected a name such as");
  expect_one_error(renamed("blob"), "blob", "expected a name such as");
  expect_one_error(renamed("x-1-of-3.gguf"), "x-1-of-3.gguf", "expected a name such as");
  expect_one_error(renamed("x-00001-of-00004.gguf"), "x-00001-of-00004.gguf", "split.count: expected 4");
  expect_one_error(renamed("x-00002-of-00003.gguf"), "x-00002-of-00003.gguf", "was the file renamed?");
  expect_one_error(renamed("y-00001-of-00003.gguf"), "y-00002-of-00003.gguf, y-00003-of-00003.gguf", "missing");
}

TEST(GgufPieces, PiecesThatEndTooEarlyAreToldByName) {
  const TemporaryFolder folder;
  write_all(folder, three_pieces());
  for (const int piece : {1, 2, 3}) {
    const std::string path = folder.file(name_of_piece(piece));
    const auto size = std::filesystem::file_size(path);
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    // The last 32 bytes are a tensor; of the first two pieces' there are more before them.
    for (const std::uintmax_t length : {std::uintmax_t{0}, std::uintmax_t{3}, std::uintmax_t{20}, size / 4, size / 2,
                                        size - 65, size - 33, size - 32, size - 31, size - 1}) {
      SCOPED_TRACE(std::to_string(piece) + " cut at " + std::to_string(length));
      std::filesystem::resize_file(path, length);
      expect_one_error(folder.file(name_of_piece(1)), name_of_piece(piece), "expected");
    }
    folder.write(name_of_piece(piece), bytes.str());
  }
  EXPECT_TRUE(ModelFile::open(folder.file(name_of_piece(1))).ok());
}

TEST(GgufPieces, WhatIsNoFileOrNoGgufInTheirPlaceIsToldByName) {
  const TemporaryFolder folder;
  write_all(folder, three_pieces());
  const std::string second = folder.file(name_of_piece(2));
  std::filesystem::remove(second);
  std::filesystem::create_directory(second);
  expect_one_error(folder.file(name_of_piece(1)), name_of_piece(2), "a folder");
  std::filesystem::remove(second);
  std::filesystem::create_symlink(folder.file("nowhere"), second);
  expect_one_error(folder.file(name_of_piece(1)), name_of_piece(2), "missing");
  std::filesystem::remove(second);
  folder.write(name_of_piece(2), "<html>Not found</html>");
  expect_one_error(folder.file(name_of_piece(1)), name_of_piece(2), "'GGUF'");
  std::filesystem::remove(second);
  std::filesystem::copy_file(folder.file(name_of_piece(3)), second);
  expect_one_error(folder.file(name_of_piece(1)), name_of_piece(2), "split.no: expected 1, found 2");
}

TEST(GgufPieces, OneInMemoryIsRefused) {
  const TemporaryFolder folder;
  write_all(folder, three_pieces());
  const MappedFile file = MappedFile::open(folder.file(name_of_piece(1))).value();
  const Result<ModelFile> model = ModelFile::parse_gguf(file.bytes());
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().text().find("one of 3 pieces"), std::string_view::npos) << model.error().text();
}

}  // namespace
}  // namespace ingot
