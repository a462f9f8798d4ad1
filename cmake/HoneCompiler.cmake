# Language level, warnings, ccache and sanitizers for Hone's own targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(HONE_CCACHE ccache)
if(HONE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${HONE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HONE_CCACHE})
endif()

add_library(hone_warnings INTERFACE)
target_compile_options(hone_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                               -Woverloaded-virtual -Werror)
if(HONE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
