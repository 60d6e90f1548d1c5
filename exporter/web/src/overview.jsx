// SPDX-License-Identifier: BSD-2-Clause
// How mail is, and was: numbers of now, latencies and outcomes over a period,
// and the messages that somebody should look at.
import { Empty } from "./empty.jsx";
import { count, duration, age } from "./format.js";
import { Latency } from "./latency.jsx";
import { MessageList } from "./lists.jsx";
import { Outcomes } from "./outcomes.jsx";
import { Period } from "./period.jsx";
import { link } from "./route.js";
import { OPEN } from "./states.jsx";

function Number({ label, children, href, wrong }) {
  return (
    <div class={wrong ? "number wrong" : "number"}>
      <dt>{label}</dt>
      <dd>{href ? <a href={href}>{children}</a> : children}</dd>
    </div>
  );
}

function Numbers({ data }) {
  const { recipients, messages } = data;
  const latencies = Object.values(data.latency_since_ever);
  const deliveries = latencies.reduce((sum, one) => sum + one.count, 0);
  const seconds = latencies.reduce((sum, one) => sum + one.sum, 0);
  const lost = recipients.lost || 0;
  return (
    <dl class="numbers" aria-label="Now">
      <Number label="Messages accepted">{count(messages.accepted)}</Number>
      <Number label="In flight" href={link("search", { q: `status:${OPEN}` })}>
        {count(messages.in_flight)}
      </Number>
      <Number label="Oldest in flight">
        {data.oldest_in_flight ? age(data.oldest_in_flight) : "–"}
      </Number>
      <Number label={lost > 0 ? "! Lost recipients" : "Lost recipients"}
        wrong={lost > 0} href={link("search", { q: "status:lost" })}>
        {count(lost)}
      </Number>
      <Number label="Mean latency, ever">
        {deliveries > 0 ? duration(seconds / deliveries) : "–"}
      </Number>
    </dl>
  );
}

export function Overview({ route, summary }) {
  const data = summary.data;
  if (data && data.messages.accepted === 0
    && Object.values(data.recipients).every((number) => number === 0))
    return <Empty summary={data} />;
  return (
    <>
      <h1 class="unseen">Overview</h1>
      {data && <Numbers data={data} />}
      <Period route={route} />
      <div class="charts">
        <Latency route={route} />
        <Outcomes route={route} />
      </div>
      <div class="lists">
        <MessageList title="Lost" query="status:lost" id="lost"
          none="Nothing is lost." />
        <MessageList title="In flight" query={`status:${OPEN}`} id="in-flight"
          none="Nothing is on its way." />
      </div>
    </>
  );
}
