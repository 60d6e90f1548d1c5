// SPDX-License-Identifier: BSD-2-Clause
// What was searched for, page by page, and what is wrong with a search that
// cannot be understood.
import { useEffect, useState } from "preact/hooks";
import { Refusal, useAnswer } from "./answers.js";
import { some } from "./format.js";
import { askPages, MessageTable } from "./lists.jsx";
import { Failure, Loading } from "./notices.jsx";
import { link } from "./route.js";

const PAGE = 50;

// The API counts bytes, text has characters.
function parts(text, { at, size }) {
  const encoded = new TextEncoder().encode(text);
  const decode = (from, to) => new TextDecoder().decode(
    encoded.subarray(from, to));
  return [decode(0, at), decode(at, at + size), decode(at + size)];
}

function Wrong({ query, error }) {
  const [before, word, after] = parts(query, error);
  useEffect(() => {
    const input = document.getElementById("search");
    input.setAttribute("aria-invalid", "true");
    input.focus();
    input.setSelectionRange(before.length, before.length + word.length);
    return () => input.removeAttribute("aria-invalid");
  }, [query, error]);
  return (
    <div class="notice wrong" role="alert" id="search-error">
      <p><span aria-hidden="true">! </span>{error.message}</p>
      <pre class="query">{before}<mark>{word || " "}</mark>{after}</pre>
    </div>
  );
}

const EXAMPLES = [
  ["to:example.org status:deferred", "a recipient, and what became of it"],
  ["from:*@news.example since:2h", "a sender, in the last two hours"],
  ["slower:10s -status:bounced", "what took longer; - turns a term round"],
  ["queue:4Xyz since:yesterday until:12:00", "a queue id, and when"],
  ["client:192.0.2.1 relay:mx.example.org", "from where, and to where"],
];

export function Help() {
  return (
    <details class="help">
      <summary>How to search</summary>
      <p>All terms must hold. <code>KEY:A,B</code> holds for A or B,
        {" "}<code>*</code> stands for any text, quotes keep blanks. Keys:
        {" "}<code>to from status queue msgid client relay host run slower
          faster since until</code>. A bare word is an address, a part of one,
        or an id.</p>
      <dl>{EXAMPLES.map(([query, says]) => (
        <div key={query}>
          <dt><a href={link("search", { q: query })}><code>{query}</code></a>
          </dt>
          <dd>{says}</dd>
        </div>
      ))}</dl>
    </details>
  );
}

// Further pages are kept apart from the first, which is asked for again.
function useMore(url, next) {
  const [more, setMore] = useState({ messages: [] });
  useEffect(() => setMore({ messages: [] }), [url]);
  const from = more.next === undefined ? next : more.next;
  async function load() {
    setMore((old) => ({ ...old, loading: true, error: undefined }));
    try {
      const page = await askPages(
        `${url}&before=${encodeURIComponent(from)}`, undefined, PAGE);
      setMore((old) => ({
        messages: [...old.messages, ...page.messages], next: page.next,
      }));
    } catch (error) {
      setMore((old) => ({ ...old, loading: false, error }));
    }
  }
  return { ...more, next: from, load };
}

function Results({ query, url, data, at, error }) {
  const more = useMore(url, data.next);
  const messages = [...data.messages, ...more.messages];
  const complete = !more.next;
  return (
    <>
      {error && <Failure error={error} at={at} />}
      {data.incomplete && (
        <p class="notice">A part of the store could not be read:
          {" "}{data.incomplete}</p>
      )}
      <p class="readout" role="status">
        {messages.length === 0
          ? complete ? "No message is as you search." : "None found so far."
          : `${some(messages.length, "message")}${complete ? "" : " so far"}, `
            + "newest first"}
      </p>
      {messages.length > 0 && (
        <MessageTable messages={messages} label={`Messages: ${query}`} />
      )}
      {more.error && <Failure error={more.error} />}
      {more.next && (
        <button type="button" class="more" disabled={more.loading}
          onClick={more.load}>
          {more.loading ? "Searching…" : "Older ones"}
        </button>
      )}
    </>
  );
}

const askPage = (url, signal) => askPages(url, signal, PAGE);

export function Search({ route }) {
  const query = route.get("q");
  const url = `/api/v1/messages?${new URLSearchParams({
    q: query, limit: PAGE })}`;
  const { data, error, at, of } = useAnswer(url, (last) =>
    (last && last.messages.length < PAGE ? 10 : 0), askPage);
  const wrong = error instanceof Refusal && error.at !== undefined;
  return (
    <>
      <h1>{query ? <>Search: <code>{query}</code></> : "All messages"}</h1>
      {wrong ? <Wrong query={query} error={error} />
        : data && of === url
          ? <Results query={query} url={url} data={data} at={at}
            error={error} />
          : error ? <Failure error={error} />
            : <Loading what="messages" lines={8} />}
      <Help />
    </>
  );
}
