// SPDX-License-Identifier: BSD-2-Clause
// A Chromium for browser.py: each line of input is a command as JSON, each line
// of output its answer. node browser.mjs NODE_MODULES CHROMIUM
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const [modules, executable] = process.argv.slice(2);
const require = createRequire(resolve(modules, "x.js"));
const { chromium } = require("playwright-core");
const { source: axe } = require("axe-core");

const PATIENCE = 30000;

const browser = await chromium.launch({
  executablePath: executable,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
    "--disable-background-networking"],
});
let page;
let faults;

// What must not be: errors on the console, and requests to other hosts.
function watch() {
  faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()))
      faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.hostname !== "127.0.0.1" && url.protocol !== "data:")
      faults.push(`request: ${request.url()}`);
  });
}

const commands = {
  async open({ url }) {
    await page?.context().close();
    const context = await browser.newContext({ timezoneId: "UTC" });
    context.setDefaultTimeout(PATIENCE);
    page = await context.newPage();
    watch();
    await page.goto(url);
  },
  async look({ width, scheme }) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
  },
  go: ({ hash }) => page.evaluate((to) => { location.hash = to; }, hash),
  hash: () => page.evaluate(() => location.hash),
  click: ({ selector }) => page.locator(selector).first().click(),
  fill: ({ selector, value }) => page.locator(selector).fill(value),
  choose: ({ selector, value }) =>
    page.locator(selector).selectOption(value),
  focus: ({ selector }) => page.locator(selector).first().focus(),
  press: ({ key }) => page.keyboard.press(key),
  // Until `selector` is there, with `text` in it; answers its text.
  async wait({ selector, text }) {
    const found = page.locator(selector, text ? { hasText: text } : {});
    await found.first().waitFor();
    return found.first().innerText();
  },
  gone: ({ selector }) =>
    page.locator(selector).first().waitFor({ state: "detached" }),
  // Nothing stands out over the edge.
  overflow: () => page.evaluate(() =>
    document.documentElement.scrollWidth - innerWidth),
  texts: ({ selector }) => page.locator(selector).allInnerTexts(),
  evaluate: ({ code }) => page.evaluate(code),
  shot: ({ path }) => page.screenshot({ path, fullPage: true }),
  faults: () => faults.splice(0),
  // Findings that are serious or worse, as a list of lines.
  async axe() {
    await page.evaluate(axe);
    const result = await page.evaluate(() => globalThis.axe.run());
    return result.violations
      .filter(({ impact }) => ["serious", "critical"].includes(impact))
      .flatMap(({ id, help, nodes }) => nodes.map((node) =>
        `${id}: ${help}: ${node.html} ${node.any[0]?.message || ""}`));
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    answer = { answer: await commands[command.do](command) ?? null };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
