# Cross-builds for x86_64 Linux with Debian's cross compiler; the products run under qemu-x86_64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER x86_64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-x86_64 -cpu max)

# Programs come from this machine. So do headers and package files, because only header-only packages are used in a
# cross-build; libraries are left to the compiler, which knows where its own are.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-linux-gnu)

include("${CMAKE_CURRENT_LIST_DIR}/static-libm.cmake")
ingot_mend_static_libm(${CMAKE_CXX_COMPILER})
