#include "os/process/executable.h"

#include "os/file/image_file.h"
#include "os/file/process_files.h"
#include "os/process/process.h"
#include "os/process/program_places.h"

namespace ingot::os {

namespace {

Result<Reference<Node>> find_file(Process& process, std::string_view what, std::string_view path) {
  FileTree& tree = process.files().tree();
  Answer<Reference<Node>> node = tree.find(tree.root(), path, LastLink::followed);
  if (!node.ok()) return Error::of(ErrorCode::not_found, "expected ", what, path, ", found ", name_of(node.error()));
  if (node.value()->as_image_file() == nullptr) {
    return Error::of(ErrorCode::invalid_argument, "expected ", path, " to be a file of the image, found another");
  }
  return std::move(node).value();
}

ProgramFile content_of(const Reference<Node>& node) {
  ImageFile& file = *node->as_image_file();
  return {file.content().bytes, &file.mapping(), node};
}

Result<LoadedProgram> load_interpreter(Process& process, std::string_view path) {
  const Reference<Node> node = TRY(find_file(process, "the program's interpreter ", path));
  if (TRY(interpreter_of(content_of(node)))) {
    return Error::of(ErrorCode::unsupported, "expected an interpreter that stands alone, found that ", path,
                     " needs one, too");
  }
  ProgramMemory& memory = process.memory();
  return load_program(memory.space(), memory.zeroes(), content_of(node), memory.draw(program_places::interpreter));
}

}  // namespace

Result<Executable> load_executable(Process& process, std::string_view path) {
  const Reference<Node> node = TRY(find_file(process, "the program ", path));
  ProgramMemory& memory = process.memory();
  Executable executable;
  executable.program =
      TRY(load_program(memory.space(), memory.zeroes(), content_of(node), memory.draw(program_places::program)));
  memory.begin_heap(executable.program.end);
  if (const std::optional<std::string_view> interpreter = TRY(interpreter_of(content_of(node)))) {
    executable.interpreter = TRY(load_interpreter(process, *interpreter));
  }
  return executable;
}

}  // namespace ingot::os
