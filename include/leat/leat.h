/* Everything: input pipelines, graphs, distribution and training. */
#ifndef LEAT_LEAT_H
#define LEAT_LEAT_H

#include <leat/base.h>
#include <leat/bind.h>
#include <leat/cluster.h>
#include <leat/core.h>
#include <leat/data.h>
#include <leat/data_ops.h>
#include <leat/dist.h>
#include <leat/file.h>
#include <leat/graph.h>
#include <leat/ops.h>
#include <leat/service.h>
#include <leat/sources.h>
#include <leat/summary.h>
#include <leat/train.h>

#endif
