# The public CMake functions: models, skills, evaluations (suites and kernels: HoneSuites.cmake).
# Paths are relative to the calling CMakeLists.txt.
include(HoneManifest)
include(HoneSuites OPTIONAL)

set(HONE_LLAMA_SERVER "${CMAKE_BINARY_DIR}/deps/llama-server/llama-server" CACHE FILEPATH
    "The llama-server program that serves local models")

# hone_add_model(<name> PROVIDER <provider>
#                [ENDPOINT llama-server GGUF <file> [SHA256 <hex>] [CONTEXT <tokens>] [PARALLEL <n>]]
#                [BASE_URL <url>] [MODEL <id>] [API_KEY_ENV <variable>]
#                [TEMPERATURE <t>] [MAX_TOKENS <n>] [SEED <n>])
# A model that evaluations can ask. With ENDPOINT llama-server a local server is started on a free
# loopback port for the tests and ended after them; otherwise BASE_URL names the service. Tests of
# a model whose API_KEY_ENV is not set skip and say so.
function(hone_add_model name)
  cmake_parse_arguments(ARG "" "PROVIDER;ENDPOINT;GGUF;SHA256;CONTEXT;PARALLEL;BASE_URL;MODEL;API_KEY_ENV;TEMPERATURE;MAX_TOKENS;SEED" "" ${ARGN})
  _hone_no_more("hone_add_model(${name})" "${ARG_UNPARSED_ARGUMENTS}")
  if(NOT ARG_PROVIDER)
    message(FATAL_ERROR "Hone: hone_add_model(${name}) needs PROVIDER, e.g. PROVIDER openai")
  endif()
  if(ARG_ENDPOINT AND NOT ARG_ENDPOINT STREQUAL "llama-server")
    message(FATAL_ERROR "Hone: hone_add_model(${name}): ENDPOINT '${ARG_ENDPOINT}' is not known; known: llama-server")
  endif()
  if(ARG_ENDPOINT AND NOT ARG_GGUF)
    message(FATAL_ERROR "Hone: hone_add_model(${name}): ENDPOINT llama-server needs GGUF <file>")
  endif()
  if(ARG_GGUF)
    get_filename_component(ARG_GGUF "${ARG_GGUF}" ABSOLUTE)
  endif()
  foreach(default MODEL=${name} TEMPERATURE=0.7 MAX_TOKENS=1024 SEED=1 CONTEXT=4096 PARALLEL=1)
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" unused "${default}")
    if(NOT DEFINED ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  _hone_json(json STRING name name STRING provider ARG_PROVIDER STRING endpoint ARG_ENDPOINT
             STRING gguf ARG_GGUF STRING gguf_sha256 ARG_SHA256 NUMBER context ARG_CONTEXT
             NUMBER parallel ARG_PARALLEL STRING base_url ARG_BASE_URL STRING model ARG_MODEL
             STRING api_key_env ARG_API_KEY_ENV NUMBER temperature ARG_TEMPERATURE
             NUMBER max_tokens ARG_MAX_TOKENS NUMBER seed ARG_SEED LOCATION)
  _hone_record(models ${name} "${json}")
endfunction()

# hone_add_skill(<name> [DIR <folder with SKILL.md>])
function(hone_add_skill name)
  cmake_parse_arguments(ARG "" "DIR" "" ${ARGN})
  _hone_no_more("hone_add_skill(${name})" "${ARG_UNPARSED_ARGUMENTS}")
  get_filename_component(dir "${ARG_DIR}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  _hone_json(json STRING name name STRING dir dir LOCATION)
  _hone_record(skills ${name} "${json}")
endfunction()

# hone_add_evaluation(<name> SKILL <skill> MODELS <model>… [SUITES <suite>…] [CASES <glob>…]
#                     [RUNS <n>] [GATE <expression>…])
# Asks each model each case RUNS times with and without the skill; makes the tests
# skills.<name>.<model>.<case>.<arm>.<stage> and skills.<name>.<model>.gate.<n>. The target
# hone_evaluations builds what these tests run, and nothing else.
# CASES are files of this evaluation, SUITES bring their own.
function(hone_add_evaluation name)
  cmake_parse_arguments(ARG "" "SKILL;RUNS" "MODELS;SUITES;CASES;GATE" ${ARGN})
  _hone_no_more("hone_add_evaluation(${name})" "${ARG_UNPARSED_ARGUMENTS}")
  if(NOT ARG_SKILL OR NOT ARG_MODELS)
    message(FATAL_ERROR "Hone: hone_add_evaluation(${name}) needs SKILL and MODELS")
  endif()
  if(NOT DEFINED ARG_RUNS)
    set(ARG_RUNS 3)
  endif()
  list(TRANSFORM ARG_CASES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set(what "hone_add_evaluation(${name})")
  set_property(GLOBAL APPEND PROPERTY HONE_CHECKS "${what}|skills|${ARG_SKILL}")
  foreach(model IN LISTS ARG_MODELS)
    set_property(GLOBAL APPEND PROPERTY HONE_CHECKS "${what}|models|${model}")
  endforeach()
  foreach(suite IN LISTS ARG_SUITES)
    set_property(GLOBAL APPEND PROPERTY HONE_CHECKS "${what}|suites|${suite}")
    set_property(GLOBAL APPEND PROPERTY HONE_EVALUATION_PROGRAMS ${suite}_verify ${suite}_bench)
  endforeach()
  _hone_json(json STRING name name STRING skill ARG_SKILL LIST suites ARG_SUITES
             LIST cases ARG_CASES LIST models ARG_MODELS NUMBER runs ARG_RUNS
             LIST gates ARG_GATE LOCATION)
  _hone_record(evaluations ${name} "${json}")
endfunction()

function(_hone_no_more what rest)
  if(rest)
    message(FATAL_ERROR "Hone: ${what}: unknown argument(s): ${rest}")
  endif()
endfunction()
