// SPDX-License-Identifier: BSD-2-Clause
// What the address says: #/, #/search?q=, #/message/KEY, each with arguments
// behind ?. So every view has a link, and the browser's way back works.
import { useEffect, useState } from "preact/hooks";

// Exemplars have ids without hyphens.
function asId(key) {
  const parts = /^(\w{8})(\w{4})(7\w{3})(\w{4})(\w{12})$/.exec(key);
  return parts ? parts.slice(1).join("-") : key;
}

function parse() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const slash = path.indexOf("/");
  const view = slash < 0 ? path : path.slice(0, slash);
  const given = new URLSearchParams(query || "");
  let key = slash < 0 ? "" : path.slice(slash + 1);
  try {
    key = decodeURIComponent(key);
  } catch {
    // It stays as it was typed.
  }
  return { view, key: asId(key), given, get: (name) => given.get(name) || "" };
}

// What is empty is not asked for.
export function queryOf(values) {
  return new URLSearchParams(
    Object.entries(values).filter(([, value]) => value)).toString();
}

function compose(path, values) {
  const query = queryOf(values || {});
  return `#/${path}${query ? `?${query}` : ""}`;
}

export function link(view, values) {
  return compose(view, values);
}

export function messageLink(key) {
  return compose(`message/${encodeURIComponent(key)}`);
}

// The same view with some of its arguments changed.
export function change(route, values) {
  return compose(route.view, { ...Object.fromEntries(route.given), ...values });
}

export function useRoute() {
  const [route, setRoute] = useState(parse);
  useEffect(() => {
    const onChange = () => setRoute(parse());
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}
