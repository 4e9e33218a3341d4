// Everything of libstowage in one include.
#ifndef STOWAGE_STOWAGE_H_
#define STOWAGE_STOWAGE_H_

#include <stowage/arena.h>
#include <stowage/base.h>
#include <stowage/csv.h>
#include <stowage/effects.h>
#include <stowage/graph.h>
#include <stowage/op.h>
#include <stowage/place.h>
#include <stowage/plan.h>
#include <stowage/schedule.h>
#include <stowage/set.h>
#include <stowage/sharing.h>
#include <stowage/text.h>
#include <stowage/type.h>

#endif  // STOWAGE_STOWAGE_H_
