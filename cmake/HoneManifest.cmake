# The manifest: what CMake declared, as JSON that the hone program reads (schema hone.manifest/1).

# _hone_json(<out> [STRING key value]… [NUMBER key value]… [LIST key <variable holding a list>]… [LOCATION])
# Sets <out> to a JSON object text. LOCATION adds the calling CMakeLists.txt as "file".
function(_hone_json _j_out)
  set(_j_text "")
  set(_j_args ${ARGN})
  while(_j_args)
    list(POP_FRONT _j_args _j_kind)
    if(_j_kind STREQUAL "LOCATION")
      set(_j_key file)
      _hone_json_string(_j_value "${CMAKE_CURRENT_LIST_FILE}")
    else()
      list(POP_FRONT _j_args _j_key _j_name)
      set(_j_value "${${_j_name}}")
      if(_j_kind STREQUAL "STRING")
        _hone_json_string(_j_value "${_j_value}")
      elseif(_j_kind STREQUAL "LIST")
        set(_j_items "")
        foreach(_j_item IN LISTS _j_value)
          _hone_json_string(_j_item "${_j_item}")
          list(APPEND _j_items "${_j_item}")
        endforeach()
        list(JOIN _j_items ", " _j_items)
        set(_j_value "[${_j_items}]")
      endif()
    endif()
    string(APPEND _j_text "${_j_separator}\"${_j_key}\": ${_j_value}")
    set(_j_separator ", ")
  endwhile()
  set(${_j_out} "{${_j_text}}" PARENT_SCOPE)
endfunction()

function(_hone_json_string out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# _hone_record(<kind> <name> <json object text>): one more entry of the manifest's list <kind>.
function(_hone_record kind name json)
  get_property(names GLOBAL PROPERTY HONE_${kind}_NAMES)
  if(name IN_LIST names)
    message(FATAL_ERROR "Hone: '${name}' is declared twice under ${kind}.")
  endif()
  set_property(GLOBAL APPEND PROPERTY HONE_${kind}_NAMES ${name})
  get_property(before GLOBAL PROPERTY HONE_${kind}_JSON)
  if(before)
    set(json "${before},\n    ${json}")
  endif()
  set_property(GLOBAL PROPERTY HONE_${kind}_JSON "${json}")
  get_property(scheduled GLOBAL PROPERTY HONE_FINISH_SCHEDULED)
  if(NOT scheduled)
    set_property(GLOBAL PROPERTY HONE_FINISH_SCHEDULED ON)
    cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL _hone_finish)
  endif()
endfunction()

# _hone_require(<what> <kind> <name>…): an error naming the known ones where a name is not declared.
function(_hone_require what kind)
  get_property(known GLOBAL PROPERTY HONE_${kind}_NAMES)
  foreach(name IN LISTS ARGN)
    if(NOT name IN_LIST known)
      list(JOIN known ", " known)
      message(FATAL_ERROR "Hone: ${what} names '${name}', which is not among the declared ${kind}: ${known}")
    endif()
  endforeach()
endfunction()

function(_hone_finish)
  get_property(checks GLOBAL PROPERTY HONE_CHECKS)
  foreach(check IN LISTS checks)
    string(REPLACE "|" ";" check "${check}")
    if(check MATCHES ";suites;(.*)$")
      _hone_add_installed_suite(${CMAKE_MATCH_1})
    endif()
    _hone_require(${check})
  endforeach()
  get_property(programs GLOBAL PROPERTY HONE_EVALUATION_PROGRAMS)
  list(REMOVE_DUPLICATES programs)
  add_custom_target(hone_evaluations DEPENDS Hone::hone Hone::candidate Hone::cudasim ${programs})
  foreach(kind models suites kernels skills evaluations)
    get_property(${kind} GLOBAL PROPERTY HONE_${kind}_JSON)
  endforeach()
  set(work ${CMAKE_BINARY_DIR}/hone)
  set(hone $<TARGET_FILE:Hone::hone>)
  file(GENERATE OUTPUT ${work}/manifest.json CONTENT "{
  \"schema\": \"hone.manifest/1\",
  \"source_dir\": \"${CMAKE_SOURCE_DIR}\",
  \"binary_dir\": \"${CMAKE_BINARY_DIR}\",
  \"run_dir\": \"${work}/runs\",
  \"cache_dir\": \"${work}/cache\",
  \"reports_dir\": \"${CMAKE_BINARY_DIR}/reports\",
  \"baselines_dir\": \"${CMAKE_SOURCE_DIR}/reports/baselines\",
  \"toolkit\": {\"root\": \"${HONE_CUDA_ROOT}\", \"cudart_dir\": \"${HONE_CUDART_DIR}\"},
  \"llama_server\": \"${HONE_LLAMA_SERVER}\",
  \"cudasim_dir\": \"$<TARGET_FILE_DIR:Hone::cudasim>\",
  \"candidate\": \"$<TARGET_FILE:Hone::candidate>\",
  \"hone\": \"${hone}\",
  \"models\": [\n    ${models}\n  ],
  \"suites\": [\n    ${suites}\n  ],
  \"kernels\": [\n    ${kernels}\n  ],
  \"skills\": [\n    ${skills}\n  ],
  \"evaluations\": [\n    ${evaluations}\n  ]
}
")
  # Read by ctest when it starts, so that an edited case counts at once.
  file(GENERATE OUTPUT ${work}/discover.cmake CONTENT
"if(EXISTS \"${hone}\")
  execute_process(COMMAND \"${hone}\" list --format ctest --manifest \"${work}/manifest.json\"
                          --output \"${work}/tests.cmake\" RESULT_VARIABLE result)
endif()
if(result EQUAL 0)
  include(\"${work}/tests.cmake\")
else()
  add_test(skills.discovery \"${hone}\" list --format ctest --manifest \"${work}/manifest.json\")
  set_tests_properties(skills.discovery PROPERTIES LABELS skills)
endif()
")
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY TEST_INCLUDE_FILES ${work}/discover.cmake)
endfunction()
