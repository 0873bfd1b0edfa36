#!/usr/bin/env bash
# Downloads robobatch for this machine, checks it, and puts it on the PATH of later steps.
# action.yml sets VERSION; GitHub sets the rest. ROBOBATCH_RELEASES may be the URL of a copy of the releases.
set -euo pipefail
case $RUNNER_OS in
Linux) system=linux end=tar.gz ;;
macOS) system=darwin end=tar.gz ;;
Windows) system=windows end=zip ;;
*) echo "no robobatch for $RUNNER_OS" >&2 && exit 1 ;;
esac
case $RUNNER_ARCH in
X64) processor=amd64 ;;
ARM64) processor=arm64 ;;
*) echo "no robobatch for $RUNNER_ARCH" >&2 && exit 1 ;;
esac
releases=${ROBOBATCH_RELEASES:-https://github.com/robobatch/robobatch/releases}
case $VERSION in
latest) from=$releases/latest/download ;;
*/*) echo "version $VERSION: name a tag such as v0.1.0" >&2 && exit 1 ;;
v[0-9]*) from=$releases/download/$VERSION ;;
*) echo "version $VERSION: name a tag such as v0.1.0, or latest" >&2 && exit 1 ;;
esac
name=robobatch-$system-$processor
mkdir -p "$RUNNER_TEMP/robobatch"
cd "$RUNNER_TEMP/robobatch"
curl -sSfL --proto-redir =https --retry 3 --remote-name-all "$from/$name.$end" "$from/SHA256SUMS"
grep -F "  $name.$end" SHA256SUMS >sum || { echo "SHA256SUMS of $VERSION has no $name.$end" >&2 && exit 1; }
if command -v sha256sum >/dev/null; then sha256sum -c sum; else shasum -a 256 -c sum; fi
if [ "$end" = zip ]; then unzip -oq "$name.zip"; else tar -xzf "$name.tar.gz"; fi
"$name/robobatch" -version
echo "$RUNNER_TEMP/robobatch/$name" >>"$GITHUB_PATH"
