# Installs the headers for C++: those that are named here, every contract, and all that they include.
cmake_policy(VERSION 3.25)
set(roots
  # Models, sessions and texts.
  engine/chat_prompt.h engine/conversation.h engine/default_model.h engine/embedding.h engine/generate_until.h
  engine/generator.h engine/model.h engine/perplexity.h engine/sampler.h engine/sampling_advice.h engine/sequence_file.h
  engine/service.h engine/session.h engine/session_guards.h model/chat/value_json.h model/grammar/json_schema.h
  # Compute kernels: by name, or each by its type.
  kernels/all_operations.h kernels/contract/table.h kernels/pick.h machine/machine.h machine/memory.h
  profile/benchmark.h profile/report_json.h profile/verify.h
  base/version.h)
file(GLOB_RECURSE contracts RELATIVE ${SOURCES} ${SOURCES}/kernels/*.h)
foreach(header IN LISTS contracts)
  file(STRINGS ${SOURCES}/${header} arguments REGEX "^  struct Arguments" LIMIT_COUNT 1)
  if(arguments AND NOT header MATCHES "^kernels/contract/")
    list(APPEND roots ${header})
  endif()
endforeach()

set(waiting ${roots})
set(public)
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST public)
    continue()
  endif()
  list(APPEND public ${header})
  file(STRINGS ${SOURCES}/${header} lines REGEX "^#include \"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    list(APPEND waiting ${included})
  endforeach()
endwhile()

foreach(header IN LISTS public)
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${SOURCES}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/include/ingot/${folder})
endforeach()
