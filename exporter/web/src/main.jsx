// SPDX-License-Identifier: BSD-2-Clause
// The frame around the views: head, search box, what is wrong, and which view
// the address asks for.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { link, useRoute } from "./route.js";
import { Overview } from "./overview.jsx";
import { Search } from "./search.jsx";
import { MessageView } from "./message.jsx";
import { Status, useSummary } from "./status.jsx";

function SearchBox({ query }) {
  const input = useRef();
  const [text, setText] = useState(query);
  useEffect(() => setText(query), [query]);
  useEffect(() => {
    function onKey(event) {
      const typing = event.target.closest("input, select, textarea");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        input.current.focus();
        input.current.select();
      }
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  function submit(event) {
    event.preventDefault();
    location.hash = link("search", { q: text.trim() });
  }
  return (
    <form role="search" class="searchbox" onSubmit={submit}>
      <label for="search">Search messages</label>
      <input id="search" ref={input} type="search" value={text}
        autocomplete="off" autocapitalize="off" spellcheck={false}
        placeholder="to:example.org status:deferred since:2h"
        aria-keyshortcuts="/" aria-describedby="search-error"
        onInput={(event) => setText(event.target.value)} />
      <button type="submit">Search</button>
    </form>
  );
}

const TITLES = { search: "Search", message: "Message" };

function Page() {
  const route = useRoute();
  const summary = useSummary();
  const main = useRef();
  const first = useRef(true);
  const title = TITLES[route.view] || "Overview";
  useEffect(() => {
    document.title = `${title} · Postlag`;
    // Who uses a keyboard or a reader shall be where the news is.
    if (!first.current && document.activeElement?.id !== "search") {
      main.current.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
  }, [route.view, route.key]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        main.current.focus();
      }}>Skip to the content</a>
      <header>
        <a class="brand" href={link("")}
          aria-current={route.view === "" ? "page" : undefined}>Postlag</a>
        <SearchBox query={route.view === "search" ? route.get("q") : ""} />
      </header>
      <Status summary={summary} />
      <main id="main" tabIndex={-1} ref={main}>
        {route.view === "search" ? <Search route={route} />
          : route.view === "message"
            ? <MessageView key={route.key} name={route.key} />
            : <Overview route={route} summary={summary} />}
      </main>
      <footer>
        Postlag {summary.data?.version} · <a href="/metrics">metrics</a>
        {" "}· <a href="/assets/licences.txt">licences</a>
        {" "}· press <kbd>/</kbd> to search
      </footer>
    </>
  );
}

render(<Page />, document.getElementById("page"));
