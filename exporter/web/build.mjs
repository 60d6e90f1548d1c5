// SPDX-License-Identifier: BSD-2-Clause
// Makes the page's files, and from these the table of assets.h:
//     node build.mjs NODE_MODULES OUTPUT.c
// The files themselves are left beside OUTPUT.c to be looked at.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [modules, output] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const { buildSync } = createRequire(resolve(modules, "x.js"))("esbuild");

function bundle(entry) {
  const built = buildSync({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2020",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    nodePaths: [resolve(modules)],
  });
  return Buffer.from(built.outputFiles[0].contents);
}

// What is in the page is not all ours, and its licences ask to come along.
const BORROWED = ["preact", "uplot"];

function licences() {
  return Buffer.from(BORROWED.map((name) => {
    const text = readFileSync(resolve(modules, name, "LICENSE"), "utf8");
    return `The page contains ${name}:\n\n${text.trim()}\n`;
  }).join("\n"));
}

const assets = [
  ["", "index.html", "text/html; charset=utf-8",
    readFileSync(join(here, "index.html"))],
  ["page.js", "page.js", "text/javascript; charset=utf-8",
    bundle("main.jsx")],
  ["page.css", "page.css", "text/css; charset=utf-8", bundle("page.css")],
  ["licences.txt", "licences.txt", "text/plain; charset=utf-8", licences()],
];

// A time in the header would make each build another.
function pack(content) {
  return gzipSync(content, { level: 9 });
}

function array(name, bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 20)
    lines.push(`\t${[...bytes.subarray(i, i + 20)].join(", ")},`);
  return `static const unsigned char ${name}[] = {\n${lines.join("\n")}\n};\n`;
}

let arrays = "";
let table = "";
let total = 0;
assets.forEach(([path, file, type, content], number) => {
  const packed = pack(content);
  total += packed.length;
  writeFileSync(join(dirname(output), file), content);
  arrays += array(`file_${number}`, packed);
  const name = `file_${number}`;
  table += `\t{"${path}", "${type}", ${name}, sizeof(${name})},\n`;
});
writeFileSync(output, `#include "exporter/web/assets.h"\n\n${arrays}
const struct web_asset web_assets[] = {\n${table}};
const size_t web_asset_count = ${assets.length};\n`);
console.log(`the page: ${total} bytes compressed`);
