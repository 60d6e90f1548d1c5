// SPDX-License-Identifier: BSD-2-Clause
// What the overview shows: phase or route, which period, and whose. All of it
// is in the address.
import { useEffect, useState } from "preact/hooks";
import { change } from "./route.js";
import { Whose } from "./whose.jsx";

const PERIODS = [["1h", "Hour"], ["6h", "6 hours"], ["24h", "Day"],
  ["7d", "Week"], ["30d", "30 days"]];
const ROUTES = ["inbound", "internal", "outbound", "transit"];
const PHASES = ["connect_to_helo", "helo_to_mail", "mail_to_rcpt",
  "rcpt_to_data", "data_to_content", "content_to_eom", "queue",
  "lmtp_envelope", "lmtp_data", "lmtp_reply"];

export const DEFAULT_SINCE = "24h";

// The period as the API's arguments have it.
export function periodOf(route) {
  const asked = { since: route.get("since") || DEFAULT_SINCE };
  if (route.get("until")) asked.until = route.get("until");
  return asked;
}

// Short periods change while one looks.
export function paceOf(route) {
  if (route.get("until")) return 120;
  return /^\d+[hm]$/.test(periodOf(route).since) ? 10 : 60;
}

function OwnPeriod({ route }) {
  const since = route.get("since");
  const until = route.get("until");
  const [text, setText] = useState({ since, until });
  useEffect(() => setText({ since, until }), [since, until]);
  function field(name, label, placeholder) {
    return (
      <label>{label}
        <input value={text[name]} placeholder={placeholder} size="20"
          onInput={(event) => setText({ ...text, [name]: event.target.value })}
        />
      </label>
    );
  }
  return (
    <details class="own" open={Boolean(until)}>
      <summary>Other</summary>
      <form onSubmit={(event) => {
        event.preventDefault();
        location.hash = change(route, text);
      }}>
        {field("since", "From", "36h, or a date and time")}
        {field("until", "until", "now")}
        <button type="submit">Show</button>
        <span class="none">Times without a zone are in UTC.</span>
      </form>
    </details>
  );
}

export function Period({ route }) {
  const { since, until } = periodOf(route);
  const phase = route.get("phase");
  const what = phase ? `phase:${phase}` : route.get("route")
    ? `route:${route.get("route")}` : "";
  function choose(event) {
    const [kind, name] = event.target.value.split(":");
    location.hash = change(route, {
      phase: kind === "phase" ? name : "", route: kind === "route" ? name : "",
      ...(kind === "phase" ? { relay: "", provider: "" } : {}),
    });
  }
  return (
    <div class="period" role="group" aria-label="What is shown">
      <label>Show
        <select id="what" value={what} onChange={choose}>
          <option value="">whole latencies</option>
          <optgroup label="Route">
            {ROUTES.map((name) => (
              <option key={name} value={`route:${name}`}>{name}</option>
            ))}
          </optgroup>
          <optgroup label="Phase">
            {PHASES.map((name) => (
              <option key={name} value={`phase:${name}`}>
                {name.replace(/_/g, " ")}
              </option>
            ))}
          </optgroup>
        </select>
      </label>
      <nav class="choices" aria-label="Period">
        {PERIODS.map(([value, label]) => (
          <a key={value} href={change(route, { since: value, until: "" })}
            aria-current={!until && since === value ? "true" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <OwnPeriod route={route} />
      <Whose route={route} />
    </div>
  );
}
