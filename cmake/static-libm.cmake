# The libm.a of a foreign architecture may be a linker script that names files where they would lie on a machine of
# that architecture (/usr/lib/x86_64-linux-gnu/libm-2.36.a), while the cross package keeps them beside the script.
# Static linking then fails. This writes a script with the paths mended into the build folder and puts it first on
# the linker's search path. It does nothing where libm.a is a plain archive or its paths exist.
#
# ingot_mend_static_libm(<compiler>): included by the toolchain files, which also run inside try_compile.
function(ingot_mend_static_libm compiler)
  execute_process(COMMAND ${compiler} -print-file-name=libm.a
    OUTPUT_VARIABLE script_path OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0 OR NOT IS_ABSOLUTE "${script_path}" OR NOT EXISTS "${script_path}")
    return()
  endif()
  file(READ "${script_path}" magic LIMIT 8)
  if(magic MATCHES "^!<arch>")
    return()
  endif()

  file(READ "${script_path}" script)
  get_filename_component(beside "${script_path}" DIRECTORY)
  string(REGEX MATCHALL "/[^ \t\n()]+\\.a" named_archives "${script}")
  set(mended "${script}")
  foreach(archive IN LISTS named_archives)
    get_filename_component(name "${archive}" NAME)
    if(NOT EXISTS "${archive}" AND EXISTS "${beside}/${name}")
      string(REPLACE "${archive}" "${beside}/${name}" mended "${mended}")
    endif()
  endforeach()
  if(mended STREQUAL script)
    return()
  endif()

  set(folder "${CMAKE_BINARY_DIR}/static-libm")
  file(CONFIGURE OUTPUT "${folder}/libm.a" CONTENT "${mended}" @ONLY)
  # A program that is not static looks here first as well, and must find the shared one.
  execute_process(COMMAND ${compiler} -print-file-name=libm.so OUTPUT_VARIABLE shared OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${shared}")
    file(CONFIGURE OUTPUT "${folder}/libm.so" CONTENT "INPUT ( ${shared} )\n" @ONLY)
  endif()
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${folder}" PARENT_SCOPE) # set, not added to: CMake reads a toolchain file twice
endfunction()
