#!/bin/bash
# pack.sh FOLDER ARCHIVE: packs a corpus so that equal files give equal bytes. Files of one name lie
# side by side (programs, then values, …), where they resemble each other most.
set -eu
cd "$(dirname "$1")"
find "$(basename "$1")" -type f -printf '%f %s %p\n' | LC_ALL=C sort -k1,1 -k2,2n -k3 | cut -d' ' -f3- |
  tar --no-recursion --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rw,go=r --format=ustar -cf - -T - |
  zstd --ultra -22 --long=27 -q -f -o "$2"
