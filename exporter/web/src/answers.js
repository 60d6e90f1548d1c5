// SPDX-License-Identifier: BSD-2-Clause
// Asks the API, again and again. What was answered before stays until the next
// answer is there, so nothing flickers; a question that is no longer asked is
// dropped.
import { useEffect, useRef, useState } from "preact/hooks";

// An answer that says what is wrong with the question, or with the store.
export class Refusal extends Error {
  constructor(status, body) {
    super(body.error || `the exporter answered ${status}`);
    this.status = status;
    this.at = body.at;
    this.size = body.size;
  }
}

export async function ask(url, signal) {
  const response = await fetch(url, { signal });
  let body;
  try {
    body = await response.json();
  } catch (error) {
    if (response.ok) throw error;
    body = {};
  }
  if (!response.ok) throw new Refusal(response.status, body);
  return body;
}

// {data, error, at, loading}: the newest answer and when it came; what the last
// try said when it failed. `loading` only while there is nothing to show.
// `every` is in seconds; a function is given the answer; 0: once.
export function useAnswer(url, every = 0, asking = ask) {
  const [state, setState] = useState({ loading: true });
  const pace = useRef(every);
  pace.current = every;
  useEffect(() => {
    const control = new AbortController();
    let timer;
    let last;
    setState((old) => ({ ...old, loading: true, error: undefined }));
    async function run() {
      clearTimeout(timer);
      try {
        last = await asking(url, control.signal);
        setState({ data: last, at: new Date(), of: url });
      } catch (error) {
        if (control.signal.aborted) return;
        // The answer to another question is no answer to this one.
        setState((old) => ({
          ...(old.of === url ? old : {}), error, loading: false,
        }));
      }
      if (!control.signal.aborted) plan();
    }
    function plan() {
      const seconds = typeof pace.current === "function"
        ? pace.current(last) : pace.current;
      if (seconds && !document.hidden)
        timer = setTimeout(run, seconds * 1000);
    }
    function onVisible() {
      if (!document.hidden && pace.current) run();
    }
    document.addEventListener("visibilitychange", onVisible);
    run();
    return () => {
      control.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [url]);
  return state;
}
