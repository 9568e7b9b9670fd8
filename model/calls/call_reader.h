// One call in a model's own spelling, from behind its opening mark to its end, while it comes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls/call_parser.h"
#include "model/calls/known_tool.h"

namespace ingot::calls {

class CallReader {
 public:
  enum class Status : std::uint8_t { reading, done, failed };

  CallReader(const CallSpelling& spelling, std::span<const KnownTool> tools, std::size_t call);

  // Takes what it understands from the front of a text, and says how many bytes that is. What it leaves comes again,
  // with more behind it.
  std::size_t take(std::string_view text, std::vector<AnswerPiece>& pieces);
  // Nothing follows what was left: a number at the end is complete, and so is a call that no mark closes.
  void finish(std::string_view rest, std::vector<AnswerPiece>& pieces);

  Status status() const { return status_; }
  // Whether the call was told.
  bool has_begun() const { return has_begun_; }
  // What was taken and is in no piece.
  const std::string& untold() const { return untold_; }

 private:
  // How many bytes were taken; nothing: more must come first.
  using Step = std::optional<std::size_t>;
  static constexpr std::size_t longest_name = 256;

  enum class ObjectPlace : std::uint8_t { open, key, key_text, colon, value, next };
  enum class TagPlace : std::uint8_t { between, key, value_begin, value };

  Step fail();
  Step step(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step step_part(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step step_arguments(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step step_literal(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step step_object(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step step_tags(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step begin_tag_or_end(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step read_tag_key(std::string_view rest);
  Step begin_tag_value(std::string_view rest);
  Step read_tag_value(std::string_view rest, std::vector<AnswerPiece>& pieces);
  void finish_tags(std::string_view rest, std::vector<AnswerPiece>& pieces);
  Step skip_to_next_part(std::string_view rest, std::string& skipped);
  std::size_t end_of_tool_name(std::string_view rest, std::span<const std::string_view> heads,
                               std::size_t first_end) const;

  bool take_object_byte(char byte, std::vector<AnswerPiece>& pieces);
  bool take_member_value(char byte, std::vector<AnswerPiece>& pieces);
  bool end_member(std::vector<AnswerPiece>& pieces);
  bool end_object(std::vector<AnswerPiece>& pieces);

  void tell_begin(std::string name, std::vector<AnswerPiece>& pieces);
  void tell_arguments(std::string json, std::vector<AnswerPiece>& pieces);
  void tell_end(std::vector<AnswerPiece>& pieces);
  // Where the value's mark stands in what comes, not counting those in texts of JSON; nothing: it has not come.
  std::optional<std::size_t> find_value_end(std::string_view rest, std::string_view mark);
  std::string value_as_json(std::string_view text) const;

  const CallSpelling& spelling_;
  std::span<const KnownTool> tools_;
  std::size_t call_;
  Status status_ = Status::reading;
  bool has_begun_ = false;
  std::string untold_;
  std::string name_;
  const KnownTool* tool_ = nullptr;  // none is known by that name, or it was not told yet

  std::size_t part_ = 0;
  LiteralRewriter literal_;
  std::string json_;  // what the literal has written and nobody was told

  ObjectPlace object_place_ = ObjectPlace::open;
  std::string key_;
  std::string early_arguments_;  // those that came before the name
  bool has_arguments_ = false;

  TagPlace tag_place_ = TagPlace::between;
  bool is_first_tag_ = true;
  bool is_in_text_marks_ = false;
  bool is_text_open_ = false;  // its quote was told
  ParameterKind parameter_ = ParameterKind::unknown;
  // Of the value that is being waited for.
  std::size_t searched_ = 0;
  std::size_t scanned_ = 0;
  LiteralRewriter scanner_{LiteralSyntax{}};
};

}  // namespace ingot::calls
