#!/usr/bin/env bash
# Sends an image to Alula and unpacks eight sizes and its facts: upload.sh PHOTO [FOLDER] [http://127.0.0.1:8080]
# Needs curl and tar, and a service with --uploads on.
set -euo pipefail

photo=$1
folder=${2:-.}
service=${3:-http://127.0.0.1:8080}

renditions=
for width in 320 640 1280 1920; do
  for format in webp jpeg; do
    renditions+="${renditions:+,}{\"name\":\"$format-$width\",\"query\":\"w=$width&format=$format\"}"
  done
done

renditions+=',{"name":"facts","include":"color,blurhash"}'

mkdir -p "$folder"
curl --fail-with-body --silent --show-error -H 'Accept: application/x-tar' \
  -F "request={\"renditions\":[$renditions]}" -F "file=@$photo" "$service/thumbnails" | tar -x -C "$folder"
ls "$folder"
