# Device sources, *_cuda.cu: compiled by nvcc into modules that a program carries, and by the host's compiler into functions
# that an emulated device runs. This sets, for all folders:
#   INGOT_NVCC           nvcc of CUDA 12.4 or later: on the PATH, or fetched by `make gpu` into BUILD/cuda; empty: none
#   INGOT_CUDA_VERSION   what a driver must be for at least, 13000 for CUDA 13.0
#   INGOT_HAS_MODULES    whether there are modules: nvcc, or what a neighbouring build made with it
set(INGOT_MODULES "" CACHE PATH "folder of modules that another build compiled; empty: this one compiles them")
set(INGOT_MODULES_VERSION "" CACHE STRING "and INGOT_CUDA_VERSION of that build")
set(INGOT_CHIPS "80;90a" CACHE STRING "chips that modules are compiled for: 80 (8.0, and any later one when it first loads them), 90a (9.0)")

# Sets `nvcc` and `version` of the first that is there and new enough.
function(ingot_find_nvcc)
  find_program(on_path nvcc NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
  find_program(fetched nvcc PATHS ${CMAKE_BINARY_DIR}/cuda/nvidia/cu13/bin NO_DEFAULT_PATH NO_CACHE NO_CMAKE_FIND_ROOT_PATH)
  foreach(candidate IN ITEMS ${on_path} ${fetched})
    if(candidate MATCHES "-NOTFOUND$")
      continue()
    endif()
    execute_process(COMMAND ${candidate} --version OUTPUT_VARIABLE text RESULT_VARIABLE status ERROR_QUIET)
    if(NOT status EQUAL 0 OR NOT text MATCHES "release ([0-9]+)\\.([0-9]+)")
      continue()
    endif()
    math(EXPR found_version "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
    if(found_version GREATER_EQUAL 12040)
      set(nvcc ${candidate} PARENT_SCOPE)
      set(version ${found_version} PARENT_SCOPE)
      return()
    endif()
    message(STATUS "${candidate}: expected CUDA 12.4 or later, found ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  endforeach()
endfunction()

set(INGOT_NVCC "")
set(INGOT_CUDA_VERSION 13000)
set(INGOT_HAS_MODULES OFF)
if(INGOT_MODULES)
  set(INGOT_HAS_MODULES ON)
  set(INGOT_CUDA_VERSION ${INGOT_MODULES_VERSION})
elseif(NOT INGOT_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(nvcc "")
  ingot_find_nvcc()
  if(nvcc)
    set(INGOT_NVCC ${nvcc})
    set(INGOT_CUDA_VERSION ${version})
    set(INGOT_HAS_MODULES ON)
    message(STATUS "Device sources are compiled by ${nvcc}")
  endif()
endif()

# Bits depend on arguments alone: products and sums fuse where a source says so.
set(ingot_nvcc_flags -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr -Werror all-warnings -Xptxas -v)
foreach(chip IN LISTS INGOT_CHIPS)
  list(APPEND ingot_nvcc_flags -gencode arch=compute_${chip},code=sm_${chip})
  if(chip STREQUAL "80")
    list(APPEND ingot_nvcc_flags -gencode arch=compute_80,code=compute_80)
  endif()
endforeach()

# The module of a source as BUILD/device/MODULE.fatbin, and what the assembler said of its functions as MODULE.txt.
# By way of an object: ccache knows nvcc's -c and not its -fatbin; the section is what -fatbin would have written.
function(ingot_compile_module source module fatbin)
  set(folder ${CMAKE_BINARY_DIR}/device)
  file(MAKE_DIRECTORY ${folder})
  set(base ${folder}/${module})
  string(JOIN " " command ${CMAKE_CXX_COMPILER_LAUNCHER} ${INGOT_NVCC} -c ${ingot_nvcc_flags} -I${CMAKE_SOURCE_DIR}
    -MD -MF ${base}.d -o ${base}.o ${source})
  add_custom_command(OUTPUT ${base}.o BYPRODUCTS ${base}.txt
    COMMAND sh -c "${command} >${base}.txt 2>&1 || { cat ${base}.txt >&2; exit 1; }"
    DEPENDS ${source} ${INGOT_NVCC} DEPFILE ${base}.d COMMENT "Compiling ${module} for GPUs" VERBATIM)
  add_custom_command(OUTPUT ${fatbin} DEPENDS ${base}.o
    COMMAND ${CMAKE_OBJCOPY} -O binary --only-section=.nv_fatbin ${base}.o ${fatbin}
    COMMENT "Taking the module out of ${module}.o" VERBATIM)
endfunction()

# ingot_device_sources(NAME [COMPILED_ONLY] SOURCES ...): the objects NAME_binaries, modules under the names of
# machine/gpu/device_function.h, where there are modules; and the objects NAME_emulated, unless COMPILED_ONLY.
function(ingot_device_sources name)
  cmake_parse_arguments(DEVICE "COMPILED_ONLY" "" "SOURCES" ${ARGN})
  set(embedded)
  foreach(source IN LISTS DEVICE_SOURCES)
    get_filename_component(module ${source} NAME_WE)
    if(INGOT_MODULES)
      set(fatbin ${INGOT_MODULES}/${module}.fatbin)
    else()
      set(fatbin ${CMAKE_BINARY_DIR}/device/${module}.fatbin)
    endif()
    if(INGOT_NVCC)
      ingot_compile_module(${source} ${module} ${fatbin})
    endif()
    configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_module.cc.in ${CMAKE_CURRENT_BINARY_DIR}/${module}_embedded.cc @ONLY)
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${module}_embedded.cc PROPERTIES OBJECT_DEPENDS ${fatbin})
    list(APPEND embedded ${CMAKE_CURRENT_BINARY_DIR}/${module}_embedded.cc)
  endforeach()
  if(INGOT_HAS_MODULES)
    ingot_objects(${name}_binaries ${embedded})
    # Not through ccache, which does not see that the object changes with the file that the assembler includes.
    set_target_properties(${name}_binaries PROPERTIES CXX_COMPILER_LAUNCHER "")
  endif()
  if(NOT DEVICE_COMPILED_ONLY)
    set_source_files_properties(${DEVICE_SOURCES} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++"
      COMPILE_DEFINITIONS INGOT_EMULATED)
    ingot_objects(${name}_emulated ${DEVICE_SOURCES})
    if(DEVICE_SOURCES)
      ingot_compute(${name}_emulated)
    endif()
  endif()
endfunction()

# Objects to link; where there are no sources, nothing to link.
function(ingot_objects name)
  if(ARGN)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PUBLIC ingot_base)
  else()
    add_library(${name} INTERFACE)
  endif()
endfunction()
