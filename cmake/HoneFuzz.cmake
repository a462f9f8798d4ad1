# Fuzzing with libFuzzer: cmake -B build-fuzz -DHONE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++ …
if(HONE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "HONE_FUZZ needs Clang for libFuzzer: configure with -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
set(HONE_FUZZ_SECONDS 300 CACHE STRING "Seconds that the target fuzz gives each fuzzed part")

# hone_fuzz(<name> SOURCE <file> LIBRARY <target> SEEDS <nvcc option> <.cu …>)
# Makes <name> and <name>_run, which fuzzes from the seeds that nvcc makes of the files; the target
# fuzz runs all. Does nothing without HONE_FUZZ.
function(hone_fuzz name)
  if(NOT HONE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SOURCE;LIBRARY" "SEEDS" ${ARGN})
  list(POP_FRONT ARG_SEEDS option)
  add_executable(${name} ${ARG_SOURCE})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARY} hone_warnings)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/${name}_corpus)
  file(MAKE_DIRECTORY ${corpus})
  foreach(file ${ARG_SEEDS})
    get_filename_component(seed ${file} NAME_WE)
    add_custom_command(OUTPUT ${corpus}/${seed}.seed DEPENDS ${file}
      COMMAND ${HONE_NVCC} ${option} -std=c++17 -arch=sm_90 -lineinfo ${file} -o ${corpus}/${seed}.seed)
    list(APPEND seeds ${corpus}/${seed}.seed)
  endforeach()
  add_custom_target(${name}_run DEPENDS ${name} ${seeds} USES_TERMINAL
    COMMAND ${name} -max_total_time=${HONE_FUZZ_SECONDS} -timeout=10 -print_final_stats=1
            -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${corpus})
  if(NOT TARGET fuzz)
    add_custom_target(fuzz)
  endif()
  add_dependencies(fuzz ${name}_run)
endfunction()
