# Suites (an operation's oracle and cases) and reference kernels.

set(HONE_THRUST_HOST TBB CACHE STRING "What the references' Thrust runs on: TBB, OMP or CPP (one thread)")
set_property(CACHE HONE_THRUST_HOST PROPERTY STRINGS TBB OMP CPP)

# hone_add_suite(<op> [ORACLE <file>] [CASES <glob>…] [REFERENCE <kernel>] [NULLS <kind>…])
# The folder holds op.h (the C ABI), oracle.cpp (defines hone_operation()) and null.cu. Makes
#   <op>_verify, <op>_bench      programs that judge and time a candidate's library
#   suites.<op>.null.<kind>      tests: null.cu's entry of this kind must be judged not correct
# Defaults: oracle.cpp, cases/*.json, the kernel named like the suite, and every kind of null.cuh.
# The entry is the function that op.h declares. An oracle_test.cpp becomes a unit test.
function(hone_add_suite op)
  cmake_parse_arguments(ARG "" "ORACLE;REFERENCE" "CASES;NULLS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Hone: hone_add_suite(${op}): unknown argument(s): ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(default ORACLE=oracle.cpp CASES=cases/*.json REFERENCE=${op})
    string(REGEX MATCH "^([A-Z]+)=(.*)$" unused "${default}")
    if(NOT DEFINED ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  _hone_entry(entry ${dir})
  if(NOT entry)
    message(FATAL_ERROR "Hone: hone_add_suite(${op}): ${dir}/op.h declares no function: extern \"C\" cudaError_t name(…)")
  endif()

  # The oracle is compiled once for both programs; its Thrust runs on the host.
  add_library(${op}_oracle OBJECT ${ARG_ORACLE})
  target_include_directories(${op}_oracle PRIVATE ${dir})
  target_include_directories(${op}_oracle SYSTEM PRIVATE ${HONE_CUDA_INCLUDE})
  target_compile_definitions(${op}_oracle PRIVATE
    THRUST_HOST_SYSTEM=THRUST_HOST_SYSTEM_${HONE_THRUST_HOST}
    THRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_${HONE_THRUST_HOST})
  target_compile_features(${op}_oracle PRIVATE cxx_std_20)
  target_link_libraries(${op}_oracle PUBLIC Hone::oracle)
  if(TARGET hone_warnings)
    target_link_libraries(${op}_oracle PRIVATE hone_warnings)
  endif()
  if(HONE_THRUST_HOST STREQUAL "TBB")
    find_package(TBB REQUIRED)
    target_link_libraries(${op}_oracle PUBLIC TBB::tbb)
  elseif(HONE_THRUST_HOST STREQUAL "OMP")
    find_package(OpenMP REQUIRED COMPONENTS CXX)
    target_link_libraries(${op}_oracle PUBLIC OpenMP::OpenMP_CXX)
  endif()
  foreach(program verify bench)
    add_executable(${op}_${program})
    target_link_libraries(${op}_${program} PRIVATE ${op}_oracle Hone::oracle_${program})
    set_target_properties(${op}_${program} PROPERTIES LINKER_LANGUAGE CXX
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
    add_dependencies(${op}_${program} Hone::candidate)
  endforeach()

  if(EXISTS ${dir}/oracle_test.cpp AND COMMAND hone_test)
    hone_test(${op}_oracle_test SOURCES oracle_test.cpp LIBRARIES ${op}_oracle)
  endif()

  if(EXISTS ${dir}/null.cu AND NOT (PROJECT_NAME STREQUAL "Hone" AND NOT HONE_BUILD_TESTS))
    if(NOT DEFINED ARG_NULLS)
      set(ARG_NULLS noop zeros constant copy half mean replay pointer content stream nothing)
    endif()
    _hone_cuda_library(${op}_null ${dir} SOURCES null.cu
                       FLAGS -I${HONE_NULL_DIR} DEPENDS ${HONE_NULL_DIR}/null.cuh)
    foreach(kind IN LISTS ARG_NULLS)
      _hone_oracle_test(suites.${op}.null.${kind} ${op}_verify "kernels;oracle-selftest"
                        --candidate=${CMAKE_CURRENT_BINARY_DIR}/lib${op}_null.so
                        --entry=${entry}_${kind} --expect-incorrect --seed=1)
    endforeach()
  endif()

  list(TRANSFORM ARG_CASES PREPEND "${dir}/")
  _hone_record_suite(${op} ${dir} ${entry} "${ARG_REFERENCE}" "${ARG_CASES}")
endfunction()

function(_hone_entry out dir)
  file(STRINGS ${dir}/op.h declaration REGEX "extern \"C\" cudaError_t [A-Za-z0-9_]+\\(")
  string(REGEX MATCH "cudaError_t ([A-Za-z0-9_]+)" unused "${declaration}")
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

function(_hone_record_suite op dir entry reference cases)
  set(verify $<TARGET_FILE:${op}_verify>)
  set(bench $<TARGET_FILE:${op}_bench>)
  set(header ${dir}/op.h)
  _hone_json(json STRING name op STRING dir dir STRING verify verify STRING bench bench
             STRING header header STRING entry entry STRING reference reference
             LIST cases cases LOCATION)
  _hone_record(suites ${op} "${json}")
endfunction()

# _hone_add_installed_suite(<op>): one that an installed Hone comes with, where it is not declared.
function(_hone_add_installed_suite op)
  get_property(declared GLOBAL PROPERTY HONE_suites_NAMES)
  set(dir ${HONE_SUITES_DIR}/${op})
  if(op IN_LIST declared OR NOT HONE_SUITES_DIR OR NOT EXISTS ${dir}/op.h)
    return()
  endif()
  _hone_entry(entry ${dir})
  foreach(program verify bench)
    add_executable(${op}_${program} ALIAS Hone::${op}_${program})
  endforeach()
  _hone_record_suite(${op} ${dir} ${entry} "" "${dir}/cases/*.json")
endfunction()

# hone_add_kernel(<name> [SUITE <op>]): a reference kernel, a build.toml project in this folder.
# Builds its library and makes the tests kernels.<name>.verify (must be correct) and
# kernels.<name>.bench, under label gpu also kernels.<name>.gpu.verify and .bench, which skip where
# there is no GPU.
function(hone_add_kernel name)
  cmake_parse_arguments(ARG "" "SUITE" "" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "Hone: hone_add_kernel(${name}): unknown argument(s): ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT EXISTS ${dir}/build.toml)
    message(FATAL_ERROR "Hone: hone_add_kernel(${name}): ${dir}/build.toml is not there")
  endif()
  if(NOT ARG_SUITE)
    set(ARG_SUITE ${name})
  endif()
  file(GLOB sources RELATIVE ${dir} CONFIGURE_DEPENDS ${dir}/kernel_src/*.cu)
  _hone_cuda_library(kernel_${name} ${dir} SOURCES ${sources})
  set(library ${CMAKE_CURRENT_BINARY_DIR}/libkernel_${name}.so)
  _hone_oracle_test(kernels.${name}.verify ${ARG_SUITE}_verify kernels
                    --candidate=${library} --json=${CMAKE_CURRENT_BINARY_DIR}/verify.json)
  _hone_oracle_test(kernels.${name}.bench ${ARG_SUITE}_bench kernels
                    --candidate=${library} --json=${CMAKE_CURRENT_BINARY_DIR}/bench.json)
  foreach(program verify bench)
    add_test(NAME kernels.${name}.gpu.${program} COMMAND sh -c
      "test -e /dev/nvidiactl || { echo 'no GPU: /dev/nvidiactl is absent'; exit 77; }; exec \"$@\""
      sh $<TARGET_FILE:${ARG_SUITE}_${program}> --candidate=${library} --device=gpu
      --runner=$<TARGET_FILE:Hone::candidate>)
    set_tests_properties(kernels.${name}.gpu.${program} PROPERTIES LABELS gpu TIMEOUT 900
                         ENVIRONMENT HONE_CUDART_DIR=${HONE_CUDART_DIR}
                         SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
  endforeach()
  _hone_json(json STRING name name STRING dir dir STRING suite ARG_SUITE STRING library library
             LOCATION)
  _hone_record(kernels ${name} "${json}")
endfunction()

# _hone_cuda_library(<target> <dir> SOURCES <file>… [FLAGS …] [DEPENDS <file>…]): lib<target>.so, as
# answers are built: sm_90 code and PTX, shared cudart. Objects first: ccache keeps those.
function(_hone_cuda_library target dir)
  cmake_parse_arguments(ARG "" "" "SOURCES;FLAGS;DEPENDS" ${ARGN})
  set(library ${CMAKE_CURRENT_BINARY_DIR}/lib${target}.so)
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h ${dir}/kernel_src/*.h ${dir}/kernel_src/*.cuh)
  set(arch -gencode arch=compute_90,code=[sm_90,compute_90])
  set(objects "")
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(stem ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.${stem}.o)
    add_custom_command(
      OUTPUT ${object} DEPENDS ${dir}/${source} ${headers} ${ARG_DEPENDS}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${HONE_NVCC} ${arch} -O3 -std=c++17 -lineinfo
              --cudart shared -Xcompiler -fPIC ${ARG_FLAGS} -I${dir} -c -o ${object} ${dir}/${source}
      COMMENT "nvcc ${target}: ${source}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(
    OUTPUT ${library} DEPENDS ${objects}
    COMMAND ${HONE_NVCC} ${arch} --cudart shared -shared -o ${library} ${objects}
    COMMENT "nvcc lib${target}.so" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${library})
endfunction()

# _hone_oracle_test(<test> <program target> <labels> <argument>…): for code of this project, which
# no sandbox need hold.
function(_hone_oracle_test test program labels)
  add_test(NAME ${test} COMMAND ${program} --allow-execution=unsandboxed
           --runner=$<TARGET_FILE:Hone::candidate> --cudasim=$<TARGET_FILE_DIR:Hone::cudasim> ${ARGN})
  set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT 900)
endfunction()
