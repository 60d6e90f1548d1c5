// SPDX-License-Identifier: BSD-2-Clause
// The dashboards against JSON schemas made from the types of @grafana/schema: a
// dashboard's, and those of each kind of panel's options and fields (issue 5,
// must show 5). Prints TAP.
//     node dashboard_schema.mjs NODE_MODULES
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const modules = resolve(process.argv[2]);
const require = createRequire(join(modules, "x.js"));
const { default: Ajv } = require("ajv");
const { createGenerator } = require("ts-json-schema-generator");

const TYPES = join(modules, "@grafana/schema/dist/types/raw");
const DASHBOARDS = "packaging/grafana/dashboards";

const ajv = new Ajv({ allErrors: true, strict: false });
const generators = new Map();
const validators = new Map();

function remembered(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

function validator(path, type) {
  const generator = remembered(generators, path, () =>
    createGenerator({ path, skipTypeCheck: true }));
  return remembered(validators, `${path} ${type}`, () =>
    ajv.compile(generator.createSchema(type)));
}

function complaints(path, type, value, where) {
  const validate = validator(path, type);
  return validate(value) ? [] : validate.errors.map((error) =>
    `${where}${error.instancePath}: ${error.message} `
    + JSON.stringify(error.params));
}

function ofPanel(panel) {
  const kind = panel.type.replace("-", "");
  const path = join(TYPES, `composable/${kind}/panelcfg/x/types.gen.d.ts`);
  if (!existsSync(path)) return [`there are no panels ${panel.type}`];
  const custom = panel.fieldConfig.defaults.custom;
  const fields = /interface FieldConfig\b/.test(readFileSync(path, "utf8"));
  if (!fields && custom)
    return [`panels ${panel.type} have no options of a field`];
  return [
    ...complaints(path, "Options", panel.options, `${panel.title}: options`),
    ...(fields
      ? complaints(path, "FieldConfig", custom, `${panel.title}: custom`)
      : []),
  ];
}

function faults(dashboard) {
  return [
    ...complaints(join(TYPES, "dashboard/x/types.gen.d.ts"), "Dashboard",
      dashboard, ""),
    ...dashboard.panels.filter((panel) => panel.type !== "row")
      .flatMap(ofPanel),
  ];
}

function read(name) {
  return JSON.parse(readFileSync(join(DASHBOARDS, name), "utf8"));
}

let number = 0;

function report(name, good, details = []) {
  console.log(`${good ? "ok" : "not ok"} ${++number} - ${name}`);
  for (const detail of details) console.log(`# ${detail}`);
}

const names = readdirSync(DASHBOARDS).sort();
report("there are dashboards", names.length > 0);
for (const name of names) {
  const found = faults(read(name));
  report(`${name} is valid`, found.length === 0, found);
}

// What the schemas must notice, or they notice nothing.
const first = (dashboard, kind) =>
  dashboard.panels.find((panel) => panel.type === kind);
const WRONG = {
  "a word that no dashboard has": (d) => { d.colour = "red"; },
  "a place without width": (d) => { delete first(d, "stat").gridPos.w; },
  "a row without panels": (d) => { delete first(d, "row").panels; },
  "a variable of no kind": (d) => { d.templating.list[0].type = "choice"; },
  "a unit that is a number": (d) => {
    first(d, "stat").fieldConfig.defaults.unit = 1;
  },
  "a panel that nobody has": (d) => { first(d, "stat").type = "number"; },
  "a legend on the left": (d) => {
    first(d, "timeseries").options.legend.placement = "left";
  },
  "lines that are drawn as circles": (d) => {
    first(d, "timeseries").fieldConfig.defaults.custom.drawStyle = "circles";
  },
  "a heatmap without colours": (d) => {
    delete first(d, "heatmap").options.color;
  },
};
for (const [what, change] of Object.entries(WRONG)) {
  const dashboard = read(names[0]);
  change(dashboard);
  report(`${what} is noticed`, faults(dashboard).length > 0);
}
console.log(`1..${number}`);
