#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Installs the packages that libsimidx needs (apt-get, with sudo unless root), builds it in
# build/ and runs its tests. Options are passed to configure.
set -eu
cd "$(dirname "$0")"
. ./.ci/build.sh

install_packages
build build "$@"
run_tests build
