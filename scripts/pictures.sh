#!/usr/bin/env bash
# Makes the pictures of the book: runs the commands of its pages, copies the charts that docs/pictures/sources.txt names, and
# takes screenshots of pages with Chromium. FILE#SECTION shows one chapter of a page alone.
#
#   scripts/pictures.sh
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/book_pictures
rm -rf "$folder"
BLESS=1 BOOK_FOLDER="$folder" cargo test --quiet -p ch --test book every_command

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
while read -r picture source; do
    case $picture in
    *.png)
        if [ -z "$chromium" ]; then
            echo "$picture: as it was, there is no Chromium"
            continue
        fi
        page=$folder/${source%%#*}
        height=920
        if [[ $source == *#* ]]; then
            { cat "$page"; echo "<style>header, section:not(#${source##*#}) { display: none !important }</style>"; } > "$folder/alone.html"
            page=$folder/alone.html
            height=640
        fi
        "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,$height \
            --screenshot="docs/pictures/$picture" "file://$page" 2>/dev/null
        ;;
    esac
done < <(grep -v '^#' docs/pictures/sources.txt)
rm -rf "$folder"
ls -l docs/pictures
