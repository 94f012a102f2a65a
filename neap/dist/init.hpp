// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The group of the processes that a launcher started: mpirun, mpiexec or srun.
#pragma once

#include "neap/dist/group.hpp"

namespace neap::dist {

/// The number of ranks that a launcher says in the environment
/// (OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_NTASKS with a step of its own); 1
/// where none does. THROWS: DistError where one says what is no number.
NEAP_API int launched_ranks();

/// The group of this process, by MPI where a launcher started more than one
/// rank: a group of one needs no engine. Once in a process; later calls give
/// the same group. THROWS: ValueError (another deadline than before); DistError
/// (the plug-in for MPI is missing or does not fit; the launcher's number of
/// ranks is not the engine's); as Group.
NEAP_API Group init(const GroupOptions& options = {});

}  // namespace neap::dist
