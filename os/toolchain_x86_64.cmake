# The kernel's toolchain: Debian's compiler for x86_64, which has this name on every host, and no library beneath.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER x86_64-linux-gnu-g++)
set(CMAKE_NM x86_64-linux-gnu-nm)
set(CMAKE_OBJCOPY x86_64-linux-gnu-objcopy)
# There is no start-up code to link a test program with.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
