// SPDX-License-Identifier: BSD-2-Clause
// Whose latencies the overview shows: of mail that one host took, and that one
// relay took over or that goes to one provider. All of it is in the address.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answers.js";
import { change } from "./route.js";

const KINDS = [
  { name: "host", label: "Host", word: "of" },
  { name: "relay", label: "Relay", word: "by", other: "provider" },
  { name: "provider", label: "Provider", word: "to", other: "relay" },
];

// As the API's arguments have it; empty what is not chosen.
export function whoseOf(route) {
  return Object.fromEntries(KINDS.map(({ name }) => [name, route.get(name)]));
}

// Of the latencies that there are: ", of mx1.example".
export function whoseText(route) {
  return KINDS.filter(({ name }) => route.get(name))
    .map(({ name, word }) => `, ${word} ${route.get(name)}`).join("");
}

// What there is, to choose from; anything else can be typed.
function Known({ name }) {
  const { data } = useAnswer(`/api/v1/labels?by=${name}`);
  return (
    <datalist id={`known-${name}`}>
      {data && data.labels.map((label) => <option key={label} value={label} />)}
    </datalist>
  );
}

function Fields({ route }) {
  const chosen = whoseOf(route);
  const [text, setText] = useState(chosen);
  useEffect(() => setText(chosen), Object.values(chosen));
  function submit(event) {
    event.preventDefault();
    // No phase is kept by relay or provider.
    const dropped = text.relay || text.provider ? { phase: "" } : {};
    location.hash = change(route, { ...text, ...dropped });
  }
  return (
    <form onSubmit={submit}>
      {KINDS.map(({ name, label, other }) => (
        <label key={name}>{label}
          <input value={text[name]} list={`known-${name}`} size="22"
            placeholder="all" autocomplete="off" spellcheck={false}
            onInput={({ target: { value } }) => setText({
              ...text, ...(other && value ? { [other]: "" } : {}),
              [name]: value.trim(),
            })} />
          <Known name={name} />
        </label>
      ))}
      <button type="submit">Show</button>
      <span class="none">Either a relay or a provider, by the hour. 64 of a day
        are told apart, the rest is “other”.</span>
    </form>
  );
}

export function Whose({ route }) {
  const [open, setOpen] = useState(false);
  const chosen = KINDS.filter(({ name }) => route.get(name));
  return (
    <>
      <details class="own" id="whose"
        onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Host, relay, provider</summary>
        {open && <Fields route={route} />}
      </details>
      {chosen.length > 0 && (
        <ul class="chosen" aria-label="Chosen">
          {chosen.map(({ name, label }) => (
            <li key={name}>
              {label} <b>{route.get(name)}</b>
              <a href={change(route, { [name]: "" })}
                aria-label={`Every ${name}`}>×</a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
