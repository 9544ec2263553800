#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/docs/stage_view.sh WEB FOLDER VIEW MAIN - the view of docs/adding-a-stage.md holds its types in a copy of the page
#
# Speaks TAP. Needs Node and the packages of web/package-lock.json, where tests/report/browser fetched
# them or in WEB/node_modules.
set -u
web=$1 folder=$2 view=$3 main=$4
echo 1..1
command -v node >/dev/null || { echo 'ok 1 # SKIP Node is not installed (package nodejs)'; exit 0; }
for packages in "$web/node_modules" "$folder/node_modules"; do
    [ -e "$packages/typescript/bin/tsc" ] && break
done
[ -e "$packages/typescript/bin/tsc" ] || { echo 'ok 1 # SKIP the packages of web/package-lock.json are not there'; exit 0; }
copy=$folder/web_by_the_guide
rm -rf "$copy" && mkdir -p "$copy" || exit 1
cp -r "$web/src" "$web/build" "$web/tsconfig.json" "$web/vite.config.ts" "$web/package.json" "$copy" || exit 1
ln -s "$(realpath "$packages")" "$copy/node_modules"
cp "$view" "$copy/src/answers.ts" && cp "$main" "$copy/src/main.ts" || exit 1
if said=$(cd "$copy" && node node_modules/typescript/bin/tsc --noEmit 2>&1); then
    echo 'ok 1 - the view holds its types'
else
    echo 'not ok 1 - the view holds its types'
    echo "$said" | sed 's/^/# /'
    exit 1
fi
