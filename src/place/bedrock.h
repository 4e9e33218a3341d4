// Excludes buffers that are always live, such as parameters, from the search.
#ifndef STOWAGE_SRC_PLACE_BEDROCK_H_
#define STOWAGE_SRC_PLACE_BEDROCK_H_

#include "place/quest.h"

// Lets |work| place the buffers that are not always live, above those that are; or everything, if
// they cannot be separated without loss or there is nothing to gain.
stow_status stowi_place_on_bedrock(stowi_place_quest* quest, stowi_place_work work);

#endif  // STOWAGE_SRC_PLACE_BEDROCK_H_
