// Buffers that live all the time, such as parameters, need not be searched for.
#ifndef STOWAGE_SRC_PLACE_BEDROCK_H_
#define STOWAGE_SRC_PLACE_BEDROCK_H_

#include "place/quest.h"

// Lets |work| place what does not live all the time, above what does; or everything, where the two
// cannot be told apart without loss or there is nothing to gain.
stow_status stowi_on_bedrock(stowi_quest* quest, stowi_work work);

#endif  // STOWAGE_SRC_PLACE_BEDROCK_H_
