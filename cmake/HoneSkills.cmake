# The public CMake functions: models, skills, evaluations (suites and kernels: HoneSuites.cmake).
# Paths are relative to the calling CMakeLists.txt.
include(${CMAKE_CURRENT_LIST_DIR}/HoneManifest.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/HoneSuites.cmake)

set(HONE_LLAMA_SERVER "${CMAKE_BINARY_DIR}/deps/llama-server/llama-server" CACHE FILEPATH
    "The llama-server program that serves local models")

# hone_add_model(<name> PROVIDER <provider>
#                [ENDPOINT llama-server GGUF <file> [SHA256 <hex>] [CONTEXT <tokens>] [PARALLEL <n>]]
#                [BASE_URL <url>] [MODEL <id>] [API_KEY_ENV <variable>] [COMMAND <program> <arg>…]
#                [SCRIPT <file>] [TEMPERATURE <t>|default] [TOP_P <p>] [MAX_TOKENS <n>]
#                [MAX_TOKENS_KEY <name>] [SEED <n>] [EFFORT <level>] [STREAM ON|OFF]
#                [REQUESTS_PER_MINUTE <n>] [TOKENS_PER_MINUTE <n>]
#                [PRICE [INPUT <$>] [CACHED <$>] [CACHE_WRITE <$>] [OUTPUT <$>]])
# A model that evaluations can ask. Providers: anthropic, openai (and every server that speaks chat
# completions), openai-responses, command (COMMAND gets the prompt on stdin or in the file that
# stands for {prompt_file}, its output is the answer), scripted (answers from SCRIPT, for tests).
# With ENDPOINT llama-server a local server is started on a free loopback port for the tests and
# ended after them; otherwise BASE_URL names the service; its default is the provider's own. Tests of
# a model whose API_KEY_ENV is not set skip and say so. TEMPERATURE default sends none. PRICE is in
# US dollars for a million tokens. PARALLEL is the number in flight (8; of an endpoint 1).
function(hone_add_model name)
  set(one PROVIDER ENDPOINT GGUF SHA256 CONTEXT PARALLEL BASE_URL MODEL API_KEY_ENV SCRIPT
          TEMPERATURE TOP_P MAX_TOKENS MAX_TOKENS_KEY SEED EFFORT STREAM REQUESTS_PER_MINUTE
          TOKENS_PER_MINUTE)
  cmake_parse_arguments(ARG "" "${one}" "COMMAND;PRICE" ${ARGN})
  set(what "hone_add_model(${name})")
  _hone_no_more("${what}" "${ARG_UNPARSED_ARGUMENTS}")
  if(NOT ARG_PROVIDER)
    message(FATAL_ERROR "Hone: ${what} needs PROVIDER, e.g. PROVIDER openai")
  endif()
  if(ARG_ENDPOINT AND NOT ARG_ENDPOINT STREQUAL "llama-server")
    message(FATAL_ERROR "Hone: ${what}: ENDPOINT '${ARG_ENDPOINT}' is not known; known: llama-server")
  endif()
  if(ARG_ENDPOINT AND NOT ARG_GGUF)
    message(FATAL_ERROR "Hone: ${what}: ENDPOINT llama-server needs GGUF <file>")
  endif()
  foreach(pair "command;COMMAND" "scripted;SCRIPT")
    list(GET pair 0 provider)
    list(GET pair 1 key)
    if(ARG_PROVIDER STREQUAL provider AND NOT ARG_${key})
      message(FATAL_ERROR "Hone: ${what}: PROVIDER ${provider} needs ${key}")
    endif()
  endforeach()
  foreach(path GGUF SCRIPT)
    if(ARG_${path})
      get_filename_component(ARG_${path} "${ARG_${path}}" ABSOLUTE)
    endif()
  endforeach()
  set(parallel 8)
  if(ARG_ENDPOINT)
    set(parallel 1)
  endif()
  foreach(default MODEL=${name} TEMPERATURE=0.7 TOP_P=null MAX_TOKENS=1024 SEED=1 CONTEXT=4096
                  PARALLEL=${parallel} STREAM=null REQUESTS_PER_MINUTE=0 TOKENS_PER_MINUTE=0)
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" unused "${default}")
    if(NOT DEFINED ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  if(ARG_TEMPERATURE STREQUAL "default")
    set(ARG_TEMPERATURE null)
  endif()
  if(NOT ARG_STREAM STREQUAL "null")
    if(ARG_STREAM)
      set(ARG_STREAM true)
    else()
      set(ARG_STREAM false)
    endif()
  endif()
  cmake_parse_arguments(PRICE "" "INPUT;CACHED;CACHE_WRITE;OUTPUT" "" ${ARG_PRICE})
  _hone_no_more("${what}: PRICE" "${PRICE_UNPARSED_ARGUMENTS}")
  foreach(part INPUT CACHED CACHE_WRITE OUTPUT)
    if(NOT DEFINED PRICE_${part})
      set(PRICE_${part} null)
    endif()
  endforeach()
  _hone_json(price NUMBER input PRICE_INPUT NUMBER cached PRICE_CACHED
             NUMBER cache_write PRICE_CACHE_WRITE NUMBER output PRICE_OUTPUT)
  _hone_json(json STRING name name STRING provider ARG_PROVIDER STRING endpoint ARG_ENDPOINT
             STRING gguf ARG_GGUF STRING gguf_sha256 ARG_SHA256 NUMBER context ARG_CONTEXT
             NUMBER parallel ARG_PARALLEL STRING base_url ARG_BASE_URL STRING model ARG_MODEL
             STRING api_key_env ARG_API_KEY_ENV LIST command ARG_COMMAND STRING script ARG_SCRIPT
             NUMBER temperature ARG_TEMPERATURE NUMBER top_p ARG_TOP_P
             NUMBER max_tokens ARG_MAX_TOKENS STRING max_tokens_key ARG_MAX_TOKENS_KEY
             NUMBER seed ARG_SEED STRING effort ARG_EFFORT NUMBER stream ARG_STREAM
             NUMBER requests_per_minute ARG_REQUESTS_PER_MINUTE
             NUMBER tokens_per_minute ARG_TOKENS_PER_MINUTE NUMBER price price LOCATION)
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
#                     [RUNS <n>] [GATE <expression>…] [DELIVERY inject|disclose])
# Asks each model each case RUNS times with and without the skill; makes the tests
# skills.<name>.<model>.<case>.<arm>.<stage> and skills.<name>.<model>.gate.<n>. The target
# hone_evaluations builds what these tests run, and nothing else.
# CASES are files of this evaluation, SUITES bring their own. DELIVERY disclose puts the skill's name
# and description alone into the prompt, and a tool read_skill beside it.
function(hone_add_evaluation name)
  cmake_parse_arguments(ARG "" "SKILL;RUNS;DELIVERY" "MODELS;SUITES;CASES;GATE" ${ARGN})
  _hone_no_more("hone_add_evaluation(${name})" "${ARG_UNPARSED_ARGUMENTS}")
  if(NOT ARG_SKILL OR NOT ARG_MODELS)
    message(FATAL_ERROR "Hone: hone_add_evaluation(${name}) needs SKILL and MODELS")
  endif()
  if(NOT DEFINED ARG_RUNS)
    set(ARG_RUNS 3)
  endif()
  if(ARG_DELIVERY AND NOT ARG_DELIVERY MATCHES "^(inject|disclose)$")
    message(FATAL_ERROR "Hone: hone_add_evaluation(${name}): DELIVERY '${ARG_DELIVERY}' is not known; known: inject, disclose")
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
             LIST gates ARG_GATE STRING delivery ARG_DELIVERY LOCATION)
  _hone_record(evaluations ${name} "${json}")
endfunction()

function(_hone_no_more what rest)
  if(rest)
    message(FATAL_ERROR "Hone: ${what}: unknown argument(s): ${rest}")
  endif()
endfunction()
