# Writes the output of a program to a file.
# Usage: cmake -DPROGRAM=… -DARGUMENTS=a;b -DOUTPUT=… -P Capture.cmake
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS}: ${code}")
endif()
file(WRITE ${OUTPUT} "${printed}")
