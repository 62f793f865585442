#!/usr/bin/env bash
# Sends an image to Alula, unpacks eight sizes and its facts, and writes an HTML picture element:
#   upload.sh PHOTO [FOLDER] [http://127.0.0.1:8080]
# Needs curl, tar and sed, and a service with --uploads on.
set -euo pipefail

photo=$1
folder=${2:-.}
service=${3:-http://127.0.0.1:8080}
widths=(320 640 1280 1920)

renditions=
for width in "${widths[@]}"; do
  for format in webp jpeg; do
    renditions+="{\"name\":\"$format-$width\",\"query\":\"w=$width&format=$format\"},"
  done
done
renditions+='{"name":"facts","include":"color,blurhash"}'

mkdir -p "$folder"
curl --fail-with-body --silent --show-error -H 'Accept: application/x-tar' \
  -F "request={\"renditions\":[$renditions]}" -F "file=@$photo" "$service/thumbnails" | tar -x -C "$folder"
for problem in "$folder"/*.problem.json; do
  [ -e "$problem" ] || continue
  cat "$problem" >&2
  exit 1
done

# A number or a text of facts.json; neither a colour nor a BlurHash holds a character that means something in HTML or JSON.
number() { sed -E "s/.*\"$1\":([0-9]+).*/\1/" "$folder/facts.json"; }
text() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/" "$folder/facts.json"; }

# The files of a format with their widths.
srcset() {
  local list=
  for width in "${widths[@]}"; do list+="${list:+, }$1-$width.$2 ${width}w"; done
  echo "$list"
}

cat > "$folder/picture.html" <<END
<picture>
  <source type="image/webp" srcset="$(srcset webp webp)">
  <img src="jpeg-${widths[0]}.jpg" srcset="$(srcset jpeg jpg)" width="$(number width)" height="$(number height)" data-blurhash="$(text blurHash)" style="background: $(text dominantColor); height: auto" alt="">
</picture>
END
echo "8 files, facts.json and picture.html in $folder"
